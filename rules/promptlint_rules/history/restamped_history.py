"""KV306."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class RestampedHistory(Rule):
    """Old messages get a new time when the history is rendered.

    ## What it does
    Finds old messages that differ in a time stamp or an age (`3 minutes ago`) alone.

    ## Why it costs
    The first re-stamped message ends the prefix, usually the first of the conversation: no turn reads its history.

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

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.RESTAMPED):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: an old message shows another time ({pair.detail}); "
                f"{pair.behind_tokens:,} tokens behind it are read again",
                precision=pair.detail,
            )
