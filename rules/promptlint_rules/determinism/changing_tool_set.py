"""KV202."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Relation, Traffic
from promptlint_rules.wire import of_pair


class ChangingToolSet(Rule):
    """Tools come and go within one conversation.

    ## What it does
    Finds conversations whose tools are added, removed or redefined from one turn to the next.

    ## Why it costs
    Tools stand at the head of the prompt. A change there leaves the system text and the whole history behind it to be
    computed again, on each turn on which the set changes.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()


    def pick(catalogue: list[dict], text: str) -> list[dict]:
        return [tool for tool in catalogue if tool["function"]["name"] in text]


    def turn(catalogue: list[dict], history: list[dict], text: str):
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[*history, {"role": "user", "content": text}],
            tools=pick(catalogue, text),
            max_tokens=300,
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def turn(catalogue: list[dict], history: list[dict], text: str):
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[*history, {"role": "user", "content": text}],
            tools=catalogue,
            max_tokens=300,
        )
    ```

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

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.TOOLS_BY_MESSAGE:
            yield of_practice(
                type(self),
                practice,
                f"`tools={practice.expression}` is chosen by the newest message (`{practice.detail}`), "
                "ahead of the history",
                "send one set of tools for the whole conversation, and name the useful ones in the newest message",
            )

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
