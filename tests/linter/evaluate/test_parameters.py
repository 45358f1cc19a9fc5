"""What a parameter's name says, and what its type takes back."""

from __future__ import annotations

import pytest
from linter_reading import RULES, changing, read

TYPES = {
    "no type": ("task", "task[0]", True),
    "a text": ("task: str", "f'{task} '", True),
    "a text or nothing": ("task: str | None = None", "f'{task} '", True),
    "messages": ("task: list[Message]", "task[0]", False),
    "messages or nothing": ("task: Optional[List[Message]] = None", "task[0]", False),
}


@pytest.mark.parametrize(("parameter", "value", "is_task"), TYPES.values(), ids=TYPES)
def test_a_part_of_a_list_named_task_is_no_task(parameter: str, value: str, is_task: bool) -> None:
    unit = read(
        f"RULES = {RULES!r}\ndef ask(client, {parameter}):\n    head = {value}\n"
        "    client.chat.completions.create(model='m', max_tokens=9,\n"
        "        messages=[{'role': 'system', 'content': head + RULES}])\n"
    )

    assert is_task == ("task/turn" in changing(unit))
