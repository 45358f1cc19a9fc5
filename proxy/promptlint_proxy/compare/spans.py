"""Differing runs of two texts, widened to whole words and typed values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from promptlint_core.cadence import Origin
from promptlint_core.literals import Literal, LiteralIndex
from promptlint_proxy.compare.align import common_prefix, common_suffix
from promptlint_proxy.compare.chunks import chunks
from promptlint_rules.difference import Span

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST_WORD_CHARS = 400
"""A longer run of letters and digits is data; it is not widened to its borders."""
_LONGEST_DIFF_CHARS = 20_000
_LONGEST_DIFF_WORDS = 1500
"""Longer middles are taken apart sentence by sentence first: the word diff is quadratic."""
_LONGEST_VALUE_CHARS = 2000
"""A longer run is no typed value; its words are looked at one by one."""
_Run = tuple[int, int, int, int]
"""Start and end in the earlier text, start and end in the later one."""
_JOIN_CHARS = 3
"""Equal runs this short between two differences belong to them."""


@dataclass(frozen=True, slots=True)
class Middle:
    """The differing middle of two texts: `text[start:end]` on both sides, the rest is equal."""

    start: int
    end_earlier: int
    end_later: int


def middle_of(earlier: str, later: str) -> Middle:
    """The smallest middle that differs, widened to word borders."""
    start = common_prefix(earlier, later)
    suffix = common_suffix(earlier, later, start)
    end_a, end_b = len(earlier) - suffix, len(later) - suffix
    for _ in range(_LONGEST_WORD_CHARS):
        if not _inside_word(earlier, start, later):
            break
        start -= 1
    for _ in range(min(_LONGEST_WORD_CHARS, suffix)):
        if not _inside_word(earlier, end_a, later, end_b):
            break
        end_a, end_b = end_a + 1, end_b + 1
    return Middle(start, end_a, end_b)


def _inside_word(a: str, at: int, b: str, at_b: int | None = None) -> bool:
    at_b = at if at_b is None else at_b
    return (0 < at < len(a) and _joined(a[at - 1], a[at])) or (0 < at_b < len(b) and _joined(b[at_b - 1], b[at_b]))


def _joined(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum()


def spans_of(earlier: str, later: str) -> tuple[Span, ...]:
    """The differing runs of two texts, each with the typed value that it is a part of, if any."""
    if earlier == later:
        return ()
    middle = middle_of(earlier, later)
    sides = _Sides(earlier, later)
    whole = (middle.start, middle.end_earlier, middle.start, middle.end_later)
    typed_all = sides.typed(whole)
    if typed_all is not None:
        return (typed_all,)
    runs: list[_Run] = []
    for run in _word_runs(earlier, later, whole):
        if runs and _belong_together(sides, runs[-1], run):
            runs[-1] = (runs[-1][0], run[1], runs[-1][2], run[3])
        else:
            runs.append(run)
    return tuple(_spans_of_runs(sides, runs))


def _belong_together(sides: _Sides, first: _Run, second: _Run) -> bool:
    """Whether two runs are one difference: next to each other, and not two values that are each known by itself."""
    if second[0] - first[1] > _JOIN_CHARS or second[2] - first[3] > _JOIN_CHARS:
        return False
    return not (sides.typed(first) and sides.typed(second))


def _word_runs(earlier: str, later: str, whole: _Run) -> Iterator[_Run]:
    """The differing runs of words of two texts; those of a long text are looked for sentence by sentence."""
    by_words = _runs_of_words(earlier, later, whole)
    if by_words is not None:
        yield from by_words
        return
    a1, a2, b1, b2 = whole
    for run in _runs(chunks(earlier[a1:a2]), chunks(later[b1:b2]), a1, b1):
        by_words = _runs_of_words(earlier, later, run)
        if by_words is not None:
            yield from by_words
        else:
            yield run


def _runs_of_words(earlier: str, later: str, run: _Run) -> Iterator[_Run] | None:
    """The differing words of a run; None where it is too long to look at them."""
    a1, a2, b1, b2 = run
    if a2 - a1 + b2 - b1 > _LONGEST_DIFF_CHARS:
        return None
    old, new = _WORD.findall(earlier[a1:a2]), _WORD.findall(later[b1:b2])
    return _runs(old, new, a1, b1) if len(old) + len(new) <= _LONGEST_DIFF_WORDS else None


def _runs(old: list[str], new: list[str], base_a: int, base_b: int) -> Iterator[_Run]:
    """Where two lists of text parts differ, as offsets into the texts."""
    starts_a, starts_b = _starts(old, base_a), _starts(new, base_b)
    if len(old) + len(new) > 2 * _LONGEST_DIFF_WORDS:
        yield starts_a[0], starts_a[-1], starts_b[0], starts_b[-1]
        return
    for operation, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if operation != "equal":
            yield starts_a[i1], starts_a[i2], starts_b[j1], starts_b[j2]


def _spans_of_runs(sides: _Sides, runs: list[_Run]) -> Iterator[Span]:
    last_end = -1
    for run in runs:
        if run[2] < last_end:
            continue
        span = sides.typed(run) or sides.plain(run)
        last_end = span.offset + len(span.later)
        yield span


def _starts(words: list[str], base: int) -> list[int]:
    starts = [base]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


class _Sides:
    """Two texts, with the typed values of each found once however many runs ask for them."""

    def __init__(self, earlier: str, later: str) -> None:
        self._earlier = earlier
        self._later = later
        self._values = (LiteralIndex(earlier), LiteralIndex(later))
        self._typed: dict[_Run, Span | None] = {}

    def typed(self, run: _Run) -> Span | None:
        """A span whose two sides are values of one type; None where they are not."""
        if run not in self._typed:
            self._typed[run] = self._find_typed(run)
        return self._typed[run]

    def plain(self, run: _Run) -> Span:
        a1, a2, b1, b2 = run
        return Span(self._earlier[a1:a2], self._later[b1:b2], b1)

    def _find_typed(self, run: _Run) -> Span | None:
        a1, a2, b1, b2 = run
        if max(a2 - a1, b2 - b1) > _LONGEST_VALUE_CHARS:
            return None
        old = _covering(self._earlier, self._values[0], a1, a2)
        new = _covering(self._later, self._values[1], b1, b2) if old is not None else None
        if old is None or new is None:
            return None
        if old.origin is not new.origin and not {old.kind, new.kind} <= _RANDOM_KINDS:
            return None
        was, now = self._earlier[old.start : old.end], self._later[new.start : new.end]
        if was == now:
            return None
        chosen = old if old.kind != "number" else new
        if chosen.origin is Origin.CLOCK and new.unit != old.unit:
            chosen = max(old, new, key=lambda found: found.cadence)
        return Span(was, now, new.start, chosen.origin, detail_of(chosen))


_RANDOM_KINDS = {"hex", "token", "number", "uuid", "ulid"}


def _covering(text: str, values: LiteralIndex, start: int, end: int) -> Literal | None:
    """The typed value that covers a run of a text."""
    found = values.at(start if start < end else max(0, start - 1))
    if found is not None and found.start <= start and end <= found.end and found.start < max(end, start + 1):
        return found
    inside = values.overlapping(start, end)
    if not inside or any(value.origin is not inside[0].origin for value in inside):
        return None
    covered = {i for value in inside for i in range(value.start, value.end)}
    if any(text[i].isalnum() for i in range(start, end) if i not in covered):
        return None
    finest = max(inside, key=lambda value: (value.cadence, len(value.unit)))
    return Literal(inside[0].start, inside[-1].end, finest.kind, finest.unit)


def detail_of(literal: Literal) -> str:
    """How a message calls a typed value: `to the second`, `uuid` …"""
    if literal.unit:
        return "an age" if literal.kind == "age" and literal.unit != "day" else f"to the {literal.unit}"
    return literal.kind


def changes_within_a_day(span: Span) -> bool:
    """Whether a clock span shows more than a date."""
    return span.origin is Origin.CLOCK and span.detail not in ("to the day", "to the month", "to the year")
