"""The report in the terminal."""

from __future__ import annotations

import io
import shutil

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table as RichTable
from rich.text import Text

from promptlint_core.cadence import Cadence
from promptlint_report.document import Advice, Figure, Report, Section, Strip, Table, Unit
from promptlint_report.render.numbers import LEGEND, change, mark, told
from promptlint_report.render.strokes import chart_lines, strip_line

CADENCE_STYLE = {
    str(cadence): style
    for cadence, style in zip(
        Cadence,
        (
            "on blue",
            "on cyan",
            "on dark_cyan",
            "on green",
            "on yellow",
            "on dark_orange",
            "on magenta",
            "on red",
            "on bright_red",
        ),
        strict=True,
    )
}
STRIP_WIDTH = 60


def render(report: Report, color: bool = False, width: int | None = None) -> str:
    """Text for a terminal; `color` adds its escape codes."""
    out = io.StringIO()
    columns = width or max(80, shutil.get_terminal_size((120, 40)).columns)
    console = Console(file=out, width=columns, force_terminal=color, no_color=not color, highlight=False)
    console.print(Panel(escape(report.summary), title=f"promptlint report {report.week}", subtitle=report.timezone))
    for note in report.notes:
        console.print(f"[dim]{escape(note)}[/dim]")
    for section in report.sections:
        _section(console, section, color)
    _prices(console, report)
    for left in report.left_out:
        console.print(f"left out: {escape(left.sentence)}")
    console.print(f"[dim]{LEGEND}[/dim]")
    return out.getvalue()


def _section(console: Console, section: Section, color: bool) -> None:
    console.print()
    console.rule(f"[bold]{escape(section.title)}", align="left")
    for note in section.notes:
        console.print(escape(note))
    if section.figures:
        console.print(_figures(section.figures))
    _charts(console, section)
    for table in section.tables:
        if table.rows:
            console.print(_table(table))
        if table.rows and table.note:
            console.print(f"[dim]{escape(table.note)}[/dim]")
    for strip in section.strips:
        console.print(_strip(strip, color))
    for advice in section.advice:
        _advice(console, advice)


def _figures(figures: tuple[Figure, ...]) -> RichTable:
    grid = RichTable(box=None, show_header=False, pad_edge=False)
    for justify in ("left", "right", "left", "left", "left"):
        grid.add_column(justify=justify)
    for figure in figures:
        value = Text(told(figure.value, figure.unit), style="bold")
        grid.add_row(figure.label, value, mark(figure.basis), change(figure), Text(figure.note, style="dim"))
    return grid


def _table(table: Table) -> RichTable:
    drawn = RichTable(title=table.title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for column in table.columns:
        text = column.unit is Unit.TEXT
        drawn.add_column(
            f"{column.label} {mark(column.basis)}".strip(), justify="left" if text else "right", overflow="fold"
        )
    for row in table.rows:
        drawn.add_row(*(escape(told(cell, column.unit)) for cell, column in zip(row, table.columns, strict=True)))
    return drawn


def _charts(console: Console, section: Section) -> None:
    for chart in section.charts:
        for name, spark, span in chart_lines(chart):
            title = chart.title if len(chart.series) == 1 else f"{chart.title}, {name}"
            console.print(f"{escape(title)}  {spark}  [dim]{escape(span)}[/dim]")


def _strip(strip: Strip, color: bool) -> Text:
    """In colour the cadences are backgrounds; without it bars part them."""
    whole = sum(segment.tokens for segment in strip.segments) or 1
    line = Text(f"{strip.title}\n")
    if color:
        for segment in strip.segments:
            width = max(1, round(segment.tokens / whole * STRIP_WIDTH))
            line.append(segment.cadence[:width].ljust(width), style=CADENCE_STYLE.get(segment.cadence, "reverse"))
    else:
        line.append(strip_line(strip, STRIP_WIDTH))
    return line.append(f"  {whole:,} tokens")


def _advice(console: Console, advice: Advice) -> None:
    console.print(f"[bold]{escape(advice.place)}[/bold] {escape(_rules(advice))}  {escape(advice.text)}")
    for line in advice.diff.splitlines():
        style = "green" if line.startswith("+") else "red" if line.startswith("-") else "dim"
        console.print(Text(f"  {line}", style=style))


def _rules(advice: Advice) -> str:
    other = advice.source_rule not in {"", advice.rule}
    return f"{advice.rule} (in the source {advice.source_rule})" if other else advice.rule


def _prices(console: Console, report: Report) -> None:
    if not report.prices:
        return
    console.print()
    console.rule("[bold]Prices", align="left")
    drawn = RichTable(
        box=None, header_style="bold", pad_edge=False, title="USD per million tokens", title_justify="left"
    )
    for label in ("Model", "Tier", "Input", "Read", "Write 5 min", "Write 1 h", "Output", "Source", "State"):
        drawn.add_column(label, justify="right" if label in {"Input", "Read", "Output"} else "left", overflow="fold")
    for line in report.prices:
        amounts = (line.input_usd, line.read_usd, line.write_5m_usd, line.write_1h_usd, line.output_usd)
        model = f"{line.provider} {line.model}"
        drawn.add_row(escape(model), line.tier, *(f"{amount:g}" for amount in amounts), escape(line.source), line.date)
    console.print(drawn)
