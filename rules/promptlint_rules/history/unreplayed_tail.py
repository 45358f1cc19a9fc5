"""KV305."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Pair, Traffic
from promptlint_rules.wire import of_pair


class UnreplayedTail(Rule):
    """The end of a request is not stored and does not come back.

    ## What it does
    Finds turns whose last message was longer when it was first sent (a time, a reminder, a note to the model), or was
    followed by a message that is absent from the next request.

    ## Why it costs
    The cache holds what was sent. An entry written at the end of the decorated message is never read, and what was
    generated behind it is computed again.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "I slept badly. (Remember to be kind and to answer in one sentence.)"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "I slept badly."},
      {"role": "assistant", "content": "Take it easy today."},
      {"role": "user", "content": "And tomorrow? (Remember to be kind and to answer in one sentence.)"}]}}
    ```

    ## Limits
    An ephemeral end that stands behind the last cache marker is harmless and not told.
    """

    id = "KV305"
    severity = Severity.WARNING

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.TAIL):
            if _behind_last_marker(pair):
                continue
            how = "is absent" if pair.detail == "absent" else "was longer when it was first sent"
            yield of_pair(
                type(self),
                pair,
                f"`{pair.path}`: the last message of the earlier request {how}; store the text as sent",
            )


def _behind_last_marker(pair: Pair) -> bool:
    """Every marker of the earlier request stands ahead of the end that was lost."""
    markers = pair.earlier.request.markers
    return bool(markers) and all(marker.piece < pair.shared_pieces for marker in markers)
