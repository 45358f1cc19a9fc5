"""KV105."""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptlint_core.cadence import Origin
from promptlint_core.names import words_of
from promptlint_core.prompt import Prompt, Segment
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.order.law import finding, is_instruction, violations
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import leading, of_pair

_SHARED_BY_MANY = frozenset({"language", "lang", "locale", "timezone", "tz", "country", "currency"})
"""A value of few kinds: those who have the same one share what follows it."""
_OF_AGENTS = re.compile(r"(?i)\b(?:agents?|team|subagents?|delegat\w+)\b")


class IdentityFirst(Rule):
    """A user's or session's identity stands ahead of shared text.

    ## What it does
    Finds names, ids and mail addresses of a user, tenant or session in system text with at least 32 tokens of
    shared text behind them.

    ## Why it costs
    The text behind the identity is the same for all users, yet no two users share it in the cache: each one pays
    for the rules once more.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You book meeting rooms. Ask for the number of people and the length of the meeting. Offer three "
        "rooms at most, the nearest first. Confirm floor, room and time in one line. "
        "Never book two rooms for one meeting."
    )

    def ask(user_name: str, question: str) -> str:
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": f"You are talking to {user_name}. {RULES}"},
                {"role": "user", "content": question},
            ],
            max_tokens=300,
        )
        return reply.choices[0].message.content
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You book meeting rooms. Ask for the number of people and the length of the meeting. Offer three "
        "rooms at most, the nearest first. Confirm floor, room and time in one line. "
        "Never book two rooms for one meeting."
    )

    def ask(user_name: str, question: str) -> str:
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": RULES},
                {"role": "user", "content": f"{question} (asked by {user_name})"},
            ],
            max_tokens=300,
        )
        return reply.choices[0].message.content
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "You help the member Ines Albrecht."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Where is it?"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "You help the member Pavel Dvorak."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Where is it?"}]}}
    ```

    ## Limits
    Names are judged, not values: a parameter called `user_name` is taken for one. A language, a country or a time zone
    is told as information: many users have the same one. So is a member of a team of agents.
    """

    id = "KV105"
    severity = Severity.WARNING

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        for violation in violations(prompt, Origin.IDENTITY):
            segment = violation.segment
            if not is_instruction(segment):
                continue
            yield finding(
                type(self),
                prompt,
                violation,
                message=f"`{segment.expression}` belongs to one {segment.cadence}, ahead of {violation.behind}",
                advice="put the shared text first and what belongs to one user at its end or in the first message",
                severity=Severity.INFO if _is_of_many(prompt, segment) else None,
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in leading(traffic, Kind.IDENTITY):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: who is served (user, tenant or session) stands ahead of "
                f"{pair.behind_tokens:,} tokens that all of them share",
            )


def _is_of_many(prompt: Prompt, segment: Segment) -> bool:
    """Whether many users have the same value, or it names an agent: a member of a team that a text tells of."""
    words = words_of(segment.expression)
    if _SHARED_BY_MANY.intersection(words[-1:]):
        return True
    return "member" in words and any(other.text and _OF_AGENTS.search(other.text) for other in prompt.segments)
