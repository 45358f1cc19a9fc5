"""Numbers as people read them, the same in every format."""

from __future__ import annotations

from datetime import datetime

from promptlint_report.document import Basis, Cell, Figure, Unit

ABSENT = "–"
"""Unknown is said, never shown as 0."""
_BYTE_STEPS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def told(value: Cell, unit: Unit) -> str:
    """A value with its unit.

    >>> told(0.4567, Unit.SHARE), told(1234567, Unit.TOKENS), told(None, Unit.USD), told(0.0312, Unit.SECONDS)
    ('45.7 %', '1,234,567', '–', '31 ms')
    """
    if value is None:
        return ABSENT
    if isinstance(value, str):
        return value
    match unit:
        case Unit.USD:
            return _usd(value)
        case Unit.SHARE:
            return f"{value * 100:.1f} %"
        case Unit.SECONDS:
            return _seconds(value)
        case Unit.BYTES:
            return _bytes(value)
        case Unit.RATIO:
            return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
        case _:
            return f"{value:,.0f}"


def change(figure: Figure) -> str:
    """How a figure moved since last week; shares in points, others in percent; empty where nothing is comparable."""
    value, before = figure.value, figure.before
    if isinstance(value, str) or isinstance(before, str) or value is None or before is None:
        return ""
    if figure.unit is Unit.SHARE:
        points = (value - before) * 100
        return "same" if abs(points) < 0.05 else f"{points:+.1f} points"
    if before == 0:
        return "same" if value == 0 else f"from {told(before, figure.unit)}"
    share = (value - before) / abs(before)
    return "same" if abs(share) < 0.0005 else f"{share:+.1%}".replace("%", " %")


def moment(iso: str) -> str:
    """Date and time as people write them; the zone stands beside it.

    >>> moment("2026-11-23T00:00:00+01:00")
    '2026-11-23 00:00'
    """
    return f"{datetime.fromisoformat(iso):%Y-%m-%d %H:%M}"


def mark(basis: Basis | None) -> str:
    """The letter that stands beside a number.

    >>> mark(Basis.ESTIMATED), mark(Basis.REPORTED), mark(None)
    ('e', 'r', '')
    """
    return {Basis.REPORTED: "r", Basis.ESTIMATED: "e", Basis.MIXED: "m", Basis.UNKNOWN: "u", None: ""}[basis]


LEGEND = "r reported · e estimated · m of both kinds · u unknown"


def _usd(value: float) -> str:
    sign = "-" if value < 0 else ""
    size = abs(value)
    if size and size < 0.01:
        return f"{sign}${size:.6f}".rstrip("0")
    return f"{sign}${size:,.2f}"


def _seconds(value: float) -> str:
    if value < 0.001:
        return f"{value * 1e6:.0f} µs"
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 120:
        return f"{value:.2f} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def _bytes(value: float) -> str:
    for step in _BYTE_STEPS:
        if abs(value) < 1024 or step == _BYTE_STEPS[-1]:
            return f"{value:,.0f} {step}" if step == "B" else f"{value:,.1f} {step}"
        value /= 1024
    return ""
