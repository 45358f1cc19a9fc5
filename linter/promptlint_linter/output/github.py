"""Annotations that GitHub Actions shows beside the lines of a pull request."""

from __future__ import annotations

from promptlint_linter.check import Outcome
from promptlint_linter.output.characters import without_control
from promptlint_linter.reported import Reported
from promptlint_rules.base import Severity

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(outcome: Outcome) -> str:
    return "\n".join(map(_annotation, outcome.findings))


def _annotation(finding: Reported) -> str:
    properties = {
        "file": finding.path,
        "line": finding.line,
        "endLine": finding.end_line,
        "title": f"{finding.rule} {finding.name}",
    }
    if finding.end_line == finding.line:  # GitHub shows no columns over several lines
        properties |= {"col": finding.column, "endColumn": finding.end_column}
    told = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    message = finding.message + (f". Help: {finding.advice}." if finding.advice else "")
    return f"::{COMMANDS[finding.severity]} {told}::{_data(message)}"


def _data(text: str) -> str:
    text = without_control(text)
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
