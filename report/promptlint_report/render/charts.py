"""Charts as inline SVG that takes its colours from the page, so that it fits light, dark and print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from promptlint_report.document import Chart, Strip, Unit
from promptlint_report.render.numbers import told

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 70, 34, 12, 30
DASHES = ("", "6 4", "2 3")
"""Series differ by their dashes too, for those who do not see colours."""


def draw(chart: Chart) -> Markup:
    """The chart with its summary as text alternative; an empty string when nothing is known."""
    values = [value for series in chart.series for value in series.values if value is not None]
    if not values:
        return Markup()
    scale = _Scale(len(chart.labels), _round_up(max(values)))
    parts = [_grid(chart, scale), _axis(chart, scale)]
    for index, series in enumerate(chart.series):
        parts.append(_line(series.values, scale, index))
        parts += [
            Markup('<circle class="s{}" cx="{:.1f}" cy="{:.1f}" r="3"><title>{}</title></circle>').format(
                index, scale.x(place), scale.y(value), f"{series.name}, {label}: {told(value, chart.unit)}"
            )
            for place, (value, label) in enumerate(zip(series.values, chart.labels, strict=True))
            if value is not None
        ]
    legend = Markup("").join(
        Markup(
            '<span class="key"><svg width="28" height="10" aria-hidden="true"><line class="s{}" x1="0" y1="5" '
            'x2="28" y2="5" stroke-dasharray="{}"/></svg> {}</span>'
        ).format(index, DASHES[index % 3], series.name)
        for index, series in enumerate(chart.series)
    )
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg><figcaption>{} {}</figcaption>'
    ).format(WIDTH, HEIGHT, f"{chart.title}. {chart.summary}", Markup("").join(parts), legend, chart.summary)


def draw_strip(strip: Strip) -> Markup:
    """The segments to scale: parts as wide as their tokens, each with its cadence in colour and text."""
    whole = sum(segment.tokens for segment in strip.segments) or 1
    spoken = "; ".join(f"{item.cadence} {item.tokens} tokens in {item.path}" for item in strip.segments)
    parts: list[Markup] = []
    left = 0.0
    for segment in strip.segments:
        width = segment.tokens / whole * 1000
        hint = f"{segment.cadence} ({segment.origin}), {segment.tokens:,} tokens, {segment.path}"
        parts.append(
            Markup('<rect class="c-{}" x="{:.2f}" y="0" width="{:.2f}" height="34"><title>{}</title></rect>').format(
                segment.cadence, left, max(width, 1.0), hint
            )
        )
        if width > 7 * len(segment.cadence) + 12:
            parts.append(
                Markup('<text class="t-{}" x="{:.2f}" y="22">{}</text>').format(
                    segment.cadence, left + width / 2, segment.cadence
                )
            )
        left += width
    return Markup(
        '<svg class="strip" viewBox="0 0 1000 34" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(f"Prompt of {strip.title}, {whole} tokens: {spoken}", Markup("").join(parts))


@dataclass(frozen=True, slots=True)
class _Scale:
    places: int
    top: float

    def x(self, place: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (place / max(1, self.places - 1))

    def y(self, value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value / self.top if self.top else 0.0))


def _round_up(value: float) -> float:
    """The next 1, 2, 2.5 or 5 × a power of ten.

    >>> _round_up(0.31), _round_up(1700.0)
    (0.5, 2000.0)
    """
    if value <= 0:
        return 1.0
    power = 1.0
    while power > value:
        power /= 10
    while power * 10 <= value:
        power *= 10
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value * 0.999999)


def _grid(chart: Chart, scale: _Scale) -> Markup:
    lines = []
    for quarter in range(5):
        value = scale.top * quarter / 4
        y = scale.y(value)
        label = told(value, chart.unit) if chart.unit is not Unit.TOKENS else f"{value:,.0f}"
        lines.append(
            Markup(
                '<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>'
                '<text x="{}" y="{:.1f}" class="y">{}</text>'
            ).format(LEFT, WIDTH - RIGHT, y, y, LEFT - 8, y + 4, label)
        )
    return Markup("").join(lines)


def _axis(chart: Chart, scale: _Scale) -> Markup:
    every = max(1, -(-len(chart.labels) // 8))
    return Markup("").join(
        Markup('<text x="{:.1f}" y="{}" class="x">{}</text>').format(scale.x(place), HEIGHT - 8, label)
        for place, label in enumerate(chart.labels)
        if place % every == 0
    )


def _line(values: Sequence[float | None], scale: _Scale, index: int) -> Markup:
    """A line that breaks where nothing is known."""
    steps: list[str] = []
    pen_down = False
    for place, value in enumerate(values):
        if value is None:
            pen_down = False
            continue
        steps.append(f"{'L' if pen_down else 'M'}{scale.x(place):.1f} {scale.y(value):.1f}")
        pen_down = True
    return Markup('<path class="s{}" d="{}" stroke-dasharray="{}"/>').format(
        index, escape(" ".join(steps)), DASHES[index % 3]
    )
