"""Drives the example application, as its users would: run as a process of its own, with the application's folder.

Nothing of promptlint is imported here.
"""

# pyright: reportMissingImports=false
# The application is on the path of this process alone.

from __future__ import annotations

import os
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


def main(part: int) -> None:
    """Work once for each line of standard input: the application's folder, a tab, the address of the providers.

    `part` 0 or 1: two workers of the service share the day's work.
    """
    # The clients take seconds to import: before there is work.
    import anthropic  # noqa: F401
    import openai  # noqa: F401

    for line in sys.stdin:
        folder, _, base_url = line.rstrip("\n").partition("\t")
        os.environ |= {"OPENAI_BASE_URL": f"{base_url}/v1", "ANTHROPIC_BASE_URL": base_url}
        sys.path.insert(0, folder)
        work(part)
        sys.path.remove(folder)
        for name in [name for name in sys.modules if name.partition(".")[0] == "support_desk"]:
            del sys.modules[name]
        sys.stdout.write("done\n")
        sys.stdout.flush()


def work(part: int) -> None:
    """The day's work with the application that is on the path."""
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
    main(int(sys.argv[1]))
