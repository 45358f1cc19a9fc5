"""Text that is put together like a prompt and goes somewhere else is none; the same text that is sent stays one."""

from __future__ import annotations

import pytest
from linter_reading import read


@pytest.mark.parametrize(
    ("use", "prompts"),
    [
        ("return input(prompt)", 0),
        ("return prompt.splitlines()", 0),
        ("return prompt", 1),
        ("return self.ask(prompt)", 1),
        ("return self.input(prompt)", 1),
        ("return self.ask(prompt) or len(prompt.split())", 1),
    ],
)
def test_texts_for_people_are_no_prompts(use: str, prompts: int) -> None:
    unit = read(
        f'''
        class Player:
            def play(self, question):
                prompt = f"""Question: {{question}}. <RULES>"""
                {use}
        '''
    )

    assert len(unit.prompts) == prompts
