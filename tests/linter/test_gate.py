"""The gate turns away what cannot hold a prompt, and nothing else."""

from __future__ import annotations

import pytest

from promptlint_linter.gate import may_hold_prompt

HOLDING = {
    "a message": 'x = [{"role": "user", "content": y}]',
    "an SDK": "client.chat.completions.create(model=m)",
    "a prompt's name": "SYSTEM_PROMPT = load()",
    "an instruction": "text = 'You are a clerk.'",
    "a retriever": "store.as_retriever()",
}


@pytest.mark.parametrize("text", HOLDING.values(), ids=HOLDING)
def test_what_may_hold_a_prompt_passes(text: str) -> None:
    assert may_hold_prompt(text)
    assert may_hold_prompt(text.encode())


@pytest.mark.parametrize("text", ["", "import os\nprint(os.getcwd())\n", "def add(a, b):\n    return a + b\n"])
def test_other_code_is_turned_away(text: str) -> None:
    assert not may_hold_prompt(text)
