"""KV404."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.caching.lookback import chars_until
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import wire_finding


class BelowMinimum(Rule):
    """The marked part of the prompt is shorter than the provider caches.

    ## What it does
    Finds requests with a cache marker for which nothing was written and nothing read, and whose marked part is shorter
    than the model's minimum.

    ## Why it costs
    The marker is accepted without an error and does nothing. Where it pays, stable text (examples, tool descriptions)
    may be moved ahead of the marker until the minimum is reached.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50, "system": [
      {"type": "text", "text": "Answer in two sentences.", "cache_control": {"type": "ephemeral"}}],
      "messages": [{"role": "user", "content": "Where is it?"}]},
      "usage": {"input_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}}
    ```

    ## Limits
    Told only where the answer reports both counters as zero.
    """

    id = "KV404"
    severity = Severity.INFO

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        seen, policy = traffic.current, traffic.policy
        markers = seen.request.markers
        if not policy.explicit or not markers or seen.hit_tokens != 0 or seen.written_tokens != 0 or seen.failed:
            return
        last = max(markers, key=lambda marker: marker.piece)
        marked = seen.tokens_of_chars(chars_until(seen.request, last))
        if marked >= policy.minimum_tokens:
            return
        yield wire_finding(
            type(self),
            f"a marker was sent and nothing was written or read: about {marked:,} tokens ahead of it, "
            f"{policy.minimum_tokens:,} are the minimum of this model",
            (seen.index,),
            path=last.path,
            marked_tokens=marked,
            minimum_tokens=policy.minimum_tokens,
        )
