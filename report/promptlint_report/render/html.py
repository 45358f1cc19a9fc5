"""The report as one HTML page that needs no network: style, script and charts are inside."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from markupsafe import Markup

from promptlint_core.cadence import Cadence
from promptlint_report.definitions import DEFINITIONS
from promptlint_report.document import Cell, Report, Unit
from promptlint_report.render.charts import draw, draw_strip
from promptlint_report.render.numbers import change, mark, moment, told

if TYPE_CHECKING:
    from jinja2 import Template

_PIECE = re.compile(r"[^/.\]_:]*[/.\]_:]|[^/.\]_:]+")


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


def breakable(text: str) -> Markup:
    """A text that may be broken behind the marks which part a path or a name.

    >>> str(breakable("a/b.py<1>"))
    'a/<wbr>b.<wbr>py&lt;1&gt;'
    """
    return Markup("<wbr>").join(Markup.escape(piece) for piece in _PIECE.findall(text))


def code_spans(text: str) -> Markup:
    """A text with what stands between backquotes as code.

    >>> str(code_spans("move `a<b` there"))
    'move <code>a&lt;b</code> there'
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return Markup.escape(text)
    shown = (Markup("<code>{}</code>").format(part) if place % 2 else part for place, part in enumerate(parts))
    return Markup("").join(shown)


@cache
def _template() -> Template:
    import jinja2

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"mark": mark, "change": change, "draw": draw, "strip": draw_strip, "sort_key": sort_key}
    environment.filters |= {"breakable": breakable, "code_spans": code_spans, "moment": moment}
    environment.globals["told"] = told
    return environment.from_string(_read("report.html.jinja"))


def _read(name: str) -> str:
    return resources.files("promptlint_report").joinpath(f"render/page/{name}").read_text(encoding="utf-8")
