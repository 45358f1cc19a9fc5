"""Typed values inside literal text: times, ids, digests, addresses, numbers: what the wire shows of an expression."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

from promptlint_core.cadence import Cadence, Origin
from promptlint_core.clock import Precision


@dataclass(frozen=True, slots=True)
class Literal:
    """A typed value in a text; offsets are code points, `end` exclusive."""

    start: int
    end: int
    kind: str
    """`datetime`, `date`, `time`, `epoch`, `age`, `uuid`, `ulid`, `jwt`, `hex`, `token`, `email`, `address` or
    `number`."""
    unit: str = ""
    """Finest unit of time of a clock value."""

    @property
    def origin(self) -> Origin:
        if self.unit:
            return Origin.CLOCK
        if self.kind in ("uuid", "ulid", "jwt", "hex", "token"):
            return Origin.RANDOM
        if self.kind in ("email", "address"):
            return Origin.IDENTITY
        return Origin.STATE

    @property
    def cadence(self) -> Cadence:
        return Precision(self.unit).cadence if self.unit else Cadence.CALL


_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_WEEKDAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*"
_DATE = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}"
    r"|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    rf"|(?:{_WEEKDAY},?\s+)?\d{{1,2}}(?:st|nd|rd|th)?\.?\s+{_MONTH}\.?,?(?:\s+\d{{4}})?"
    rf"|(?:{_WEEKDAY},?\s+)?{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?"
)
_COMPACT_DAY = r"20\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_COMPACT_TIME = r"(?:[01]\d|2[0-3])[0-5]\d(?P<basic_seconds>[0-5]\d)?"
_TIME = (
    r"\d{1,2}:\d{2}(?::\d{2}(?P<fraction>[.,]\d{1,9})?)?"
    r"(?:\s?[AaPp]\.?[Mm]\b\.?)?(?:\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
)

_MIXED = r"(?=[\w/+]*\d)(?=[\w/+]*[a-z])(?=[\w/+]*[A-Z])"
_DURATION = (
    r"(?P<milli>milliseconds?|ms)|(?P<second>seconds?|secs?|s)|(?P<minute>minutes?|mins?|m)|hours?|hrs?|h"
    r"|(?P<day>days?|d|weeks?|w)"
)

_PATTERNS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("jwt", "eyJ", re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}")),
    ("uuid", "0", re.compile(r"(?i)\b[\da-f]{8}-?[\da-f]{4}-?[1-8][\da-f]{3}-?[89ab][\da-f]{3}-?[\da-f]{12}\b")),
    ("address", ".", re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])")),
    ("datetime", "0", re.compile(rf"\b{_COMPACT_DAY}[T_-]?{_COMPACT_TIME}Z?(?![\w-])")),
    ("datetime", ":", re.compile(rf"(?<![\w.])(?:{_DATE})(?:T|,?\s+(?:at\s+)?){_TIME}(?!\w|:\d)")),
    ("datetime", ":", re.compile(rf"\b{_WEEKDAY}\s+{_MONTH}\s+\d{{1,2}}\s+{_TIME}(?:\s+\w{{3,4}})?\s+\d{{4}}\b")),
    ("time", ":", re.compile(rf"(?<![\w:.]){_TIME}(?!\w|:\d)")),
    ("time", "0", re.compile(r"(?<![\w:.])\d{1,2}(?:\s?[AaPp]\.?[Mm]\b\.?|\s?o['’]clock\b|\s?Uhr\b)")),
    ("time", "h", re.compile(r"(?<![\w:.])(?:[01]\d|2[0-3])h[0-5]\d(?!\w)")),
    ("date", "0", re.compile(rf"(?<![\w./-])(?:{_DATE})(?![\w/-])")),
    ("age", "", re.compile(rf"\b(?:\d+(?:\.\d+)?|an?|one)\s?(?:{_DURATION})\s+(?:ago|old|since|elapsed)\b")),
    ("age", "", re.compile(r"\b(?:(?P<second>just|right) now|(?:an?|few|some) moments? ago)\b", re.IGNORECASE)),
    ("epoch", "0", re.compile(r"(?<![\w.])1[5-9]\d{8}(?:\.\d+|\d{3}|\d{6}|\d{9})?(?![\w])")),
    ("ulid", "0", re.compile(r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")),
    ("email", "@", re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")),
    ("hex", "0", re.compile(r"(?<![0-9a-zA-Z])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,128}(?![0-9a-zA-Z])")),
    ("hex", "0", re.compile(r"(?<![0-9a-zA-Z])(?=[0-9A-F]*\d)(?=[0-9A-F]*[A-F])[0-9A-F]{8,128}(?![0-9a-zA-Z])")),
    ("token", "0", re.compile(r"(?<![\w/+-])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{12,200}(?![\w/+-])")),
    ("token", "=", re.compile(rf"(?<![\w/+-]){_MIXED}[\w/+]{{10,200}}={{1,2}}(?![\w=])")),
    ("token", "0", re.compile(r"(?<![\w-])(?=(?:[a-z]*\d+[a-z]+){2})(?!(?:\d+[dhms])+\b)[a-z0-9]{8,64}(?![\w-])")),
    ("token", "_", re.compile(r"(?<![\w-])[a-z]{2,12}_(?=\w*\d)(?=\w*[A-Za-z])[A-Za-z0-9]{8,64}(?![\w-])")),
    ("number", "0", re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?%?(?![\w])")),
)  # fmt: skip
"""(kind, what every such value holds: a text, `0` for any digit; pattern). Tried in this order at each place: the most
specific kind wins."""
_DIGIT = re.compile(r"\d")


def _unit(kind: str, match: re.Match[str]) -> str:
    text = match.group()
    if kind in ("datetime", "time"):
        if "basic_seconds" in match.re.groupindex:
            return "second" if match["basic_seconds"] else "minute"
        fraction = match.groupdict().get("fraction")
        if fraction:
            return "millisecond" if len(fraction) <= 4 else "microsecond"
        colons = re.search(r"\d{1,2}[:h]\d{2}(:\d{2})?", text)
        if colons is None:
            return "hour"
        return "second" if colons.group(1) else "minute"
    if kind == "date":
        return "day"
    if kind == "age":
        named = match.groupdict()
        units = {"milli": "millisecond", "second": "second", "minute": "minute", "day": "day"}
        return next((unit for group, unit in units.items() if named.get(group)), "hour")
    if kind == "epoch":
        digits = len(text.split(".", 1)[0])
        if "." in text:
            return "microsecond"
        return {10: "second", 13: "millisecond"}.get(digits, "microsecond")
    return ""


def find_literals(text: str) -> Iterator[Literal]:
    """The typed values of a text, left to right, none inside another.

    >>> [(found.kind, found.unit) for found in find_literals("It is 2026-09-09 17:42:08, run 9f8c2a1b77de")]
    [('datetime', 'second'), ('hex', '')]
    """
    taken: list[Literal] = []
    starts: list[int] = []
    has_digit = _DIGIT.search(text) is not None
    for kind, held, pattern in _PATTERNS:
        if not has_digit if held == "0" else held not in text:
            continue
        for match in pattern.finditer(text):
            start, end = match.span()
            at = bisect_right(starts, start)
            if (at and taken[at - 1].end > start) or (at < len(taken) and starts[at] < end):
                continue
            taken.insert(at, Literal(start, end, kind, _unit(kind, match)))
            starts.insert(at, start)
    return iter(taken)


_AROUND = 200
"""Code points looked at on either side of a place: longer than any value that a pattern can match usefully."""
_STRETCH = 1024


class LiteralIndex:
    """The typed values of one text: looked for where they are asked for, a stretch at a time, each stretch once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stretches: dict[int, tuple[Literal, ...]] = {}

    def overlapping(self, start: int, end: int) -> list[Literal]:
        """The values that have a part in `text[start:end]`, left to right.

        >>> [found.kind for found in LiteralIndex("Clock 17:42:08, step 12").overlapping(8, 9)]
        ['time']
        """
        first = max(0, start - _AROUND) // _STRETCH
        stretches = (self._stretch(number) for number in range(first, end // _STRETCH + 1))
        return [found for of_stretch in stretches for found in of_stretch if found.start < end and found.end > start]

    def at(self, offset: int) -> Literal | None:
        """The value that covers a place, or ends right before it.

        >>> LiteralIndex("Clock 17:42:08, day one").at(12).unit
        'second'
        """
        found = self.overlapping(max(0, offset - 1), offset + 1)
        return next((value for value in found if value.start <= offset <= value.end), None)

    def _stretch(self, number: int) -> tuple[Literal, ...]:
        """The values that begin in one stretch."""
        known = self._stretches.get(number)
        if known is None:
            begin = number * _STRETCH
            low = max(0, begin - _AROUND)
            found = find_literals(self._text[low : begin + _STRETCH + _AROUND])
            moved = (replace(value, start=value.start + low, end=value.end + low) for value in found)
            known = tuple(value for value in moved if begin <= value.start < begin + _STRETCH)
            self._stretches[number] = known
        return known
