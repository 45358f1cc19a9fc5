"""KV408."""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Pair, Relation, Seen, Traffic
from promptlint_rules.wire import wire_finding

_MIN_SHARED_TOKENS = 256
_LEAST_REQUESTS = 3
_CONVERSATION = re.compile(
    r"(?i)(?:^|[^a-z])(?:conv\w*|session|sess|thread|chat|user|usr|tenant|org|team|customer|desk)"
)
"""A key that says it belongs to a conversation or a user is meant to differ between them."""
_BY_CONVERSATION = frozenset({"xai", "fireworks", "openrouter"})
"""Their key names a conversation: one per conversation is what the vendor asks for."""


class ChangingRoutingKey(Rule):
    """The key that routes or separates cache entries differs on each request.

    ## What it does
    Finds one shared head that is sent under another `prompt_cache_key`, salt or session key each time, and
    conversations whose key changes between turns.

    ## Why it costs
    The key decides which machine, or which entry, is asked. A key made from a random value or the time asks another one
    each time, so that a prefix that is there is not found.

    ## Example
    ```python
    from uuid import uuid4

    from openai import OpenAI

    client = OpenAI()


    def ask(question: str):
        return client.responses.create(
            model="gpt-5.4-mini", input=question, prompt_cache_key=f"ask-{uuid4()}", max_output_tokens=300
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def ask(question: str):
        return client.responses.create(
            model="gpt-5.4-mini", input=question, prompt_cache_key="help-desk", max_output_tokens=300
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/responses", "headers": {"host": "api.openai.com"}, "request": {
      "model": "gpt-5.4", "max_output_tokens": 50, "prompt_cache_key": "req-2f1c",
      "instructions": "Answer in two sentences. Name the shelf of every book. Never promise a reservation.",
      "input": [{"role": "user", "content": "Open ticket 71."}]}}
    {"t": 4, "path": "/v1/responses", "headers": {"host": "api.openai.com"}, "request": {
      "model": "gpt-5.4", "max_output_tokens": 50, "prompt_cache_key": "req-88d0",
      "instructions": "Answer in two sentences. Name the shelf of every book. Never promise a reservation.",
      "input": [{"role": "user", "content": "Open ticket 71."}, {"role": "assistant", "content": "It is open."},
                {"role": "user", "content": "Close it."}]}}
    ```

    ## Limits
    Between conversations at least three requests must use three keys, none of them twice, whose names do not say that
    they belong to a conversation or a user.
    """

    id = "KV408"
    severity = Severity.ERROR

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.CHANGING_KEY:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.detail}={practice.expression}` is new with each request: it is sent to "
                "another machine than the one that holds its head",
                "use one key for all requests that share a head",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.pairs:
            if pair.relation is Relation.LINE and _changed(pair):
                yield wire_finding(
                    type(self),
                    f"the routing key changed from one turn to the next; {pair.shared_tokens:,} "
                    "common tokens are looked "
                    "for elsewhere",
                    (pair.earlier.index, pair.later.index),
                    path="prompt_cache_key",
                    tokens_behind=pair.shared_tokens,
                )
                return
        yield from self._across(traffic)

    def _across(self, traffic: Traffic) -> Iterator[WireFinding]:
        keyed = [seen for seen in traffic.group if _key(seen) and not seen.failed]
        shared = max((pair.shared_tokens for pair in traffic.pairs if pair.relation is Relation.GROUP), default=0)
        current = traffic.current
        if current.request.provider in _BY_CONVERSATION or shared < max(
            _MIN_SHARED_TOKENS, traffic.policy.minimum_tokens
        ):
            return
        keys = [_key(seen) or "" for seen in keyed]
        lines = {seen.line for seen in keyed}
        if len(keyed) < _LEAST_REQUESTS or len(set(keys)) < len(keys) or len(lines) < len(keyed):
            return
        if not _key(current) or any(_CONVERSATION.search(key) for key in keys):
            return
        span_s = keyed[-1].at - keyed[0].at
        yield wire_finding(
            type(self),
            f"one head of {shared:,} tokens was sent under {len(keys)} routing keys in "
            f"{span_s:,.0f} s, none of them twice",
            tuple(seen.index for seen in keyed),
            path="prompt_cache_key",
            tokens_behind=shared,
            keys=len(keys),
        )


def _key(seen: Seen) -> str | None:
    return seen.request.routing_key or seen.request.salt


def _changed(pair: Pair) -> bool:
    old, new = _key(pair.earlier), _key(pair.later)
    return old is not None and new is not None and old != new and pair.same_model
