"""KV301."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class SlidingHistory(Rule):
    """The oldest messages are dropped on every turn.

    ## What it does
    Finds conversations in which each request leaves out a few more of the oldest messages: a window of the last N.

    ## Why it costs
    Once the window is full, no request starts like the one before it: the whole history is computed again on every
    turn. Dropping half of it once in a while costs one miss and keeps the prefix for many turns.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()


    def turn(history: list[dict], text: str):
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[*history[-20:], {"role": "user", "content": text}],
            max_tokens=300,
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def turn(history: list[dict], text: str):
        if len(history) > 60:
            del history[:40]
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[*history, {"role": "user", "content": text}],
            max_tokens=300,
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "How many coats are in the north depot?"},
      {"role": "assistant", "content": "There are forty coats in the north depot."},
      {"role": "user", "content": "How many boots are in the hill store?"},
      {"role": "assistant", "content": "There are nine boots in the hill store."},
      {"role": "user", "content": "And at the harbour?"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "How many boots are in the hill store?"},
      {"role": "assistant", "content": "There are nine boots in the hill store."},
      {"role": "user", "content": "And at the harbour?"},
      {"role": "assistant", "content": "Six boots are at the harbour."},
      {"role": "user", "content": "Send two of them."}]}}
    ```

    ## Limits
    A cut of many messages at once is taken as a rare, large step and not told.
    """

    id = "KV301"
    severity = Severity.WARNING

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.SLIDING_WINDOW:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.expression}` drops the oldest messages on each turn: every prompt begins "
                "with another message",
                "drop many at once and seldom (from 60 down to 20), so that the turns between share their prefix",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.SLIDING):
            yield of_pair(
                type(self),
                pair,
                f"the {pair.dropped} oldest messages are gone from one turn to the next ({pair.place}); drop in large, "
                "rare steps",
                dropped=pair.dropped,
            )
