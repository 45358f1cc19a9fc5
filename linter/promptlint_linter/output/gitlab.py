"""GitLab's code quality report, a subset of the Code Climate format."""

from __future__ import annotations

import json

from promptlint_linter.check import Outcome
from promptlint_rules.base import Severity

LEVELS = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(outcome: Outcome) -> str:
    issues = [
        {
            "description": finding.message,
            "check_name": f"{finding.rule} {finding.name}",
            "fingerprint": finding.fingerprint,
            "severity": LEVELS[finding.severity],
            "location": {"path": finding.path, "lines": {"begin": finding.line, "end": finding.end_line}},
        }
        for finding in outcome.findings
    ]
    return json.dumps(issues, indent=1, ensure_ascii=False)
