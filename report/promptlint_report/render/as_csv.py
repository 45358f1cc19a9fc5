"""All figures and all cells of all tables as one long CSV, a value a line: for a spreadsheet or a database."""

from __future__ import annotations

import csv
import io

from promptlint_report.document import Cell, Report, Unit

HEADER = ("week", "section", "table", "row", "name", "id", "value", "unit", "basis", "last_week", "price")


def render(report: Report) -> str:
    """Unknown is empty. Figures have no table and no row; rows of a table count from 1."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(HEADER)
    for section in report.sections:
        for figure in section.figures:
            writer.writerow(
                (
                    report.week,
                    section.id,
                    "",
                    "",
                    safe(figure.label),
                    figure.id,
                    _value(figure.value),
                    figure.unit,
                    figure.basis,
                    _value(figure.before),
                    safe(figure.price),
                )
            )
        for table in section.tables:
            for number, row in enumerate(table.rows, 1):
                name = " / ".join(
                    str(cell)
                    for cell, column in zip(row, table.columns, strict=True)
                    if column.unit is Unit.TEXT and column.basis is None and cell is not None
                )
                for cell, column in zip(row, table.columns, strict=True):
                    if column.unit is Unit.TEXT and column.basis is None:
                        continue
                    price = table.price if column.unit is Unit.USD else ""
                    writer.writerow(
                        (
                            report.week,
                            section.id,
                            table.id,
                            number,
                            safe(name),
                            column.id,
                            _value(cell),
                            column.unit,
                            column.basis or "",
                            "",
                            safe(price),
                        )
                    )
    return out.getvalue()


def safe(text: str) -> str:
    """A text that no spreadsheet takes for a formula: labels come from clients.

    >>> safe("=1+1"), safe("/chat")
    ("'=1+1", '/chat')
    """
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text


def _value(cell: Cell) -> str:
    if cell is None:
        return ""
    return safe(cell) if isinstance(cell, str) else repr(cell)
