"""KV201."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class UnstableToolOrder(Rule):
    """The same tools are sent in another order.

    ## What it does
    Finds requests of one template that hold the same set of tools in different orders.

    ## Why it costs
    Most providers render tools ahead of the system text and the history. Two tools that change places end the common
    prefix there, and all that follows is computed again although nothing was changed.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()


    def tool_list(registry: dict, wanted: list[str]) -> list[dict]:
        return [registry[name] for name in set(wanted)]


    def step(registry: dict, wanted: list[str], messages: list[dict]):
        return client.chat.completions.create(
            model="gpt-5.4-mini", messages=messages, tools=tool_list(registry, wanted), max_tokens=300
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def tool_list(registry: dict, wanted: list[str]) -> list[dict]:
        return [registry[name] for name in sorted(set(wanted))]


    def step(registry: dict, wanted: list[str], messages: list[dict]):
        return client.chat.completions.create(
            model="gpt-5.4-mini", messages=messages, tools=tool_list(registry, wanted), max_tokens=300
        )
    ```

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

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.UNSTABLE_TOOL_ORDER:
            yield of_practice(
                type(self),
                practice,
                f"the tools come in the order of {practice.detail} (`{practice.expression}`), which is not fixed",
                "sort the tools by name",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.TOOL_ORDER):
            place = pair.first.path.rsplit(".", 1)[0] if pair.first else "tools"
            yield of_pair(
                type(self),
                pair,
                f"the same {pair.detail} in another order; the first one that moved is `{place}`: sort them by name",
            )
