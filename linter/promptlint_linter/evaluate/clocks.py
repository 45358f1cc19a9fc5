"""Clock readings: which unit of time is left of one after its methods, attributes and arithmetic."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptlint_core.cadence import Cadence
from promptlint_core.clock import (
    Precision,
    epoch_precision,
    isoformat_precision,
    strftime_precision,
    token_format_precision,
    truncated,
)
from promptlint_linter.evaluate.origins import CLOCK_ATTRIBUTES
from promptlint_linter.evaluate.texts import instant_piece
from promptlint_linter.evaluate.values import Arguments, Constant, Opaque, Text, Value

if TYPE_CHECKING:
    from promptlint_linter.evaluate.machine import Machine

_ZEROED = frozenset({"hour", "minute", "second", "microsecond"})
_TEXT_METHODS = {
    "ctime": "second", "to_datetime_string": "second", "to_iso8601_string": "microsecond", "humanize": "second",
    "to_date_string": "day", "to_formatted_date_string": "day", "to_day_datetime_string": "minute",
    "to_time_string": "second", "isocalendar": "week",
}  # fmt: skip
_SAME_MOMENT = frozenset(
    [
        "astimezone",
        "to",
        "in_timezone",
        "in_tz",
        "normalize",
        "localize",
        "utctimetuple",
        "timetuple",
        "date_time",
        "naive",
        "shift",
        "add",
        "subtract",
        "replace_tzinfo",
        "tz_convert",
        "tz_localize",
        "to_pydatetime",
    ]
)
_DAY_METHODS = frozenset({"date", "today", "start_of", "floor", "weekday", "isoweekday", "toordinal"})


def method_of(machine: Machine, instant: Opaque, name: str, arguments: Arguments) -> Value:
    """The result of a method of a clock reading."""
    first = machine.literal_text(arguments.get("format", 0)) if name in ("strftime", "format") else None
    if name == "strftime":
        return _text(instant, strftime_precision(first) if first is not None else None)
    if name == "format":
        if first is None:
            return _text(instant, None)
        return _text(instant, strftime_precision(first) if "%" in first else token_format_precision(first))
    if name == "isoformat":
        spec = machine.literal_text(arguments.get("timespec", 1))
        return _text(instant, isoformat_precision(spec or "auto"))
    if name in _TEXT_METHODS:
        return _text(instant, Precision(_TEXT_METHODS[name]))
    if name in _DAY_METHODS:
        unit = machine.literal_text(arguments.get("unit", 0)) if name in ("start_of", "floor") else "day"
        return cut(instant, Precision(unit if unit in ("hour", "minute", "second") else "day"))
    if name == "replace":
        zeroed = frozenset(key for key, value in arguments.keywords.entries if key in _ZEROED and _is_fixed(value))
        held = instant.instant or Precision("microsecond")
        return replace(instant, instant=truncated(held, zeroed=zeroed))
    if name == "timestamp" or name in _SAME_MOMENT:
        return instant
    return Opaque(instant.piece)


def attribute_of(instant: Opaque, name: str) -> Value:
    """`now.hour`, `now.tm_mday`: one unit of the reading changes as seldom as that unit and those above it."""
    unit = CLOCK_ATTRIBUTES.get(name)
    return _text(instant, Precision(unit)) if unit else Opaque(instant.piece)


def cut(instant: Opaque, most: Precision) -> Opaque:
    """The reading without the units finer than `most`."""
    held = instant.instant or most
    finer = held.cadence > most.cadence or held.cadence is Cadence.CALL
    return replace(instant, instant=most if finer else held)


def formatted(instant: Opaque, pattern: str | None) -> Opaque:
    """`time.strftime(pattern)`."""
    return _text(instant, strftime_precision(pattern) if pattern is not None else None)


def floor_divided(instant: Opaque, divisor: Value) -> Value:
    """`time.time() // 3600`."""
    if isinstance(divisor, Constant) and isinstance(divisor.value, int | float) and divisor.value > 0:
        return replace(instant, instant=epoch_precision(float(divisor.value)))
    return instant


def _text(instant: Opaque, shown: Precision | None) -> Opaque:
    piece = instant_piece(instant, shown if shown is not None else instant.instant or Precision("microsecond"))
    return Opaque(piece)


def _is_fixed(value: Value) -> bool:
    return isinstance(value, Constant | Text)
