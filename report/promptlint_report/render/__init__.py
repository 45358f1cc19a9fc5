"""One writer per output format: a finished report in, text out."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from promptlint_report.document import Report

FORMATS = {
    "terminal": "promptlint_report.render.terminal",
    "markdown": "promptlint_report.render.markdown",
    "json": "promptlint_report.render.as_json",
    "csv": "promptlint_report.render.as_csv",
    "focus": "promptlint_report.render.focus",
    "html": "promptlint_report.render.html",
    "slack": "promptlint_report.render.slack",
    "teams": "promptlint_report.render.teams",
    "email": "promptlint_report.render.email_text",
}
"""Name of a format to the module whose `render` writes it."""


def render(report: Report, format_name: str) -> str:
    """The report as text in a format. Raises KeyError for an unknown format."""
    module = import_module(FORMATS[format_name])
    return cast("Callable[[Report], str]", module.render)(report)
