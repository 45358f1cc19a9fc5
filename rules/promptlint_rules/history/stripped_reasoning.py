"""KV304."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class StrippedReasoning(Rule):
    """Reasoning that was sent once is taken out of the history.

    ## What it does
    Finds assistant turns that were sent with their reasoning (a field of its own, a thinking block, a `<think>` part)
    and come back without it.

    ## Why it costs
    The server cached the turn with its reasoning. Without it the prefix ends there, and the rest is computed again.

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

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.REASONING):
            what = "changed" if pair.detail == "changed" else "missing"
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: reasoning of an old assistant turn is {what}; "
                f"{pair.behind_tokens:,} tokens behind it are read again",
            )
