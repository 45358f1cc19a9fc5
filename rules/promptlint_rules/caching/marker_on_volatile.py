"""KV401."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.caching.lookback import written_inside
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Pair, Relation, Traffic
from promptlint_rules.wire import MIN_BEHIND_TOKENS, of_pair

_MIN_SHARED_TOKENS = 256
"""A smaller shared head is not worth a marker of its own."""
_TELLS_BY_ITSELF = frozenset(
    {
        Kind.CLOCK, Kind.FRAMEWORK_CLOCK, Kind.RANDOM, Kind.IDENTITY, Kind.ENVIRONMENT, Kind.ATTRIBUTION,
        Kind.RETRIEVAL, Kind.STATE, Kind.TASK, Kind.EXAMPLES, Kind.ITEM_ORDER, Kind.JSON_BYTES, Kind.SUMMARY,
        Kind.TOOL_ORDER, Kind.TOOL_SET, Kind.SCHEMA_ORDER,
    }
)  # fmt: skip
"""With stable text behind it, the difference is told by its own rule: moving the marker would not be enough."""


class MarkerOnVolatile(Rule):
    """The cache marker closes a block that differs on each request.

    ## What it does
    Finds requests that share a long head, whose every marker stands behind the first difference: at the end of a block
    that ends with a time, or on the newest message alone while the constant parts have none.

    ## Why it costs
    An explicit cache is read only where a marked block ends inside the common part. Each request pays for writing the
    entry and none ever reads it.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50,
      "system": "Answer in two sentences. Name the shelf of every book. Never promise a reservation.",
      "messages": [{"role": "user", "content": [
        {"type": "text", "text": "Where is it?", "cache_control": {"type": "ephemeral"}}]}]},
      "usage": {"input_tokens": 3, "cache_creation_input_tokens": 1400, "cache_read_input_tokens": 0}}
    {"t": 9, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50,
      "system": "Answer in two sentences. Name the shelf of every book. Never promise a reservation.",
      "messages": [{"role": "user", "content": [
        {"type": "text", "text": "And now?", "cache_control": {"type": "ephemeral"}}]}]},
      "usage": {"input_tokens": 3, "cache_creation_input_tokens": 1400, "cache_read_input_tokens": 0}}
    ```

    ## Limits
    A marker on the newest message of a conversation that goes on is right: its next turn reads it.
    """

    id = "KV401"
    severity = Severity.ERROR

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        if not traffic.policy.explicit:
            return
        for pair in traffic.pairs:
            if not _never_read(pair) or not _worth_a_marker(pair):
                continue
            if pair.kind in _TELLS_BY_ITSELF and pair.behind_tokens >= MIN_BEHIND_TOKENS:
                continue
            if pair.kind in (Kind.NEWEST, Kind.UNKNOWN) and not _only_the_question_is_marked(pair, traffic):
                continue
            marked = pair.later.request.markers[0].path
            yield of_pair(
                type(self),
                pair,
                f"the first marker (`{marked}`) stands behind the first difference ({pair.place}): "
                f"{pair.shared_tokens:,} shared tokens ahead of it are written each time and never read",
                shared_tokens=pair.shared_tokens,
            )


def _never_read(pair: Pair) -> bool:
    earlier, later = pair.earlier, pair.later
    if pair.append_only or not earlier.request.markers or not later.request.markers or earlier.failed or later.failed:
        return False
    return written_inside(earlier.request, pair.shared_pieces) is None and not later.hit_tokens


def _worth_a_marker(pair: Pair) -> bool:
    return pair.shared_tokens >= _MIN_SHARED_TOKENS and pair.same_cache


def _only_the_question_is_marked(pair: Pair, traffic: Traffic) -> bool:
    """Single questions under a shared head, each written and none read; not the start of a longer conversation."""
    asked_once = all(seen.turn == 0 for seen in traffic.group)
    written = all((seen.written_tokens or 0) > 0 for seen in (pair.earlier, pair.later))
    return pair.relation is Relation.GROUP and asked_once and written
