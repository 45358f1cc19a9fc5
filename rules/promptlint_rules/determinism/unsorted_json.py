"""KV204."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class UnsortedJson(Rule):
    """JSON in the prompt or the history is equal as data and written with other bytes.

    ## What it does
    Finds arguments of old tool calls, tool results and JSON in system text whose keys come in another order, or with
    other white space, than in the request before.

    ## Why it costs
    A history that is stored in a database and rendered anew loses the order of keys. The prefix ends at the first
    swapped key, and every later message is computed again.

    ## Example
    ```python
    import json

    from openai import OpenAI

    client = OpenAI()


    def render(row) -> dict:
        return {"role": "assistant", "content": "Called: " + json.dumps(row["arguments"])}


    def replay(connection, question: str):
        rows = connection.execute("select arguments from steps order by n").fetchall()
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[*[render(row) for row in rows], {"role": "user", "content": question}],
            max_tokens=300,
        )
    ```

    ## Use instead
    ```python
    import json

    from openai import OpenAI

    client = OpenAI()


    def render(row) -> dict:
        return {"role": "assistant", "content": "Called: " + json.dumps(row["arguments"], sort_keys=True)}


    def replay(connection, question: str):
        rows = connection.execute("select arguments from steps order by n").fetchall()
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[*[render(row) for row in rows], {"role": "user", "content": question}],
            max_tokens=300,
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "Refund line 2."},
      {"role": "assistant", "tool_calls": [{"id": "call_a1", "type": "function",
        "function": {"name": "refund", "arguments": "{\\"order\\":71,\\"line\\":2}"}}]},
      {"role": "tool", "tool_call_id": "call_a1", "content": "booked"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "Refund line 2."},
      {"role": "assistant", "tool_calls": [{"id": "call_a1", "type": "function",
        "function": {"name": "refund", "arguments": "{\\"line\\":2,\\"order\\":71}"}}]},
      {"role": "tool", "tool_call_id": "call_a1", "content": "booked"},
      {"role": "assistant", "content": "Done."},
      {"role": "user", "content": "Thanks."}]}}
    ```

    ## Limits
    Only text that reads as JSON on both sides is compared as data.
    """

    id = "KV204"
    severity = Severity.WARNING

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.STORED_JSON:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.expression}` writes a mapping from a store in the order of its keys, "
                "which the store need not keep",
                "add sort_keys=True, or store the text as it was sent",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.JSON_BYTES):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: the JSON there is equal as data, only its {pair.detail or 'bytes'} changed; "
                f"{pair.behind_tokens:,} tokens behind it are read again",
            )
