"""The report as Markdown, for a pull request, an issue or a wiki."""

from __future__ import annotations

import re

from promptlint_report.document import Advice, Figure, Report, Section, Table, Unit
from promptlint_report.render.numbers import LEGEND, change, mark, moment, told
from promptlint_report.render.strokes import chart_lines, strip_key, strip_line


def render(report: Report) -> str:
    lines = [f"# promptlint report {report.week}", "", report.summary, ""]
    lines += [f"{moment(report.starts_at)} to {moment(report.ends_at)}, {report.timezone}. {LEGEND}.", ""]
    lines += [f"> {note}\n" for note in report.notes]
    for section in report.sections:
        lines += _section(section)
    if report.prices:
        lines += ["## Prices", "", "USD per million tokens.", ""]
        lines += [
            "| Model | Input | Read | Write 5 min | Write 1 h | Output | Source |",
            "|---|--:|--:|--:|--:|--:|---|",
        ]
        lines += [
            f"| {_cell(f'{p.provider} {p.model} {p.tier}'.strip())} | {p.input_usd:g} | {p.read_usd:g} | "
            f"{p.write_5m_usd:g} | {p.write_1h_usd:g} | {p.output_usd:g} | {_cell(f'{p.source}, {p.date}')} |"
            for p in report.prices
        ]
        lines.append("")
    if report.left_out:
        lines += ["## Left out", ""]
        lines += [f"- {left.sentence}" for left in report.left_out]
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(section: Section) -> list[str]:
    lines = [f"## {section.title}", ""]
    lines += [f"{note}\n" for note in section.notes]
    if section.figures:
        lines += ["| Figure | This week | | Change |", "|---|--:|---|---|"]
        lines += [_figure(figure) for figure in section.figures]
        lines.append("")
    lines += _charts(section)
    lines += _strips(section)
    for table in section.tables:
        lines += _table(table)
    for advice in section.advice:
        lines += _advice(advice)
    return lines


def _charts(section: Section) -> list[str]:
    lines = []
    for chart in section.charts:
        for name, spark, span in chart_lines(chart):
            title = chart.title if len(chart.series) == 1 else f"{chart.title}, {name}"
            lines.append(f"- {_cell(title)} `{spark}` {_cell(span)}")
    return [*lines, ""] if lines else []


def _strips(section: Section) -> list[str]:
    """To scale, in a block of fixed width: bars that are narrower than their text need the line below them."""
    if not section.strips:
        return []
    lines = ["### Prompts to scale", "", "```text"]
    for strip in section.strips:
        whole = sum(segment.tokens for segment in strip.segments)
        title = f"{strip.title}, {whole:,} token{'' if whole == 1 else 's'}"
        lines += [
            text.replace("`", "'").replace("\n", " ") for text in (title, strip_line(strip), f"  {strip_key(strip)}")
        ]
    return [*lines, "```", ""]


def _figure(figure: Figure) -> str:
    note = f" ({figure.note})" if figure.note else ""
    value = told(figure.value, figure.unit)
    return f"| {_cell(figure.label + note)} | {value} | {mark(figure.basis)} | {change(figure)} |"


def _table(table: Table) -> list[str]:
    if not table.rows:
        return []
    heads = [f"{column.label} {mark(column.basis)}".strip() for column in table.columns]
    sides = ["---" if column.unit is Unit.TEXT else "--:" for column in table.columns]
    lines = [f"### {table.title}", "", f"| {' | '.join(heads)} |", f"|{'|'.join(sides)}|"]
    for row in table.rows:
        cells = (_cell(told(cell, column.unit)) for cell, column in zip(row, table.columns, strict=True))
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", *([f"{table.note}", ""] if table.note else [])]


def _advice(advice: Advice) -> list[str]:
    lines = [f"**{_cell(advice.place)}** {_rules(advice)}: {_cell(advice.text)}", ""]
    # A longer fence than any run of backquotes inside keeps the diff one block.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", advice.diff)), default=0))
    return [*lines, f"{fence}diff", advice.diff.rstrip("\n"), fence, ""] if advice.diff else lines


def _rules(advice: Advice) -> str:
    other = advice.source_rule not in {"", advice.rule}
    return f"{advice.rule}, in the source {advice.source_rule}" if other else advice.rule


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
