"""A call that leaves a switch at its default, or hands over a constant, goes one way through the function's conditions."""

from __future__ import annotations

import pytest
from linter_reading import RULES, changing, read

HEAD = f"from datetime import datetime\nRULES = {RULES!r}\n"
BY_SWITCH = (
    "def head(text, stamped=False):\n    if stamped:\n        return f'{datetime.now()} ' + text\n    return text\n"
    "def ask(client, q):\n    return client.chat.completions.create(model='m', max_tokens=9, messages=[\n"
    "        {'role': 'system', 'content': %s}, {'role': 'user', 'content': q}])\n"
)
BY_STAGE = (
    "def head(stage):\n    if stage == 'draft':\n        return RULES\n    return f'{datetime.now()} ' + RULES\n"
    "def ask(client, q):\n    return client.chat.completions.create(model='m', max_tokens=9, messages=[\n"
    "        {'role': 'system', 'content': %s}, {'role': 'user', 'content': q}])\n"
)
BY_CHOICE = (
    "def head(kind=None):\n    return RULES if kind is None else f'{datetime.now()} ' + RULES\n"
    "def ask(client, q):\n    return client.chat.completions.create(model='m', max_tokens=9, messages=[\n"
    "        {'role': 'system', 'content': %s}, {'role': 'user', 'content': q}])\n"
)
CALLS = {
    "a switch that is on": (BY_SWITCH, "head(RULES, stamped=True)", True),
    "a switch by position": (BY_SWITCH, "head(RULES, True)", True),
    "a switch that a variable sets": (BY_SWITCH, "head(RULES, stamped=q == '')", True),
    "a switch left at its default": (BY_SWITCH, "head(RULES)", False),
    "a switch that is off": (BY_SWITCH, "head(RULES, stamped=False)", False),
    "another stage": (BY_STAGE, "head('final')", True),
    "a stage that is not known": (BY_STAGE, "head(q)", True),
    "the stage without a clock": (BY_STAGE, "head('draft')", False),
    "a choice": (BY_CHOICE, "head('now')", True),
    "no choice": (BY_CHOICE, "head()", False),
}


@pytest.mark.parametrize(("code", "call", "stamped"), CALLS.values(), ids=CALLS)
def test_a_condition_that_a_call_decides_goes_one_way(code: str, call: str, stamped: bool) -> None:
    unit = read(HEAD + code % call)

    sent = [prompt for prompt in unit.prompts if prompt.complete]
    assert sent
    assert stamped == any(
        s.cadence is not None and str(s.origin) == "clock" for prompt in sent for s in prompt.segments
    )


def test_a_switch_that_is_assigned_to_is_not_decided_by_its_default() -> None:
    unit = read(
        HEAD + "def head(client, q, first=True):\n    text = RULES\n    for _ in range(3):\n        if first:\n"
        "            text = RULES + ' Begin.'\n        else:\n            text = f'{datetime.now()} ' + RULES\n"
        "        first = q.pop()\n    client.chat.completions.create(model='m', max_tokens=9, "
        "messages=[{'role': 'system', 'content': text}])\n"
        "def ask(client, q):\n    head(client, q)\n"
    )

    assert "clock/call" in changing(unit)
