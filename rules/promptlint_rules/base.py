"""What a rule is, and what it reports."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from promptlint_core.cadence import Cadence, Evidence
from promptlint_core.practice import Practice
from promptlint_core.prompt import Call, Place, Prompt, Step

if TYPE_CHECKING:
    from promptlint_rules.traffic import Traffic


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 is the most severe."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces the source span `place` by `text`."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    safe: bool
    edits: tuple[Edit, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault in source."""

    rule: str
    name: str
    severity: Severity
    confidence: Evidence
    message: str
    """States the fact and the size, lower case, no full stop."""
    place: Place
    expression: str = ""
    cadence: Cadence | None = None
    tokens_behind: int | None = None
    advice: str = ""
    """The fix that fits, one line."""
    flow: tuple[Step, ...] = ()
    prompt: Prompt | None = None
    call: Call | None = None
    fix: Fix | None = None
    cost: dict[str, object] | None = None

    @property
    def fingerprint(self) -> str:
        """Stable over moved lines: of the rule, the file and the expression, not of the line number."""
        parts = "\0".join((self.rule, self.place.path, self.expression or self.message))
        return hashlib.sha256(parts.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class WireFinding:
    """A fault in traffic."""

    rule: str
    name: str
    severity: Severity
    message: str
    exchanges: tuple[int, ...]
    """Indices of the exchanges that show it, earliest first."""
    path: str = ""
    tokens_behind: int | None = None
    confidence: Evidence = Evidence.OBSERVED
    group: str = ""
    detail: dict[str, object] = field(default_factory=dict)


class Rule:
    """One flaw, judged in source and in traffic under one id.

    The subclass `ClockFirst` lives in `clock_first.py`; its docstring is its page. Rules get no I/O: no files, no
    parser nodes, no sockets, no clock.
    """

    id: ClassVar[str]
    since: ClassVar[str] = "0.1"
    severity: ClassVar[Severity]
    name: ClassVar[str]

    def __init_subclass__(cls) -> None:
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        """Judge the segments of one prompt found in source."""
        del prompt
        return iter(())

    def check_call(self, call: Call) -> Iterator[Finding]:
        """Judge one call to a model, an agent's constructor or a retrieval found in source."""
        del call
        return iter(())

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        """Judge what the source does around a prompt: with its history, its markers, its parameters."""
        del practice
        return iter(())

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        """Judge compared exchanges."""
        del traffic
        return iter(())

    @classmethod
    def is_static(cls) -> bool:
        own = (cls.check_prompt, cls.check_call, cls.check_practice)
        return own != (Rule.check_prompt, Rule.check_call, Rule.check_practice)

    @classmethod
    def is_live(cls) -> bool:
        return cls.check_traffic is not Rule.check_traffic
