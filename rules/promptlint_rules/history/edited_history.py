"""KV302."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class EditedHistory(Rule):
    """Old messages are changed in the copy that is sent.

    ## What it does
    Finds old messages that came back shorter, changed or without a part: results replaced by a stub, images taken out,
    a message put in between.

    ## Why it costs
    The prefix ends at the first edited message; all later ones are computed again. When an agent evicts one old
    result on each step, no step ever reads its history.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()


    def prune(history: list[dict]) -> list[dict]:
        sent = []
        for number, message in enumerate(history):
            if message["role"] == "tool" and number < len(history) - 6:
                message = {**message, "content": "[removed]"}
            sent.append(message)
        return sent


    def step(history: list[dict]):
        return client.chat.completions.create(model="gpt-5.4-mini", messages=prune(history), max_tokens=300)
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def prune(history: list[dict]) -> list[dict]:
        return [{**m, "content": "[removed]"} if m["role"] == "tool" else m for m in history]


    def step(history: list[dict], context_tokens: int):
        if context_tokens > 100_000:
            history[:] = prune(history)
        return client.chat.completions.create(model="gpt-5.4-mini", messages=history, max_tokens=300)
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "Go through the tickets."},
      {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function",
        "function": {"name": "read", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "c1", "content": "Ticket one: the left shoe of the pair was torn on arrival."}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "Go through the tickets."},
      {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function",
        "function": {"name": "read", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "c1", "content": "[removed]"},
      {"role": "assistant", "content": "Ticket one is about a shoe."},
      {"role": "user", "content": "Go on."}]}}
    ```

    ## Limits
    A history that is condensed once (most of it replaced by a summary) is an event and not told. The user who edits the
    newest message starts a branch, not a fault.
    """

    id = "KV302"
    severity = Severity.WARNING

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.EDITED_HISTORY:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.expression}` replaces the content of a message once it is old enough: "
                "each turn edits another one",
                "leave old messages as they were sent, or replace many at once when the context runs full",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.EDITED):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: an old message was changed ({pair.detail}); "
                f"{pair.behind_tokens:,} tokens of later messages are read again",
            )
