"""How often a clock value changes, by the format it is written in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from promptlint_core.cadence import Cadence


@dataclass(frozen=True, slots=True)
class Precision:
    """The finest unit of time that a text shows."""

    unit: str
    """`microsecond`, `millisecond`, `second`, `minute`, `hour`, `day`, `month`, `year` or `none`."""

    @property
    def cadence(self) -> Cadence:
        """A value finer than an hour differs from call to call; an hour or a day is read many times as it is."""
        if self.unit in ("microsecond", "millisecond", "second", "minute", "hour"):
            return Cadence.CALL
        if self.unit in ("day", "week"):
            return Cadence.DAY
        return Cadence.DEPLOY if self.unit in ("month", "year") else Cadence.FIXED


_UNITS = ("none", "year", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")

_UNIT_OF_CODE = {
    "f": "microsecond", "S": "second", "s": "second", "T": "second", "X": "second", "c": "second", "r": "second",
    "+": "second", "M": "minute", "R": "minute", "H": "hour", "I": "hour", "k": "hour", "l": "hour", "p": "hour",
    "P": "hour", "a": "day", "A": "day", "w": "day", "u": "day", "d": "day", "e": "day", "j": "day", "x": "day",
    "D": "day", "F": "day", "U": "week", "W": "week", "V": "week", "b": "month", "B": "month", "h": "month",
    "m": "month", "y": "year", "Y": "year", "G": "year", "g": "year", "C": "year",
}  # fmt: skip
"""Finest unit of each strftime code (Python's documentation and glibc's strftime(3))."""

_CODE = re.compile(r"%[-_0^#EO:]*\d*([A-Za-z+])")

_TOKEN_UNITS: tuple[tuple[str, str], ...] = (
    (r"S{3,}|x|X", "millisecond"),
    (r"ss?|S|LTS", "second"),
    (r"mm?|LTS?|L{1,4}T", "minute"),
    (r"HH?|hh?|[aA]$", "hour"),
    (r"D{1,4}|d{1,4}|E|L{1,4}", "day"),
    (r"M{1,4}", "month"),
    (r"Y{2,4}|y{2,4}", "year"),
)
"""Format tokens of arrow and pendulum (`YYYY-MM-DD HH:mm`)."""


def finest(units: list[str]) -> Precision:
    """The finest of several units."""
    return Precision(max(units, key=_UNITS.index, default="none"))


def strftime_precision(pattern: str) -> Precision:
    """The finest unit that a strftime pattern shows.

    >>> strftime_precision("%Y-%m-%d %H:%M").unit, strftime_precision("%d %b %Y").unit
    ('minute', 'day')
    """
    return finest([_UNIT_OF_CODE[code] for code in _CODE.findall(pattern) if code in _UNIT_OF_CODE])


def datetime_spec_precision(spec: str) -> Precision:
    """The finest unit of a datetime in an f-string: an empty specification is `str()`, to the microsecond."""
    return strftime_precision(spec) if "%" in spec else Precision("microsecond")


def token_format_precision(pattern: str) -> Precision:
    """The finest unit of an arrow or pendulum format (`YYYY-MM-DD HH:mm`).

    >>> token_format_precision("YYYY-MM-DD HH:mm").unit, token_format_precision("dddd D MMMM").unit
    ('minute', 'day')
    """
    words = re.findall(r"([A-Za-z])(\1*)", re.sub(r"\[[^\]]*\]", "", pattern))
    found = []
    for letter, rest in words:
        unit = next((unit for regex, unit in _TOKEN_UNITS if re.fullmatch(regex, letter + rest)), None)
        if unit:
            found.append(unit)
    return finest(found)


_TIMESPEC = {
    "auto": "microsecond", "microseconds": "microsecond", "milliseconds": "millisecond", "seconds": "second",
    "minutes": "minute", "hours": "hour",
}  # fmt: skip


def isoformat_precision(timespec: str = "auto") -> Precision:
    """The precision of `datetime.isoformat(timespec=…)`."""
    return Precision(_TIMESPEC.get(timespec, "microsecond"))


def epoch_precision(divisor_s: float = 1.0) -> Precision:
    """The precision of an epoch that is divided without remainder by a number of seconds.

    >>> epoch_precision(86400).unit, epoch_precision(60).unit
    ('day', 'minute')
    """
    steps = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"), (0.001, "millisecond"))
    return Precision(next((unit for seconds, unit in steps if divisor_s >= seconds), "microsecond"))


def truncated(precision: Precision, *, zeroed: frozenset[str]) -> Precision:
    """The precision left after `replace(minute=0, second=0, microsecond=0)`: units that are zeroed no longer change.

    >>> truncated(Precision("microsecond"), zeroed=frozenset({"minute", "second", "microsecond"})).unit
    'hour'
    """
    index = _UNITS.index(precision.unit)
    while index > 0 and (
        _UNITS[index] in zeroed
        or (_UNITS[index] == "millisecond" and "microsecond" in zeroed)
        or _UNITS[index] == "week"
    ):
        index -= 1
    return Precision(_UNITS[index])
