"""KV411."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Pair, Relation, Seen, Traffic
from promptlint_rules.wire import wire_finding

_LEAST_REQUESTS = 3
"""Requests under a shared head, with one that is not read, from which on a breakpoint would pay."""


class UnmarkedPrefix(Rule):
    """A repeated prefix carries no cache marker at a provider that caches on request only.

    ## What it does
    Finds conversations and templates that share at least the provider's minimum and send no marker, where nothing was
    written or read; and, at OpenAI from GPT-5.6 on, shared heads that each request writes with its own suffix.

    ## Why it costs
    Without a marker the whole prefix is computed at full price each time, or written each time at the price of a write.

    ## Example
    ```python
    from pathlib import Path

    import anthropic

    client = anthropic.Anthropic()
    GUIDE = Path("style_guide.md").read_text(encoding="utf-8")


    def check_all(texts: list[str]) -> list[str]:
        answers = []
        for text in texts:
            reply = client.messages.create(
                model="claude-sonnet-4-6", max_tokens=300, system=GUIDE, messages=[{"role": "user", "content": text}]
            )
            answers.append(reply.content[0].text)
        return answers
    ```

    ## Use instead
    ```python
    from pathlib import Path

    import anthropic

    client = anthropic.Anthropic()
    GUIDE = Path("style_guide.md").read_text(encoding="utf-8")


    def check_all(texts: list[str]) -> list[str]:
        answers = []
        for text in texts:
            reply = client.messages.create(
                model="claude-sonnet-4-6",
                max_tokens=300,
                system=[{"type": "text", "text": GUIDE, "cache_control": {"type": "ephemeral"}}],
                messages=[{"role": "user", "content": text}],
            )
            answers.append(reply.content[0].text)
        return answers
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50,
      "system": "Answer in two sentences. Name the shelf of every book. Never promise a reservation.",
      "messages": [{"role": "user", "content": "Find order 71."}]},
      "usage": {"input_tokens": 2505, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}}
    {"t": 12, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50,
      "system": "Answer in two sentences. Name the shelf of every book. Never promise a reservation.",
      "messages": [{"role": "user", "content": "Find order 71."},
                   {"role": "assistant", "content": "It is shipped."},
                   {"role": "user", "content": "When does it arrive?"}]},
      "usage": {"input_tokens": 2517, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}}
    ```

    ## Limits
    A prefix that comes again once may not be worth a write; the message tells how often it came.
    """

    id = "KV411"
    severity = Severity.INFO

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.NO_MARKER:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.expression}` is sent in a loop to a provider that caches nothing without "
                "a breakpoint, and there is none",
                "set a cache breakpoint behind it",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        policy = traffic.policy
        for pair in traffic.pairs:
            if pair.relation is Relation.HOP or pair.shared_tokens < policy.minimum_tokens or _marked(pair):
                continue
            if policy.explicit and not _used(pair.later):
                yield self._told(pair, traffic, "nothing was written or read")
                return
            if policy.breakpoints_only and self._each_wrote(traffic, policy.minimum_tokens):
                yield self._told(pair, traffic, "each request wrote its own entry and none read the shared head")
                return

    def _told(self, pair: Pair, traffic: Traffic, what: str) -> WireFinding:
        share = pair.comparison.shared_prefix_share
        return wire_finding(
            type(self),
            f"{len(traffic.group)} requests share about {pair.shared_tokens:,} tokens ({share:.0%}) and carry no cache "
            f"marker: {what}",
            tuple(seen.index for seen in traffic.group),
            tokens_behind=pair.shared_tokens,
            shared_tokens=pair.shared_tokens,
        )

    def _each_wrote(self, traffic: Traffic, minimum_tokens: int) -> bool:
        recent = traffic.group[-_LEAST_REQUESTS:]
        pairs = [p for p in traffic.group_pairs if p.relation is Relation.GROUP and p.shared_tokens >= minimum_tokens]
        wrote = all(seen.hit_tokens == 0 and (seen.written_tokens or 0) >= minimum_tokens for seen in recent)
        return len(recent) == _LEAST_REQUESTS and len(pairs) >= _LEAST_REQUESTS - 1 and wrote


def _marked(pair: Pair) -> bool:
    return bool(pair.earlier.request.markers or pair.later.request.markers)


def _used(seen: Seen) -> bool:
    return bool(seen.hit_tokens) or bool(seen.written_tokens) or seen.failed
