"""The report as versioned JSON: every number with its unit, basis and price source."""

from __future__ import annotations

import json
from dataclasses import asdict

from promptlint_report.document import Report


def render(report: Report) -> str:
    """Unknown is null. Column order and row order are those of the report."""
    whole = asdict(report)
    version = whole.pop("version")
    whole.pop("charges")
    return json.dumps({"version": version, **whole}, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
