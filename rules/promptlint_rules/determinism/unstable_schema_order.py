"""KV203."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class UnstableSchemaOrder(Rule):
    """A tool's schema holds the same data in another order.

    ## What it does
    Finds tool schemas that are equal as data while their keys, `enum` or `required` entries come in another order.

    ## Why it costs
    The model reads the schema as text. A set that is written into an `enum` comes out in another order in each process,
    so that replicas of one service share no prefix and a restart loses all of it.

    ## Example
    ```python
    import anthropic

    client = anthropic.Anthropic()

    COUNTRIES = {"at", "be", "ch", "de", "fr"}
    TOOL = {
        "name": "parcel_rate",
        "input_schema": {"type": "object", "properties": {"country": {"type": "string", "enum": list(COUNTRIES)}}},
    }


    def quote(question: str):
        return client.messages.create(
            model="claude-haiku-4-5",
            max_tokens=400,
            tools=[TOOL],
            messages=[{"role": "user", "content": question}],
        )
    ```

    ## Use instead
    ```python
    import anthropic

    client = anthropic.Anthropic()

    COUNTRIES = {"at", "be", "ch", "de", "fr"}
    TOOL = {
        "name": "parcel_rate",
        "input_schema": {"type": "object", "properties": {"country": {"type": "string", "enum": sorted(COUNTRIES)}}},
    }


    def quote(question: str):
        return client.messages.create(
            model="claude-haiku-4-5",
            max_tokens=400,
            tools=[TOOL],
            messages=[{"role": "user", "content": question}],
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50,
      "tools": [{"type": "function", "function": {"name": "stock", "parameters": {"enum": ["north", "hill"]}}}],
      "messages": [{"role": "user", "content": "How many coats?"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50,
      "tools": [{"type": "function", "function": {"name": "stock", "parameters": {"enum": ["hill", "north"]}}}],
      "messages": [{"role": "user", "content": "How many boots?"}]}}
    ```

    ## Limits
    Lists are compared as if they were sets; a list whose order has a meaning (a tuple's items) is told as well.
    """

    id = "KV203"
    severity = Severity.WARNING

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.SCHEMA_FROM_SET:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.detail}` of a tool's schema is listed from a set "
                f"(`{practice.expression}`): another order in another process",
                "sort it",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.SCHEMA_ORDER):
            path = pair.first.path if pair.first else "tools"
            yield of_pair(
                type(self),
                pair,
                f"`{path}` is equal as data and comes in another order ({pair.detail or 'lists'})",
            )
