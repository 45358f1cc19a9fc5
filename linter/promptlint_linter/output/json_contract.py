"""The JSON contract, version 1: new fields may come, none goes or changes its meaning."""

from __future__ import annotations

import json
from dataclasses import asdict

from promptlint_linter.check import Outcome
from promptlint_linter.reported import to_json

VERSION = 1


def render(outcome: Outcome) -> str:
    data = {
        "version": VERSION,
        "findings": [to_json(finding) for finding in outcome.findings],
        "summary": asdict(outcome.summary),
    }
    return json.dumps(data, indent=1, ensure_ascii=False)
