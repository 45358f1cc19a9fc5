"""A prompt group as observed: its segments with the cadence that traffic shows, for the live view and the records."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from promptlint_core.cadence import Cadence, Origin
from promptlint_core.exchange import PieceKind
from promptlint_core.prompt import Part
from promptlint_core.sketch import GAP, sketch
from promptlint_proxy.calibration import TokenCounter
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Counts, Pair, Relation, Seen

_ORIGIN_OF_KIND: dict[Kind, Origin] = {
    Kind.CLOCK: Origin.CLOCK,
    Kind.FRAMEWORK_CLOCK: Origin.CLOCK,
    Kind.RESTAMPED: Origin.CLOCK,
    Kind.RANDOM: Origin.RANDOM,
    Kind.CALL_ID: Origin.RANDOM,
    Kind.IDENTITY: Origin.IDENTITY,
    Kind.ENVIRONMENT: Origin.ENVIRONMENT,
    Kind.ATTRIBUTION: Origin.ATTRIBUTION,
    Kind.RETRIEVAL: Origin.RETRIEVAL,
    Kind.STATE: Origin.STATE,
    Kind.TASK: Origin.TASK,
    Kind.TOOL_ORDER: Origin.ORDER,
    Kind.SCHEMA_ORDER: Origin.ORDER,
    Kind.JSON_BYTES: Origin.ORDER,
    Kind.ITEM_ORDER: Origin.ORDER,
    Kind.RESULT_ORDER: Origin.ORDER,
    Kind.EXAMPLES: Origin.SAMPLE,
}
_MAX_SEGMENTS = 40
_MAX_CHANGES = 200


@dataclass(frozen=True, slots=True)
class ObservedSegment:
    """A run of the prompt that changes as one."""

    part: str
    path: str
    cadence: str
    """Name of a Cadence; empty while only one request was seen."""
    origin: str
    tokens: int


@dataclass(frozen=True, slots=True)
class GroupView:
    """What is known of a prompt group."""

    group: str
    provider: str
    model: str | None
    counts: Counts
    prompt_tokens: int
    """Of the newest request."""
    hit_tokens: int
    """Sum of the reported hits."""
    hit_prompt_tokens: int
    """Sum of the prompt tokens of requests whose hits are reported."""
    segments: tuple[ObservedSegment, ...]
    sketch: tuple[int, ...]
    """Keyed sketch of the text that templates are looked for in: see `promptlint_core.sketch`."""
    last_at: float

    @property
    def strip_json(self) -> str:
        """The segments as the records hold them: a JSON list of {part, path, cadence, origin, tokens}."""
        return json.dumps(
            [
                {"part": s.part, "path": s.path, "cadence": s.cadence, "origin": s.origin, "tokens": s.tokens}
                for s in self.segments
            ]
        )


class Strip:
    """Collects what of a group's prompt was seen to change."""

    def __init__(self) -> None:
        self._newest: Seen | None = None
        self._told: GroupView | None = None
        """What was to tell of the newest request when its text was let go."""
        self._changes: dict[str, tuple[Cadence, Origin]] = {}
        self._compared = 0
        self._hit_tokens = 0
        self._hit_prompt_tokens = 0

    def observe(self, seen: Seen, pairs: tuple[Pair, ...]) -> None:
        self._newest, self._told = seen, None
        if seen.hit_tokens is not None:
            self._hit_tokens += seen.hit_tokens
            self._hit_prompt_tokens += seen.prompt_tokens
        for pair in pairs:
            self._compared += 1
            for difference in pair.differences:
                if difference.later is None or difference.part is Part.MESSAGES:
                    continue
                origin = _ORIGIN_OF_KIND.get(pair.kind or Kind.UNKNOWN, Origin.UNKNOWN)
                cadence = _cadence(origin, pair)
                known = self._changes.get(difference.path)
                if known is None and len(self._changes) >= _MAX_CHANGES:
                    continue
                if known is None or cadence > known[0]:
                    self._changes[difference.path] = (cadence, origin)

    def forget(self, seen: Seen, tokens: TokenCounter, hash_key: bytes) -> None:
        """Let go of the text of a request; what is told of its group stays."""
        if self._newest is seen:
            self._told = self.view(seen.group, Counts(), tokens, hash_key)
            self._newest = None

    def view(self, group: str, counts: Counts, tokens: TokenCounter, hash_key: bytes) -> GroupView:
        seen = self._newest
        if seen is None:
            assert self._told is not None
            return replace(self._told, group=group, counts=counts)
        return GroupView(
            group=group,
            provider=seen.request.provider,
            model=seen.request.model,
            counts=counts,
            prompt_tokens=seen.prompt_tokens,
            hit_tokens=self._hit_tokens,
            hit_prompt_tokens=self._hit_prompt_tokens,
            segments=tuple(self._segments(seen, tokens)),
            sketch=sketch(_template_text(seen), hash_key),
            last_at=seen.at,
        )

    def _segments(self, seen: Seen, tokens: TokenCounter) -> list[ObservedSegment]:
        runs: list[ObservedSegment] = []
        for piece in seen.request.pieces:
            if piece.kind is PieceKind.ROLE:
                continue
            if piece.part is Part.MESSAGES:
                cadence, origin, path = Cadence.APPEND, Origin.HISTORY, "messages"
            elif piece.path in self._changes:
                cadence, origin = self._changes[piece.path]
                path = piece.path
            else:
                cadence, origin, path = Cadence.FIXED, Origin.LITERAL, piece.path
            told = str(cadence) if self._compared else ""
            count = tokens.count_text(piece.text)
            last = runs[-1] if runs else None
            if last and (last.part, last.cadence, last.origin) == (piece.part, told, origin):
                runs[-1] = ObservedSegment(last.part, last.path, told, str(origin), last.tokens + count)
            else:
                runs.append(ObservedSegment(str(piece.part), path, told, str(origin), count))
        return runs[:_MAX_SEGMENTS]


def _cadence(origin: Origin, pair: Pair) -> Cadence:
    if origin is Origin.CLOCK and pair.detail == "to the day":
        return Cadence.DAY
    if origin in (Origin.CLOCK, Origin.RANDOM, Origin.ORDER, Origin.SAMPLE, Origin.ATTRIBUTION):
        return Cadence.CALL
    if origin is Origin.IDENTITY:
        return Cadence.USER
    return Cadence.SESSION if pair.relation is Relation.GROUP and origin is Origin.TASK else Cadence.TURN


def _template_text(seen: Seen) -> str:
    """The text in which a template of the source is found again: the system text and the first message.

    Longer conversations add nothing of the template, and would crowd it out of the sketch.
    """
    return GAP.join(
        piece.text
        for piece in seen.request.pieces
        if piece.kind is PieceKind.TEXT and (piece.part is Part.SYSTEM or piece.message in {None, 0, 1})
    )
