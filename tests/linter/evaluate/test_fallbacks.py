"""An id that is made only where none is kept is told quietly; one that is made each time is not."""

from __future__ import annotations

import pytest
from linter_reading import RULES, read

from promptlint_rules.base import Severity
from promptlint_rules.order.random_id_first import RandomIdFirst

IDS = {
    "each time": ("f'id_{uuid4()}'", Severity.ERROR),
    "where none is kept": ("part.id or f'id_{uuid4()}'", Severity.INFO),
    "where none is kept, plain": ("part.id or uuid4()", Severity.INFO),
    "for nothing": ("None or uuid4()", Severity.ERROR),
}


@pytest.mark.parametrize(("made", "severity"), IDS.values(), ids=IDS)
def test_an_id_that_is_made_where_none_is_kept_is_told_quietly(made: str, severity: Severity) -> None:
    unit = read(
        f"from uuid import uuid4\nRULES = {RULES!r}\ndef ask(client, part):\n    name = {made}\n"
        "    client.chat.completions.create(model='m', max_tokens=9,\n"
        "        messages=[{'role': 'system', 'content': f'{name} {RULES}'}])\n"
    )

    found = [finding.severity for prompt in unit.prompts for finding in RandomIdFirst().check_prompt(prompt)]
    assert {severity} == set(found)
