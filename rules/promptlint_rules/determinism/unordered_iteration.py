"""KV205."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Origin
from promptlint_core.prompt import Part, Prompt
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.order.law import finding, violations
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class UnorderedIteration(Rule):
    """The same items stand in the text in another order.

    ## What it does
    Finds texts of two requests that hold the same lines or list items in different orders: a set, a directory listing
    or a mapping filled concurrently was written into the prompt.

    ## Why it costs
    The content did not change, the bytes did: everything from the first item that moved is computed again.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You are the help desk of a library. Answer in two sentences. Name the shelf of every book you mention. "
        "Never promise a reservation. When a book is lent out, tell the day it comes back and offer the nearest branch."
    )


    def ask(books, question: str):
        shelves = ", ".join({book.shelf for book in books})
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": f"Shelves: {shelves}. {RULES}"},
                {"role": "user", "content": question},
            ],
            max_tokens=300,
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()
    RULES = (
        "You are the help desk of a library. Answer in two sentences. Name the shelf of every book you mention. "
        "Never promise a reservation. When a book is lent out, tell the day it comes back and offer the nearest branch."
    )


    def ask(books, question: str):
        shelves = ", ".join(sorted({book.shelf for book in books}))
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": f"Shelves: {shelves}. {RULES}"},
                {"role": "user", "content": question},
            ],
            max_tokens=300,
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "You know these topics: invoices, parcels, refunds."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "user", "content": "Hello."}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "You know these topics: refunds, invoices, parcels."},
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "user", "content": "Good morning."}]}}
    ```

    ## Limits
    Items are lines, or what stands between commas, semicolons and bars on one line.
    """

    id = "KV205"
    severity = Severity.WARNING

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        for violation in violations(prompt, Origin.ORDER):
            if violation.segment.part is Part.TOOLS:
                continue  # KV201's and KV203's
            yield finding(
                type(self),
                prompt,
                violation,
                message=f"`{violation.segment.expression}` comes in no fixed order ({violation.segment.detail}), "
                f"ahead of {violation.behind}",
                advice="sort it",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.ITEM_ORDER):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: the same {pair.detail} in another order; sort them before they are joined",
            )
