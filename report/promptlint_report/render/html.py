"""The report as one HTML page that needs no network: style, script and charts are inside."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from promptlint_core.cadence import Cadence
from promptlint_report.definitions import DEFINITIONS
from promptlint_report.document import Cell, Report, Unit
from promptlint_report.render.charts import draw, draw_strip
from promptlint_report.render.numbers import change, mark, told

if TYPE_CHECKING:
    from jinja2 import Template


def render(report: Report) -> str:
    page = _template().render(
        report=report,
        cadences=[str(cadence) for cadence in Cadence],
        definitions=_used(report),
        style=_read("report.css"),
        script=_read("report.js"),
        text=Unit.TEXT,
    )
    return page.rstrip("\n") + "\n"


def _used(report: Report) -> dict[str, str]:
    """Definitions of what the page shows, in the order of the table."""
    shown = {figure.id for _, figure in report.figures()}
    for section in report.sections:
        shown |= {column.id for table in section.tables for column in table.columns}
    return {name: meaning for name, meaning in DEFINITIONS.items() if name in shown}


def sort_key(cell: Cell) -> str:
    """What the page's script sorts by: numbers as they are, text in lower case, unknown last."""
    if cell is None:
        return ""
    return cell.lower() if isinstance(cell, str) else repr(cell)


@cache
def _template() -> Template:
    import jinja2

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"mark": mark, "change": change, "draw": draw, "strip": draw_strip, "sort_key": sort_key}
    environment.globals["told"] = told
    return environment.from_string(_read("report.html.jinja"))


def _read(name: str) -> str:
    return resources.files("promptlint_report").joinpath(f"render/page/{name}").read_text(encoding="utf-8")
