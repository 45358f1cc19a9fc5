"""KV203."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class UnstableSchemaOrder(Rule):
    """A tool's schema holds the same data in another order.

    ## What it does
    Finds tool schemas that are equal as data while their keys, `enum` or `required` entries come in another order.

    ## Why it costs
    The model reads the schema as text. A set that is written into an `enum` comes out in another order in each process,
    so that replicas of one service share no prefix and a restart loses all of it.

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

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.SCHEMA_ORDER):
            path = pair.first.path if pair.first else "tools"
            yield of_pair(
                type(self),
                pair,
                f"`{path}` is equal as data and comes in another order ({pair.detail or 'lists'})",
            )
