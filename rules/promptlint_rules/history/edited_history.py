"""KV302."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
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

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.EDITED):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: an old message was changed ({pair.detail}); "
                f"{pair.behind_tokens:,} tokens of later messages are read again",
            )
