"""KV202."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Relation, Traffic
from promptlint_rules.wire import of_pair


class ChangingToolSet(Rule):
    """Tools come and go within one conversation.

    ## What it does
    Finds conversations whose tools are added, removed or redefined from one turn to the next.

    ## Why it costs
    Tools stand at the head of the prompt. A change there leaves the system text and the whole history behind it to be
    computed again, on each turn on which the set changes.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50,
      "tools": [{"type": "function", "function": {"name": "order_lookup", "description": "Find an order."}}],
      "messages": [{"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
                   {"role": "user", "content": "Open ticket 71."}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50,
      "tools": [{"type": "function", "function": {"name": "order_lookup", "description": "Find an order."}},
                {"type": "function", "function": {"name": "stock_check", "description": "Count an article."}}],
      "messages": [{"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
                   {"role": "user", "content": "Open ticket 71."},
                   {"role": "assistant", "content": "Ticket 71 is open."},
                   {"role": "user", "content": "Check the stock of article 9."}]}}
    ```

    ## Limits
    Different conversations may have different tools. Tools that are found by search and loaded late
    (`defer_loading`) are no part of the prefix and are not counted.
    """

    id = "KV202"
    severity = Severity.WARNING

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.TOOL_SET):
            if pair.relation is not Relation.LINE:
                continue
            yield of_pair(
                type(self),
                pair,
                f"tools changed within one conversation ({pair.detail}); "
                f"{pair.behind_tokens:,} tokens behind the first change are read again",
            )
