"""The prompts of a file as strips, styled for a terminal and readable without colours."""

from __future__ import annotations

from collections.abc import Iterable

import click

from promptlint_core.cadence import Cadence
from promptlint_core.prompt import Call, Prompt, Segment
from promptlint_linter.output.characters import without_control
from promptlint_linter.strips.strip import Band, Strip, lay_out

COLOURS: dict[Cadence | None, tuple[int, int, int]] = {
    Cadence.FIXED: (34, 94, 60),
    Cadence.DEPLOY: (58, 122, 74),
    Cadence.DAY: (104, 138, 52),
    Cadence.TENANT: (150, 140, 40),
    Cadence.USER: (176, 132, 34),
    Cadence.SESSION: (190, 112, 32),
    Cadence.APPEND: (52, 92, 148),
    Cadence.TURN: (190, 84, 40),
    Cadence.CALL: (178, 38, 48),
    None: (96, 96, 96),
}
LETTERS: dict[Cadence | None, str] = {
    Cadence.FIXED: "f",
    Cadence.DEPLOY: "p",
    Cadence.DAY: "d",
    Cadence.TENANT: "o",
    Cadence.USER: "u",
    Cadence.SESSION: "s",
    Cadence.APPEND: "a",
    Cadence.TURN: "t",
    Cadence.CALL: "C",
    None: "?",
}
"""The letter of a cadence inside its band: the strip can be read without colours."""
MOST_BANDS = 24
"""Bands listed below a strip; the rest is counted."""
EXCERPT_CHARS = 56


def render_strips(prompts: Iterable[tuple[Prompt, Call | None]], columns: int) -> str:
    """The strips of several prompts with one legend; styled, the writer takes the styles out where needed."""
    blocks = []
    used: set[Cadence | None] = set()
    for prompt, call in prompts:
        strip = lay_out(prompt, columns, call.model if call else None)
        used.update(band.cadence for band in strip.bands)
        blocks.append(_block(prompt, call, strip))
    if not blocks:
        return ""
    return "\n\n".join([*blocks, _legend(used)])


def _block(prompt: Prompt, call: Call | None, strip: Strip) -> str:
    place = f"{prompt.place.path}:{prompt.place.line}" if prompt.place else ""
    facts = [f"{strip.tokens:,} known tokens"]
    facts += [f"sent by {call.callee}"] if call else []
    facts += ["sent again with a growing history"] if prompt.multi_turn else []
    name = f" {prompt.name}" if prompt.name else ""
    lines = [click.style(without_control(f"{place}{name}"), bold=True) + f": {', '.join(facts)}"]
    lines.append("  " + "".join(_paint(band) for band in strip.bands))
    for stop in strip.stops:
        share = f"{100 * stop.tokens_ahead / strip.tokens:.0f} %" if strip.tokens else "0 %"
        what = _named(strip.bands[stop.band].first)
        told = f"{stop.who}, a cache stops here, behind {stop.tokens_ahead:,} tokens ({share}): {what}"
        lines.append(f"  {' ' * stop.column}{click.style('^', bold=True)} {told}")
    lines += [_row(number, band) for number, band in enumerate(strip.bands[:MOST_BANDS], 1)]
    if len(strip.bands) > MOST_BANDS:
        lines.append(f"      and {len(strip.bands) - MOST_BANDS} more")
    return "\n".join(lines)


def _paint(band: Band) -> str:
    return click.style(LETTERS[band.cadence] * band.columns, fg=(240, 240, 240), bg=COLOURS[band.cadence])


def _row(number: int, band: Band) -> str:
    cadence = str(band.cadence) if band.cadence is not None else "unknown"
    count = f"{band.tokens:,}" if band.tokens is not None else "?"
    line = f"line {band.first.place.line}" if band.first.place else ""
    part = band.first.role or band.first.part.value
    mark = " [cache breakpoint]" if any(segment.marker for segment in band.segments) else ""
    what = _named(band.first)
    return f"  {number:>3}  {cadence:<8} {count:>7} tokens  {part:<9} {line:<10} {what}{mark}"


def _named(segment: Segment) -> str:
    if segment.text is not None:
        text = " ".join(segment.text.split())
        return without_control(f'"{text[:EXCERPT_CHARS]}{"…" if len(text) > EXCERPT_CHARS else ""}"')
    detail = f", {segment.detail}" if segment.detail else ""
    text = " ".join(segment.expression.split()) or segment.origin.value
    return without_control(f"`{text[:EXCERPT_CHARS]}`{detail}")


def _legend(used: set[Cadence | None]) -> str:
    words = [
        click.style(f" {letter} ", fg=(240, 240, 240), bg=COLOURS[cadence])
        + f" {cadence if cadence is not None else 'unknown'}"
        for cadence, letter in LETTERS.items()
        if cadence in used
    ]
    return "  " + "   ".join(words)
