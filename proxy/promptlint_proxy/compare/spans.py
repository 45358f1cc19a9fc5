"""Differing runs of two texts, widened to whole words and typed values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from promptlint_core.cadence import Cadence, Origin
from promptlint_core.literals import Literal, find_literals, literal_at
from promptlint_proxy.compare.align import common_prefix, common_suffix
from promptlint_proxy.compare.chunks import chunks
from promptlint_rules.difference import Span

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST_DIFF_WORDS = 1500
"""Longer middles are taken apart sentence by sentence first: the word diff is quadratic."""
_CONTEXT_CHARS = 200
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
    while start and _inside_word(earlier, start, later):
        start -= 1
    while end_a < len(earlier) and end_b < len(later) and _inside_word(earlier, end_a, later, end_b):
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
    typed_all = _typed(earlier, later, middle.start, middle.end_earlier, middle.start, middle.end_later)
    if typed_all is not None:
        return (typed_all,)
    runs: list[_Run] = []
    for run in _word_runs(earlier, later, (middle.start, middle.end_earlier, middle.start, middle.end_later)):
        if runs and _belong_together(earlier, later, runs[-1], run):
            runs[-1] = (runs[-1][0], run[1], runs[-1][2], run[3])
        else:
            runs.append(run)
    return tuple(_spans_of_runs(earlier, later, runs))


def _belong_together(earlier: str, later: str, first: _Run, second: _Run) -> bool:
    """Whether two runs are one difference: next to each other, and not two values that are each known by itself."""
    if second[0] - first[1] > _JOIN_CHARS or second[2] - first[3] > _JOIN_CHARS:
        return False
    return not (_typed(earlier, later, *first) and _typed(earlier, later, *second))


def _word_runs(earlier: str, later: str, whole: _Run) -> Iterator[_Run]:
    """The differing runs of words of two texts; those of a long text are looked for sentence by sentence."""
    a1, a2, b1, b2 = whole
    old, new = _WORD.findall(earlier[a1:a2]), _WORD.findall(later[b1:b2])
    if len(old) + len(new) <= _LONGEST_DIFF_WORDS:
        yield from _runs(old, new, a1, b1)
        return
    for run in _runs(chunks(earlier[a1:a2]), chunks(later[b1:b2]), a1, b1):
        old, new = _WORD.findall(earlier[run[0] : run[1]]), _WORD.findall(later[run[2] : run[3]])
        if len(old) + len(new) <= _LONGEST_DIFF_WORDS:
            yield from _runs(old, new, run[0], run[2])
        else:
            yield run


def _runs(old: list[str], new: list[str], base_a: int, base_b: int) -> Iterator[_Run]:
    """Where two lists of text parts differ, as offsets into the texts."""
    starts_a, starts_b = _starts(old, base_a), _starts(new, base_b)
    if len(old) + len(new) > 2 * _LONGEST_DIFF_WORDS:
        yield starts_a[0], starts_a[-1], starts_b[0], starts_b[-1]
        return
    for operation, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if operation != "equal":
            yield starts_a[i1], starts_a[i2], starts_b[j1], starts_b[j2]


def _spans_of_runs(earlier: str, later: str, runs: list[_Run]) -> Iterator[Span]:
    last_end = -1
    for a1, a2, b1, b2 in runs:
        if b1 < last_end:
            continue
        span = _typed(earlier, later, a1, a2, b1, b2) or _plain(earlier, later, a1, a2, b1, b2)
        last_end = span.offset + len(span.later)
        yield span


def _starts(words: list[str], base: int) -> list[int]:
    starts = [base]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def _plain(earlier: str, later: str, a1: int, a2: int, b1: int, b2: int) -> Span:
    return Span(earlier[a1:a2], later[b1:b2], b1)


def _covering(text: str, start: int, end: int) -> Literal | None:
    """The typed value that covers a run of a text."""
    found = literal_at(text, start if start < end else max(0, start - 1))
    if found is not None and found.start <= start and end <= found.end and found.start < max(end, start + 1):
        return found
    low = max(0, start - _CONTEXT_CHARS)
    window = text[low : end + _CONTEXT_CHARS]
    inside = [x for x in find_literals(window) if x.start + low < end and x.end + low > start]
    if not inside:
        return None
    first, last = inside[0].start + low, inside[-1].end + low
    covered = {i for x in inside for i in range(x.start + low, x.end + low)}
    left = sum(1 for i in range(start, end) if i not in covered and text[i].isalnum())
    if left == 0 and all(x.origin is inside[0].origin for x in inside):
        finest = max(inside, key=lambda x: (x.cadence, len(x.unit)))
        return Literal(first, last, finest.kind, finest.unit)
    return None


def _typed(earlier: str, later: str, a1: int, a2: int, b1: int, b2: int) -> Span | None:
    """A span whose two sides are values of one type; None where they are not."""
    old, new = _covering(earlier, a1, a2), _covering(later, b1, b2)
    if old is None or new is None:
        return None
    random = {"hex", "token", "number", "uuid", "ulid"}
    if old.origin is not new.origin and not {old.kind, new.kind} <= random:
        return None
    if earlier[old.start : old.end] == later[new.start : new.end]:
        return None
    chosen = old if old.kind != "number" else new
    if chosen.origin is Origin.CLOCK and new.unit != old.unit:
        chosen = max(old, new, key=lambda found: found.cadence)
    return Span(
        earlier[old.start : old.end],
        later[new.start : new.end],
        new.start,
        chosen.origin,
        detail_of(chosen),
    )


def detail_of(literal: Literal) -> str:
    """How a message calls a typed value: `to the second`, `uuid` …"""
    if literal.unit:
        return "an age" if literal.kind == "age" and literal.unit != "day" else f"to the {literal.unit}"
    return literal.kind


def changes_within_a_day(span: Span) -> bool:
    """Whether a clock span shows more than a date."""
    return span.origin is Origin.CLOCK and span.detail not in ("to the day", "to the month", "to the year")


def cadence_of(span: Span) -> Cadence:
    """How often a typed span changes, as its precision says."""
    if span.origin is Origin.CLOCK:
        return Cadence.CALL if changes_within_a_day(span) else Cadence.DAY
    return Cadence.CALL
