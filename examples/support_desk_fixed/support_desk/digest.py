"""The summary of the day for the manager."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

import yaml
from jinja2 import Template

from support_desk.clients import OPENAI_MODEL, openai_client
from support_desk.shop import Ticket

HERE = Path(__file__).parent / "prompts"
HANDOVER = yaml.safe_load((HERE / "handover.yaml").read_text(encoding="utf-8"))["handover_prompt"]
ESCALATION = Template((HERE / "escalation.j2").read_text(encoding="utf-8"))

DIGEST_PROMPT = (
    "You write the daily report of a support desk for a manager who has two minutes. Begin with the one thing that "
    "has to be decided today. Then three numbers: tickets opened, tickets closed, tickets older than three days. Then "
    "what customers complained of more than twice, in order of frequency, with one ticket number each as an example. "
    "No adjectives, no praise, no outlook. At most a hundred and fifty words.\n\n"
    "Day and tickets:\n%s\n%s"
)


def digest(tickets: list[Ticket]) -> str:
    """The report of the day."""
    lines = "\n".join(f"{ticket.number}: {ticket.subject}" for ticket in tickets)
    prompt = DIGEST_PROMPT % (date.today().isoformat(), lines)
    reply = openai_client().responses.create(model=OPENAI_MODEL, input=prompt, max_output_tokens=500)
    return reply.output_text


def hand_over(user_name: str, session_id: str, tickets: list[Ticket]) -> str:
    """What the next shift has to know."""
    lines = "\n".join(f"{ticket.number}: {ticket.subject}" for ticket in tickets)
    prompt = HANDOVER.format(user_name=user_name, session_id=session_id, tickets=lines)
    reply = openai_client().responses.create(model=OPENAI_MODEL, input=prompt, max_output_tokens=900)
    return reply.output_text


def escalate(request_id: str, customer_name: str, transcript: str) -> str:
    """The note with which a ticket is passed on."""
    names = {"request_id": request_id, "customer_name": customer_name, "transcript": transcript}
    prompt = ESCALATION.render(now=datetime.now, **names)
    reply = openai_client().responses.create(model=OPENAI_MODEL, input=prompt, max_output_tokens=300)
    return reply.output_text
