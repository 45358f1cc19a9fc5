"""KV410."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.traffic import Relation, Traffic
from promptlint_rules.wire import wire_finding


class LostMarkers(Rule):
    """A gateway drops the cache markers of a request.

    ## What it does
    Finds the same prompt in front of a gateway with cache markers and behind it without.

    ## Why it costs
    The client asked for caching and pays the full price: a bridge between two wire formats forgot the marker.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/responses", "headers": {"host": "gateway"}, "request": {
      "model": "claude-sonnet-4-6", "max_output_tokens": 50, "instructions": "Answer in two sentences.",
      "input": [{"role": "user", "content": [
        {"type": "input_text", "text": "Find order 71.", "cache_control": {"type": "ephemeral"}}]}]}}
    {"t": 0.02, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50, "system": "Answer in two sentences.",
      "messages": [{"role": "user", "content": "Find order 71."}]}}
    ```

    ## Limits
    Both hops must pass one proxy or stand in one recording, and the gateway must leave the text as it was.
    """

    id = "KV410"
    severity = Severity.WARNING

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.pairs:
            before, after = pair.earlier.request.markers, pair.later.request.markers
            if pair.relation is not Relation.HOP or not before or after:
                continue
            yield wire_finding(
                type(self),
                f"{len(before)} cache markers in front of the gateway ({pair.earlier.request.host}), none behind it "
                f"({pair.later.request.host})",
                (pair.earlier.index, pair.later.index),
                path=before[0].path,
                markers_before=len(before),
                markers_after=0,
            )
