"""KV107."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import behind, leading, of_pair

_FIRST_PARTY = "anthropic.com"
"""The vendor's own host takes the block out before it looks a prefix up."""


class AttributionFirst(Rule):
    """A client writes an attribution block that changes at the head of the system text.

    ## What it does
    Finds system texts that begin with a client's `x-anthropic-billing-header` block whose fingerprint differs from one
    request to the next, sent to another host than the vendor's own.

    ## Why it costs
    The vendor's host knows the block and leaves it out. A gateway or an engine of one's own reads it as text: the
    prefix ends within the first block.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/messages", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "system": [
      {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.120.3e1; cc_entrypoint=cli; cch=a17f2;"},
      {"type": "text", "text": "Answer in two sentences. Name the shelf of every book. Never promise a reservation."},
      {"type": "text", "text": "When a book is lent out, offer the nearest branch that still has it."}],
      "messages": [{"role": "user", "content": "Where is it?"}]}}
    {"t": 9, "path": "/v1/messages", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "system": [
      {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.120.3e1; cc_entrypoint=cli; cch=5d0c9;"},
      {"type": "text", "text": "Answer in two sentences. Name the shelf of every book. Never promise a reservation."},
      {"type": "text", "text": "When a book is lent out, offer the nearest branch that still has it."}],
      "messages": [{"role": "user", "content": "And now?"}]}}
    ```

    ## Limits
    Not seen in source: the block comes from the client's program. `CLAUDE_CODE_ATTRIBUTION_HEADER=0` in the client's
    settings leaves it out.
    """

    id = "KV107"
    severity = Severity.ERROR

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in leading(traffic, Kind.ATTRIBUTION):
            if pair.later.request.host.partition(":")[0].endswith(_FIRST_PARTY):
                continue
            yield of_pair(type(self), pair, f"{pair.place}, in the client's attribution block; {behind(pair)}")
