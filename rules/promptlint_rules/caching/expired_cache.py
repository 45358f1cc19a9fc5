"""KV405."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.caching.lookback import written_inside
from promptlint_rules.traffic import Pair, Policy, Relation, Traffic
from promptlint_rules.wire import of_pair

_IDLE_S = 600.0
"""OpenAI keeps entries in memory for 5 to 10 minutes without use (caching guide)."""
_MIN_SHARED_TOKENS = 256


class ExpiredCache(Rule):
    """The cache entry's life was over when the prefix came again.

    ## What it does
    Finds turns that share their prefix with the turn before and came later than the entry lives, and markers whose life
    was shortened or dropped from one turn to the next.

    ## Why it costs
    The whole prefix is written again. Where such pauses are common, a longer life (one hour at Anthropic) costs twice
    the input price once instead of a full write per pause.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50,
      "system": "Answer in two sentences. Name the shelf of every book. Never promise a reservation.",
      "messages": [{"role": "user", "content": [
        {"type": "text", "text": "Find order 71.", "cache_control": {"type": "ephemeral"}}]}]},
      "usage": {"input_tokens": 3, "cache_creation_input_tokens": 2263, "cache_read_input_tokens": 0}}
    {"t": 427, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50,
      "system": "Answer in two sentences. Name the shelf of every book. Never promise a reservation.",
      "messages": [{"role": "user", "content": [{"type": "text", "text": "Find order 71."}]},
      {"role": "assistant", "content": "It is shipped."},
      {"role": "user", "content": [
        {"type": "text", "text": "When does it arrive?", "cache_control": {"type": "ephemeral"}}]}]},
      "usage": {"input_tokens": 3, "cache_creation_input_tokens": 2275, "cache_read_input_tokens": 0}}
    ```

    ## Limits
    An entry that another conversation kept alive is known by the reported hit only.
    """

    id = "KV405"
    severity = Severity.INFO

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.pairs:
            if pair.relation is Relation.HOP or pair.earlier.failed or not pair.same_cache:
                continue
            shortened = _shortened(pair)
            life_s = _life_s(pair, traffic.policy)
            if (
                life_s is not None
                and pair.gap_s > life_s
                and not pair.later.hit_tokens
                and _was_there(pair, traffic.policy)
            ):
                yield of_pair(
                    type(self),
                    pair,
                    f"the common {pair.shared_tokens:,} tokens came again after {pair.gap_s:,.0f} s, an entry lives "
                    f"{life_s:,.0f} s: expired",
                    gap_s=pair.gap_s,
                    life_s=life_s,
                )
            elif shortened is not None:
                yield of_pair(
                    type(self),
                    pair,
                    f"the marker's life was shortened from {shortened[0]:,} s to "
                    f"{shortened[1]:,} s within a conversation",
                    life_before_s=shortened[0],
                    life_s=shortened[1],
                )


def _was_there(pair: Pair, policy: Policy) -> bool:
    if pair.relation is Relation.GROUP and pair.comparison.shared_prefix_share < 0.5:
        return False
    return pair.shared_tokens >= max(policy.minimum_tokens, _MIN_SHARED_TOKENS)


def _life_s(pair: Pair, policy: Policy) -> float | None:
    if policy.explicit:
        written = written_inside(pair.earlier.request, pair.shared_pieces)
        return float(written.life_s) if written and pair.later.request.markers else None
    if policy.minimum_tokens and pair.later.hit_tokens == 0 and not policy.breakpoints_only:
        return min(_IDLE_S, policy.life_s or _IDLE_S)
    return policy.life_s


def _shortened(pair: Pair) -> tuple[int, int] | None:
    if pair.relation is not Relation.LINE:
        return None
    before = {marker.path: marker.life_s for marker in pair.earlier.request.markers}
    for marker in pair.later.request.markers:
        old = before.get(marker.path)
        if old is not None and marker.life_s < old:
            return old, marker.life_s
    lives = [max((m.life_s for m in seen.request.markers), default=0) for seen in (pair.earlier, pair.later)]
    return (lives[0], lives[1]) if lives[1] and lives[1] < lives[0] else None
