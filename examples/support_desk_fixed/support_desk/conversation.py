"""The conversation with a customer, turn by turn."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from support_desk.clients import ANTHROPIC_MODEL, anthropic_client
from support_desk.shop import Customer

POLICY = (Path(__file__).parent / "prompts" / "policy.md").read_text(encoding="utf-8")
MOST_MESSAGES, MESSAGES_KEPT = 60, 20


def introduction(customer: Customer) -> str:
    """Who is served, told once, at the beginning of the conversation."""
    return f"{customer.name} ({customer.email}) writes in {customer.language}, on {date.today():%A, %d %B %Y}."


class Conversation:
    """One customer's conversation; the history grows with every turn and is cut in large, rare steps."""

    def __init__(self, customer: Customer) -> None:
        self.introduction = introduction(customer)
        self.history: list[dict[str, str]] = []

    def ask(self, text: str) -> str:
        """The desk's answer to the customer's next message."""
        if not self.history:
            text = f"{self.introduction}\n\n{text}"
        elif len(self.history) >= MOST_MESSAGES:
            self.history = self.history[-MESSAGES_KEPT:]
        self.history.append({"role": "user", "content": text})
        reply = anthropic_client().messages.create(
            model=ANTHROPIC_MODEL,
            max_tokens=600,
            system=[{"type": "text", "text": POLICY, "cache_control": {"type": "ephemeral"}}],
            messages=self.history,
            extra_body={"cache_control": {"type": "ephemeral"}},
        )
        answer = "".join(block.text for block in reply.content if block.type == "text")
        self.history.append({"role": "assistant", "content": answer})
        return answer
