"""KV409."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import LOCAL_ENGINES, Relation, Seen, Traffic
from promptlint_rules.wire import wire_finding

_LEAST_REQUESTS = 3
_MIN_SHARED_TOKENS = 256
_TOGETHER_S = 2.0
"""Starts this close are a burst where nobody tells when the first answer began."""


class ConcurrentColdStart(Rule):
    """Requests with one head start together, before its entry can be read.

    ## What it does
    Finds bursts of at least three requests of one template that start before the first answer began and of which none
    read the shared head.

    ## Why it costs
    An entry can be read from the moment the first answer begins. Each request of the burst computes, and at some
    providers pays to write, the same head.

    ## Example
    ```python
    import asyncio

    from openai import AsyncOpenAI

    client = AsyncOpenAI()
    RULES = (
        "You are the help desk of a library. Answer in two sentences. Name the shelf of every book you mention. "
        "Never promise a reservation. When a book is lent out, tell the day it comes back and offer the nearest branch."
    )


    async def grade(essay: str) -> str:
        reply = await client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "system", "content": RULES}, {"role": "user", "content": essay}],
            max_tokens=300,
        )
        return reply.choices[0].message.content


    async def grade_all(essays: list[str]) -> list[str]:
        return await asyncio.gather(*(grade(essay) for essay in essays))
    ```

    ## Use instead
    ```python
    import asyncio

    from openai import AsyncOpenAI

    client = AsyncOpenAI()
    RULES = (
        "You are the help desk of a library. Answer in two sentences. Name the shelf of every book you mention. "
        "Never promise a reservation. When a book is lent out, tell the day it comes back and offer the nearest branch."
    )


    async def grade(essay: str) -> str:
        reply = await client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "system", "content": RULES}, {"role": "user", "content": essay}],
            max_tokens=300,
        )
        return reply.choices[0].message.content


    async def grade_all(essays: list[str]) -> list[str]:
        first = await grade(essays[0])
        return [first, *await asyncio.gather(*(grade(essay) for essay in essays[1:]))]
    ```

    ## On the wire
    ```json
    {"t": 0.0, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50, "system": [
      {"type": "text", "text": "Answer in two sentences. Be brief.", "cache_control": {"type": "ephemeral"}}],
      "messages": [{"role": "user", "content": "Summarise one."}]}, "response": {"first_byte_at": 1.4},
      "usage": {"input_tokens": 6, "cache_creation_input_tokens": 2258, "cache_read_input_tokens": 0}}
    {"t": 0.1, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50, "system": [
      {"type": "text", "text": "Answer in two sentences. Be brief.", "cache_control": {"type": "ephemeral"}}],
      "messages": [{"role": "user", "content": "Summarise two."}]}, "response": {"first_byte_at": 1.5},
      "usage": {"input_tokens": 6, "cache_creation_input_tokens": 2258, "cache_read_input_tokens": 0}}
    {"t": 0.2, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50, "system": [
      {"type": "text", "text": "Answer in two sentences. Be brief.", "cache_control": {"type": "ephemeral"}}],
      "messages": [{"role": "user", "content": "Summarise six."}]}, "response": {"first_byte_at": 1.6},
      "usage": {"input_tokens": 6, "cache_creation_input_tokens": 2258, "cache_read_input_tokens": 0}}
    ```

    ## Limits
    Engines that share blocks between running requests are told only where they report that nothing was read.
    """

    id = "KV409"
    severity = Severity.INFO

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.COLD_FAN_OUT:
            yield of_practice(
                type(self),
                practice,
                f"many calls of `{practice.detail}` with one head start before the first has written it",
                "await the first request, then start the others",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        burst = self._burst(traffic)
        if len(burst) < _LEAST_REQUESTS:
            return
        shared = min(pair.shared_tokens for pair in traffic.pairs if pair.relation is Relation.GROUP)
        if shared < max(_MIN_SHARED_TOKENS, traffic.policy.minimum_tokens):
            return
        spread_s = burst[-1].at - burst[0].at
        yield wire_finding(
            type(self),
            f"{len(burst)} requests with one head of about {shared:,} tokens started within "
            f"{spread_s:.1f} s, before the "
            "first answer began, and none read it: send one first, then the rest",
            tuple(seen.index for seen in burst),
            tokens_behind=shared,
            requests=len(burst),
        )

    def _burst(self, traffic: Traffic) -> list[Seen]:
        current = traffic.current
        if not any(pair.relation is Relation.GROUP for pair in traffic.pairs) or not _cold(current):
            return []
        burst = [current]
        for seen in reversed(traffic.group[:-1]):
            if seen.failed:
                continue
            if not _cold(seen) or seen.request.model != current.request.model or not _overlaps(seen, current):
                break
            burst.append(seen)
        return burst[::-1]


def _cold(seen: Seen) -> bool:
    if seen.failed:
        return False
    if seen.hit_tokens is None:
        return seen.request.provider not in LOCAL_ENGINES and seen.begun_at is not None
    return seen.hit_tokens == 0


def _overlaps(earlier: Seen, later: Seen) -> bool:
    if earlier.begun_at is not None:
        return later.at < earlier.begun_at
    return later.at - earlier.at <= _TOGETHER_S
