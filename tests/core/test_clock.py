"""A clock value is as fast as the finest unit that its format shows."""

from __future__ import annotations

import pytest

from promptlint_core.cadence import Cadence
from promptlint_core.clock import (
    Precision,
    datetime_spec_precision,
    epoch_precision,
    isoformat_precision,
    strftime_precision,
    token_format_precision,
    truncated,
)


@pytest.mark.parametrize(
    ("pattern", "unit"),
    [
        ("%Y-%m-%d", "day"),
        ("%A, %d %B %Y", "day"),
        ("%B %Y", "month"),
        ("%Y", "year"),
        ("week %V of %G", "week"),
        ("%H:%M", "minute"),
        ("%I %p", "hour"),
        ("%-d.%-m.%y %-H Uhr", "hour"),
        ("%c", "second"),
        ("%X", "second"),
        ("%x", "day"),
        ("%s", "second"),
        ("%Y-%m-%dT%H:%M:%S.%f", "microsecond"),
        ("no code", "none"),
        ("100%%", "none"),
    ],
)
def test_strftime_patterns(pattern: str, unit: str) -> None:
    assert unit == strftime_precision(pattern).unit


@pytest.mark.parametrize(
    ("unit", "cadence"),
    [
        ("microsecond", Cadence.CALL),
        ("minute", Cadence.CALL),
        ("hour", Cadence.CALL),
        ("day", Cadence.DAY),
        ("week", Cadence.DAY),
        ("month", Cadence.DEPLOY),
        ("none", Cadence.FIXED),
    ],
)
def test_anything_finer_than_a_day_differs_from_call_to_call(unit: str, cadence: Cadence) -> None:
    assert cadence is Precision(unit).cadence


@pytest.mark.parametrize(
    ("pattern", "unit"),
    [
        ("YYYY-MM-DD", "day"),
        ("dddd, D MMMM YYYY", "day"),
        ("YYYY-MM-DD HH:mm", "minute"),
        ("HH:mm:ss", "second"),
        ("[at] YYYY", "year"),
    ],
)
def test_arrow_and_pendulum_formats(pattern: str, unit: str) -> None:
    assert unit == token_format_precision(pattern).unit


def test_an_empty_format_specification_is_str() -> None:
    assert datetime_spec_precision("").unit == "microsecond"
    assert datetime_spec_precision("%d %b").unit == "day"


def test_timespec_of_isoformat() -> None:
    assert isoformat_precision().unit == "microsecond"
    assert isoformat_precision("minutes").unit == "minute"


@pytest.mark.parametrize(("divisor_s", "unit"), [(1, "second"), (60, "minute"), (3600, "hour"), (86400, "day")])
def test_an_epoch_divided_without_remainder(divisor_s: float, unit: str) -> None:
    assert unit == epoch_precision(divisor_s).unit


@pytest.mark.parametrize(
    ("zeroed", "unit"),
    [
        ({"microsecond"}, "second"),
        ({"second", "microsecond"}, "minute"),
        ({"minute", "second", "microsecond"}, "hour"),
        ({"hour", "minute", "second", "microsecond"}, "day"),
        ({"second"}, "microsecond"),
    ],
)
def test_units_that_are_replaced_by_zero_no_longer_change(zeroed: set[str], unit: str) -> None:
    assert unit == truncated(Precision("microsecond"), zeroed=frozenset(zeroed)).unit
