"""KV304."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class StrippedReasoning(Rule):
    """Reasoning that was sent once is taken out of the history.

    ## What it does
    Finds assistant turns that were sent with their reasoning (a field of its own, a thinking block, a `<think>` part)
    and come back without it.

    ## Why it costs
    The server cached the turn with its reasoning. Without it the prefix ends there, and the rest is computed again.

    ## Example
    ```python
    import re

    from openai import OpenAI

    client = OpenAI()
    THINK = re.compile(r"<think>.*?</think>", re.DOTALL)


    def clean(message: dict) -> dict:
        return {**message, "content": THINK.sub("", message["content"])}


    def turn(history: list[dict], text: str):
        return client.chat.completions.create(
            model="qwen3",
            messages=[*[clean(message) for message in history], {"role": "user", "content": text}],
            max_tokens=300,
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def turn(history: list[dict], text: str):
        return client.chat.completions.create(
            model="qwen3",
            messages=[*history, {"role": "user", "content": text}],
            max_tokens=300,
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "How many coats?"},
      {"role": "assistant", "content": "Forty.", "reasoning_content": "I look at the list and add up the lines."},
      {"role": "user", "content": "And boots?"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "How many coats?"},
      {"role": "assistant", "content": "Forty."},
      {"role": "user", "content": "And boots?"},
      {"role": "assistant", "content": "Nine."},
      {"role": "user", "content": "Thanks."}]}}
    ```

    ## Limits
    Reasoning that the client never got or never sent is not missed.
    """

    id = "KV304"
    severity = Severity.WARNING

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.STRIPPED_REASONING:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.expression}` takes the reasoning out of stored messages: the server holds "
                "their keys with it",
                "send assistant messages back as they came, or turn reasoning off",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.REASONING):
            what = "changed" if pair.detail == "changed" else "missing"
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: reasoning of an old assistant turn is {what}; "
                f"{pair.behind_tokens:,} tokens behind it are read again",
            )
