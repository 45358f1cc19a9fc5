"""Drives the example application, as its users would: run as a process of its own, with the application's folder.

The clients' addresses are in the environment; nothing of promptlint is imported here.
"""

# pyright: reportMissingImports=false
# The application is on the path of this process alone.

from __future__ import annotations

import sys

QUESTIONS = (
    "When will my parcel arrive?",
    "And if nobody is at home?",
    "Can you put it at the neighbour's door?",
    "Thank you. One more thing: how much water does the olive tree need?",
)
TASKS = (
    "Change the address of order 88213 to 4 Mill Lane.",
    "Find out why order 88214 was charged twice.",
    "Look up what the shop says on oleander in winter.",
)


def main(folder: str, part: int) -> None:
    """`part` 0 or 1: two workers of the service share the day's work."""
    sys.path.insert(0, folder)
    from support_desk import agent, digest, shop, triage
    from support_desk.conversation import Conversation

    tickets = shop.load_tickets()
    for ticket in tickets:
        triage.triage(ticket)
    for ticket in tickets[part::2]:
        conversation = Conversation(ticket.customer)
        for question in QUESTIONS:
            conversation.ask(question)
    for task in TASKS[part::2]:
        agent.work_on(task)
    for _ in range(2):
        digest.digest(tickets)
    for ticket in tickets[:3]:
        chat_widget(ticket.customer)


def chat_widget(customer: object) -> None:
    """The same conversation as a browser has it: streamed."""
    from support_desk import clients, conversation

    # The fixed application has no system prompt for each customer.
    prompt_of = getattr(conversation, "system_prompt", None)
    system = prompt_of(customer) if prompt_of else conversation.POLICY
    asked = {"model": clients.ANTHROPIC_MODEL, "max_tokens": 200, "system": system}
    for question in QUESTIONS[:2]:
        messages = [{"role": "user", "content": question}]
        with clients.anthropic_client().messages.stream(messages=messages, **asked) as stream:
            stream.get_final_text()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
