"""The folder that a program works in: read once for an object it stays; read for each call it is told."""

from __future__ import annotations

import pytest
from linter_reading import RULES, read

from promptlint_rules.base import Severity
from promptlint_rules.order.environment_first import EnvironmentFirst

SENT = "client.chat.completions.create(model='m', max_tokens=9, messages=[{'role': 'system', 'content': %s + RULES}])\n"
READINGS = {
    "for each call": (
        "def ask(client):\n    root = Path.cwd()\n    " + SENT % "f'You work in {root}. '",
        Severity.WARNING,
    ),
    "for an object": (
        "class Desk:\n    def __init__(self, root=None):\n        self.root = Path.cwd() if root is None else root\n"
        "    def ask(self, client):\n        " + SENT % "f'You work in {self.root}. '",
        Severity.INFO,
    ),
}


@pytest.mark.parametrize(("code", "severity"), READINGS.values(), ids=READINGS)
def test_the_working_folder_is_told_quietly_where_it_is_read_once(code: str, severity: Severity) -> None:
    unit = read(f"from pathlib import Path\nRULES = {RULES!r}\n{code}")

    assert [severity] == [
        found.severity for prompt in unit.prompts for found in EnvironmentFirst().check_prompt(prompt)
    ]
