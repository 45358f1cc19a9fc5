"""What the desk knows of tickets, customers and orders."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parent.parent / "data"


@dataclass(frozen=True)
class Customer:
    name: str
    email: str
    language: str = "English"


@dataclass(frozen=True)
class Ticket:
    number: int
    customer: Customer
    subject: str
    body: str


def load_tickets() -> list[Ticket]:
    rows = json.loads((DATA / "tickets.json").read_text(encoding="utf-8"))
    return [Ticket(row["number"], Customer(**row["customer"]), row["subject"], row["body"]) for row in rows]


def load_order(number: str) -> dict[str, object]:
    orders = json.loads((DATA / "orders.json").read_text(encoding="utf-8"))
    return orders.get(number, {"error": f"no order {number}"})


def find_articles(words: str, most: int) -> list[str]:
    """The articles that share most words with a question, best first."""
    asked = set(words.lower().split())
    texts = [path.read_text(encoding="utf-8") for path in sorted((DATA / "articles").glob("*.md"))]
    return sorted(texts, key=lambda text: -len(asked & set(text.lower().split())))[:most]
