"""KV403."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.caching.lookback import blocks_between, chars_until, found, written_inside
from promptlint_rules.traffic import Relation, Traffic
from promptlint_rules.wire import wire_finding


class LookbackExceeded(Rule):
    """Too many content blocks lie between two cache markers.

    ## What it does
    Finds turns that only added to the conversation and still do not read its last entry, because more blocks were added
    than the look-up walks back (20 at Anthropic).

    ## Why it costs
    A turn with many tool calls or many parts moves the marker out of reach of the entry that the turn before wrote. The
    history is written again at the price of a write.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50, "system": "Answer in two sentences.",
      "messages": [{"role": "user", "content": [
        {"type": "text", "text": "Count the rows.", "cache_control": {"type": "ephemeral"}}]}]}}
    {"t": 9, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50, "system": "Answer in two sentences.",
      "messages": [
      {"role": "user", "content": [{"type": "text", "text": "Count the rows."}]},
      {"role": "assistant", "content": "Send them."},
      {"role": "user", "content": [
        {"type": "text", "text": "1"}, {"type": "text", "text": "2"}, {"type": "text", "text": "3"},
        {"type": "text", "text": "4"}, {"type": "text", "text": "5"}, {"type": "text", "text": "6"},
        {"type": "text", "text": "7"}, {"type": "text", "text": "8"}, {"type": "text", "text": "9"},
        {"type": "text", "text": "10"}, {"type": "text", "text": "11"}, {"type": "text", "text": "12"},
        {"type": "text", "text": "13"}, {"type": "text", "text": "14"}, {"type": "text", "text": "15"},
        {"type": "text", "text": "16"}, {"type": "text", "text": "17"}, {"type": "text", "text": "18"},
        {"type": "text", "text": "19"}, {"type": "text", "text": "20"},
        {"type": "text", "text": "21", "cache_control": {"type": "ephemeral"}}]}]}}
    ```

    ## Limits
    Where the provider counts a run of tool calls or results as one position, fewer turns reach the limit.
    """

    id = "KV403"
    severity = Severity.WARNING

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        if not traffic.policy.explicit:
            return
        limit = traffic.policy.lookback
        for pair in traffic.pairs:
            earlier, later = pair.earlier.request, pair.later.request
            written = written_inside(earlier, pair.shared_pieces)
            if pair.relation is not Relation.LINE or written is None or not later.markers or pair.earlier.failed:
                continue
            reached = found(earlier, later, pair.shared_pieces, limit)
            if reached is not None and reached.piece >= written.piece:
                continue
            between = blocks_between(earlier, later, written)
            if between is None:
                continue
            lost = pair.later.tokens_of_chars(
                chars_until(earlier, written) - (chars_until(earlier, reached) if reached else 0)
            )
            yield wire_finding(
                type(self),
                f"{between} content blocks lie between the entry written at `{written.path}` and the next marker, "
                f"{limit} are looked back: {lost:,} tokens are written again; set a marker every {limit - 5} blocks",
                (pair.earlier.index, pair.later.index),
                path=written.path,
                tokens_behind=lost,
                blocks=between,
            )
