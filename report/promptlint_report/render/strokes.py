"""Charts and prompt strips in one line of plain characters, for formats that cannot draw."""

from __future__ import annotations

from collections.abc import Sequence

from promptlint_report.document import Chart, Strip
from promptlint_report.render.numbers import told

BARS = "▁▂▃▄▅▆▇█"
GAP = "·"
"""A place where nothing is known."""
STRIP_WIDTH = 72
_FILL = "─"


def sparkline(values: Sequence[float | None]) -> str:
    """One bar a value, from 0 to the largest; unknown is a dot.

    >>> sparkline([0, 5, None, 10]), sparkline([0, 0]), sparkline([None])
    ('▁▅·█', '▁▁', '·')
    """
    top = max((value for value in values if value is not None), default=0.0)
    return "".join(
        GAP if value is None else BARS[round(max(value, 0.0) / top * (len(BARS) - 1)) if top > 0 else 0]
        for value in values
    )


def chart_lines(chart: Chart) -> list[tuple[str, str, str]]:
    """Name, sparkline and range of each series that tells anything; the first also names the ends of the chart."""
    lines = []
    for place, series in enumerate(chart.series):
        known = [value for value in series.values if value is not None]
        if known and len(series.values) > 1:
            ends = f"{chart.labels[0]} to {chart.labels[-1]}, " if place == 0 else ""
            lines.append((series.name, sparkline(series.values), f"{ends}at most {told(max(known), chart.unit)}"))
    return lines


def strip_line(strip: Strip, width: int = STRIP_WIDTH) -> str:
    """The segments to scale between bars; a segment too narrow for its name holds the start of it.

    >>> from promptlint_report.document import StripSegment
    >>> segments = (StripSegment("system", "system", "call", "clock", 5), StripSegment("system", "s", "fixed", "", 95))
    >>> strip_line(Strip("g", "g", segments), 20)
    '│c│fixed────────────│'
    """
    whole = sum(segment.tokens for segment in strip.segments) or 1
    parts = []
    for segment in strip.segments:
        wide = max(1, round(segment.tokens / whole * (width - 1)) - 1)
        parts.append(segment.cadence[:wide].ljust(wide, _FILL))
    return f"│{'│'.join(parts)}│" if parts else ""


def strip_key(strip: Strip) -> str:
    """The segments in words: cadence, tokens and place."""
    return ", ".join(f"{segment.cadence} {segment.tokens:,} ({segment.path})" for segment in strip.segments)
