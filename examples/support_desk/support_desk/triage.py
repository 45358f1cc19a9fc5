"""The label of a new ticket."""

from __future__ import annotations

import random

from support_desk.clients import OPENAI_MODEL, openai_client
from support_desk.shop import Ticket

LABELS = {"billing", "delivery", "returns", "plants", "furniture", "lead", "other"}

EXAMPLES = [
    "The parcel came open and two pots are broken. -> delivery",
    "Please send the invoice again, with our tax number. -> billing",
    "My olive tree loses its leaves since November. -> plants",
    "I want to give the bench back, it is too wide. -> returns",
    "One screw is missing from the table. -> furniture",
    "I am writing for the evening paper. -> lead",
]

TRIAGE_PROMPT = """The ticket: {query}

You sort the mail of a garden shop. Answer with exactly one label in lower case and nothing else.
The labels are: {labels}.

- billing: invoices, charges, vouchers, tax numbers.
- delivery: parcels that are late, lost, open or at the wrong address.
- returns: anything that a customer wants to give back or be paid back for.
- plants: advice on plants, and plants that fail.
- furniture: assembly, missing parts and spare parts.
- lead: threats, the press, lawyers and authorities.
- other: everything else, and what fits two labels equally well.

Examples:
{examples}
"""


def triage(ticket: Ticket) -> str:
    """The label of a ticket."""
    return label_of(ticket.subject, ticket.body)


def label_of(query: str, body: str) -> str:
    """The label of a mail with this subject and text."""
    shots = "\n".join(random.sample(EXAMPLES, 4))  # fault: KV208
    labels = ", ".join(LABELS)  # fault: KV205
    system = TRIAGE_PROMPT.format(query=query, labels=labels, examples=shots)  # fault: KV110
    reply = openai_client().chat.completions.create(
        model=OPENAI_MODEL,
        messages=[{"role": "system", "content": system}, {"role": "user", "content": body}],
        max_completion_tokens=32768,  # fault: KV502
    )
    return (reply.choices[0].message.content or "other").strip()
