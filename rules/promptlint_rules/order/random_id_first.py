"""KV104."""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptlint_core.cadence import Origin
from promptlint_core.prompt import Prompt
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.order.law import finding, violations
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import across, behind, leading, of_pair

_FENCE = re.compile(r"(?i)\b(?:nonces?|untrusted|delimiters?|boundary (?:token|marker|tag)s?)\b")
_KEPT = "where none is kept"
_ADVICE_ON_FENCES = "a fence around untrusted text is meant to be new: put it, and what it encloses, behind the rules"


class RandomIdFirst(Rule):
    """A random id stands ahead of stable text.

    ## What it does
    Finds values that are new on every call (uuid1 and uuid4, secrets, os.urandom, getrandbits, temporary names,
    `id()`, `hash()` of a string) in system text, in a tool's name or description, or in an early message.

    ## Why it costs
    No two requests share a byte behind the id, so the cache is written again and again and never read. An id is
    of use to a log or a header, not to the model.

    ## Example
    ```python
    import uuid

    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You book meeting rooms. Ask for the number of people and the length of the meeting. Offer three "
        "rooms at most, the nearest first. Confirm floor, room and time in one line. "
        "Never book two rooms for one meeting."
    )

    def ask(question: str) -> str:
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": f"[request {uuid.uuid4()}] {RULES}"},
                {"role": "user", "content": question},
            ],
            max_tokens=300,
        )
        return reply.choices[0].message.content
    ```

    ## Use instead
    ```python
    import uuid

    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You book meeting rooms. Ask for the number of people and the length of the meeting. Offer three "
        "rooms at most, the nearest first. Confirm floor, room and time in one line. "
        "Never book two rooms for one meeting."
    )

    def ask(question: str) -> str:
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": RULES},
                {"role": "user", "content": question},
            ],
            max_tokens=300,
            extra_headers={"x-request-id": str(uuid.uuid4())},
        )
        return reply.choices[0].message.content
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "Run 7f3c1d9e-51b0-4d0e-9d0a-6a1c2f7e8b10."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "Where is it?"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "Run b81e02aa-0c55-4f7d-8b46-90d1c33a7e52."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "system", "content": "When a book is lent out, offer the nearest branch that still has it."},
      {"role": "user", "content": "And now?"}]}}
    ```

    ## Limits
    An id derived from content (uuid5, a digest) is not random. A value that only its name speaks for
    (`request_id`) is told as a warning. A random mark that encloses untrusted text is meant to be new each time and is
    told as information, and so is one that is made only where none is kept (`stored_id or new_id()`).
    """

    id = "KV104"
    severity = Severity.ERROR

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        for violation in violations(prompt, Origin.RANDOM):
            segment = violation.segment
            fence = _is_fence(prompt)
            yield finding(
                type(self),
                prompt,
                violation,
                message=f"`{segment.expression}` is new on every call, ahead of {violation.behind}",
                advice=_ADVICE_ON_FENCES if fence else "send it as a header or as metadata; the model does not need it",
                severity=Severity.INFO if fence or _KEPT in segment.detail else None,
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in leading(traffic, Kind.RANDOM):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: a random value ({pair.detail}) changes {across(pair)}; {behind(pair)}",
                shape=pair.detail,
            )


def _is_fence(prompt: Prompt) -> bool:
    """Whether a text says that what it encloses is not to be trusted: its marks must not be guessed."""
    return any(segment.text is not None and _FENCE.search(segment.text) for segment in prompt.segments)
