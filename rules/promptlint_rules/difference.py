"""Where two aligned requests differ, and what kind of difference it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from promptlint_core.cadence import Origin
from promptlint_core.exchange import Piece
from promptlint_core.prompt import Part


class Kind(StrEnum):
    """What the first difference of two requests is. One kind, one rule that may tell it."""

    CLOCK = "clock"
    FRAMEWORK_CLOCK = "framework-clock"
    RANDOM = "random"
    IDENTITY = "identity"
    ENVIRONMENT = "environment"
    ATTRIBUTION = "attribution"
    RETRIEVAL = "retrieval"
    STATE = "state"
    TASK = "task"
    TOOL_ORDER = "tool-order"
    TOOL_SET = "tool-set"
    SCHEMA_ORDER = "schema-order"
    JSON_BYTES = "json-bytes"
    ITEM_ORDER = "item-order"
    RESULT_ORDER = "result-order"
    CALL_ID = "call-id"
    EXAMPLES = "examples"
    SLIDING = "sliding"
    EDITED = "edited"
    SUMMARY = "summary"
    REASONING = "reasoning"
    TAIL = "tail"
    RESTAMPED = "restamped"
    IMAGE = "image"
    COMPACTION = "compaction"
    """History condensed in one large step: an event, not a fault."""
    NEWEST = "newest"
    """The requests' own newest text: differs as it should."""
    SMALL_EDIT = "small-edit"
    """Only white space, punctuation or case differ."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Span:
    """A differing run of characters, widened to whole words or typed values."""

    earlier: str
    later: str
    offset: int
    """In the later text."""
    origin: Origin = Origin.UNKNOWN
    detail: str = ""
    """`to the second`, `uuid` …"""


@dataclass(frozen=True, slots=True)
class Difference:
    """One piece that two aligned requests do not have in common. One side is None: added or removed."""

    earlier: Piece | None
    later: Piece | None
    spans: tuple[Span, ...] = ()

    @property
    def piece(self) -> Piece:
        piece = self.later or self.earlier
        assert piece is not None
        return piece

    @property
    def part(self) -> Part:
        return self.piece.part

    @property
    def path(self) -> str:
        return self.piece.path
