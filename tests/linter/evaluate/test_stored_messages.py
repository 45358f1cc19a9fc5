"""What a stored message holds is the same in each later request, whatever its parts are named."""

from __future__ import annotations

import pytest
from linter_reading import changing, read


@pytest.mark.parametrize(
    ("iterated", "part", "expected"),
    [
        ("chat_history", "turn.context", []),
        ("chat_history", "turn['question']", []),
        ("self.messages", "turn.current_time", []),
        ("conversation_history", "turn.retrieved_docs", []),
        ("passages", "turn.context", ["retrieval/turn"]),
        ("open_tickets", "turn['question']", ["task/turn"]),
        ("open_tickets", "context", ["retrieval/turn"]),
        ("chat_history", "context", ["retrieval/turn"]),
    ],
)
def test_parts_of_a_stored_message_do_not_change(iterated: str, part: str, expected: list[str]) -> None:
    unit = read(
        f'''
        class Agent:
            def ask(self, chat_history, conversation_history, passages, open_tickets, context):
                prompt = ""
                for turn in {iterated}:
                    prompt += f"What was said: {{{part}}}"
                prompt += """<RULES>"""
                return prompt
        '''
    )

    assert [told for told in changing(unit) if not told.startswith("history")] == expected
