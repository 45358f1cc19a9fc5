"""KV306."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class RestampedHistory(Rule):
    """Old messages get a new time when the history is rendered.

    ## What it does
    Finds old messages that differ in a time stamp or an age (`3 minutes ago`) alone.

    ## Why it costs
    The first re-stamped message ends the prefix, usually the first of the conversation: no turn reads its history.

    ## Example
    ```python
    from datetime import datetime

    from openai import OpenAI

    client = OpenAI()


    def render(message: dict) -> dict:
        when = message.get("created_at") or datetime.now()
        return {"role": message["role"], "content": f"[{when:%H:%M:%S}] {message['text']}"}


    def turn(history: list[dict]):
        return client.chat.completions.create(
            model="gpt-5.4-mini", messages=[render(message) for message in history], max_tokens=300
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def render(message: dict) -> dict:
        return {"role": message["role"], "content": f"[{message['created_at']:%H:%M:%S}] {message['text']}"}


    def turn(history: list[dict]):
        return client.chat.completions.create(
            model="gpt-5.4-mini", messages=[render(message) for message in history], max_tokens=300
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "[10:00:01] How many coats are in the north depot?"},
      {"role": "assistant", "content": "Forty."},
      {"role": "user", "content": "And boots?"}]}}
    {"t": 30, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "[10:00:31] How many coats are in the north depot?"},
      {"role": "assistant", "content": "Forty."},
      {"role": "user", "content": "And boots?"},
      {"role": "assistant", "content": "Nine."},
      {"role": "user", "content": "Thanks."}]}}
    ```

    ## Limits
    A new message may carry the time it was written at, as long as it keeps it.
    """

    id = "KV306"
    severity = Severity.ERROR

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.RESTAMPED_HISTORY:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.expression}` is read while stored messages are rendered: old messages get "
                "another time on each turn",
                "stamp a message once, when it is stored",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.RESTAMPED):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: an old message shows another time ({pair.detail}); "
                f"{pair.behind_tokens:,} tokens behind it are read again",
                precision=pair.detail,
            )
