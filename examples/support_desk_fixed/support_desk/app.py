"""The HTTP service: uvicorn support_desk.app:app"""

from __future__ import annotations

from fastapi import FastAPI
from pydantic import BaseModel

from support_desk import agent, digest, shop, triage
from support_desk.conversation import Conversation

app = FastAPI(title="Support desk")
conversations: dict[int, Conversation] = {}


class Message(BaseModel):
    text: str


def ticket_of(number: int) -> shop.Ticket:
    return next(ticket for ticket in shop.load_tickets() if ticket.number == number)


@app.post("/tickets/{number}/label")
def label(number: int) -> dict[str, str]:
    return {"label": triage.triage(ticket_of(number))}


@app.post("/tickets/{number}/messages")
def message(number: int, body: Message) -> dict[str, str]:
    conversation = conversations.setdefault(number, Conversation(ticket_of(number).customer))
    return {"answer": conversation.ask(body.text)}


@app.post("/orders/work")
def work(body: Message) -> dict[str, str]:
    return {"answer": agent.work_on(body.text)}


@app.get("/digest")
def daily() -> dict[str, str]:
    return {"report": digest.digest(shop.load_tickets())}
