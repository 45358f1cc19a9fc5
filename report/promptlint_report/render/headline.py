"""The few lines that fit into a chat message or a mail: what it cost, what was missed, which lines to change."""

from __future__ import annotations

from dataclasses import dataclass

from promptlint_report.document import Figure, Report
from promptlint_report.render.numbers import change, mark, told

FIGURES = (
    "spend",
    "projection_month",
    "budget_used",
    "requests",
    "reported_hit_rate",
    "predicted_hit_rate",
    "saved",
    "missed_usd",
    "unbounded_usd",
    "ttft_p95",
    "itl_p95",
    "preemption_risk",
    "failed_share",
    "faults_new",
    "faults_worse",
    "anomalies",
)
MOST_FAULTS = 5


@dataclass(frozen=True, slots=True)
class Headline:
    title: str
    summary: str
    figures: tuple[tuple[str, str], ...]
    """(label, value with basis and change)."""
    faults: tuple[str, ...]
    left_out: tuple[str, ...]


def headline(report: Report) -> Headline:
    known = {figure.id: figure for _, figure in report.figures()}
    figures = tuple((known[name].label, _told(known[name])) for name in FIGURES if name in known)
    left_out = tuple(left.sentence for left in report.left_out)
    return Headline(f"promptlint report {report.week}", report.summary, figures, _faults(report), left_out)


def _told(figure: Figure) -> str:
    moved = change(figure)
    return f"{told(figure.value, figure.unit)} ({mark(figure.basis)}{', ' + moved if moved else ''})"


def _faults(report: Report) -> tuple[str, ...]:
    try:
        table = report.table("missed")
    except KeyError:
        return ()
    names = [column.id for column in table.columns]
    lines = []
    for row in table.rows[:MOST_FAULTS]:
        cells = {name: told(cell, column.unit) for name, cell, column in zip(names, row, table.columns, strict=True)}
        where = row[names.index("source_line")] or f"{cells['wire_path']} of group {cells['prompt_group']}"
        lines.append(f"{cells['rule']} at {where}: {cells['missed_usd']}, {cells['missed_tokens']} tokens")
    return tuple(lines)
