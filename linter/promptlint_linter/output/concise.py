"""One line a finding, in the form that editors and compilers share."""

from __future__ import annotations

from promptlint_linter.check import Outcome
from promptlint_linter.output.characters import on_one_line


def render(outcome: Outcome) -> str:
    return "\n".join(
        on_one_line(f"{f.path}:{f.line}:{f.column}: {f.severity.value} {f.rule} [{f.name}] {f.message}")
        for f in outcome.findings
    )
