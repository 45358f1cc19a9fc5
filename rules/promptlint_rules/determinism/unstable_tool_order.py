"""KV201."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class UnstableToolOrder(Rule):
    """The same tools are sent in another order.

    ## What it does
    Finds requests of one template that hold the same set of tools in different orders.

    ## Why it costs
    Most providers render tools ahead of the system text and the history. Two tools that change places end the common
    prefix there, and all that follows is computed again although nothing was changed.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50,
      "tools": [{"type": "function", "function": {"name": "order_lookup", "description": "Find an order."}},
                {"type": "function", "function": {"name": "note_add", "description": "Write a note."}}],
      "messages": [{"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
                   {"role": "user", "content": "Where is order 71?"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50,
      "tools": [{"type": "function", "function": {"name": "note_add", "description": "Write a note."}},
                {"type": "function", "function": {"name": "order_lookup", "description": "Find an order."}}],
      "messages": [{"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
                   {"role": "user", "content": "Where is order 72?"}]}}
    ```

    ## Limits
    Tools that come or go at the same time are a changing tool set (KV202), whatever their order.
    """

    id = "KV201"
    severity = Severity.ERROR

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.TOOL_ORDER):
            place = pair.first.path.rsplit(".", 1)[0] if pair.first else "tools"
            yield of_pair(
                type(self),
                pair,
                f"the same {pair.detail} in another order; the first one that moved is `{place}`: sort them by name",
            )
