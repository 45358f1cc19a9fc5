"""The conversation with a customer, turn by turn."""

from __future__ import annotations

import uuid
from datetime import datetime
from pathlib import Path

from support_desk.clients import ANTHROPIC_MODEL, anthropic_client
from support_desk.shop import Customer

POLICY = (Path(__file__).parent / "prompts" / "policy.md").read_text(encoding="utf-8")
TURNS_KEPT = 8


def system_prompt(customer: Customer) -> str:
    """Who is served, and how the desk works."""
    now = datetime.now().strftime("%A, %d %B %Y, %H:%M:%S")  # fault: KV101
    return (
        f"Time: {now}\n"
        f"Reference: {uuid.uuid4()}\n"  # fault: KV104
        f"Customer: {customer.name}, {customer.email}, writes in {customer.language}\n\n"  # fault: KV105
        f"{POLICY}"
    )


class Conversation:
    """One customer's conversation; the history grows with every turn."""

    def __init__(self, customer: Customer) -> None:
        self.customer = customer
        self.history: list[dict[str, str]] = []

    def ask(self, text: str) -> str:
        """The desk's answer to the customer's next message."""
        self.history.append({"role": "user", "content": text})
        reply = anthropic_client().messages.create(
            model=ANTHROPIC_MODEL,
            max_tokens=600,
            system=[
                {
                    "type": "text",
                    "text": system_prompt(self.customer),
                    "cache_control": {"type": "ephemeral"},  # fault: KV401
                }
            ],
            messages=self.history[-TURNS_KEPT:],  # fault: KV301
        )
        answer = "".join(block.text for block in reply.content if block.type == "text")
        self.history.append({"role": "assistant", "content": answer})
        return answer
