"""KV412."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import wire_finding


class MarkerLifeOrder(Rule):
    """A cache marker with a long life stands behind one with a shorter life.

    ## What it does
    Finds requests in which a marker asks for a longer life than a marker ahead of it, in render order (tools, system,
    messages).

    ## Why it costs
    The provider refuses the request, or the long entry is lost with the short one it builds on: what lives longest must
    come first.

    ## Example
    ```python
    import anthropic

    client = anthropic.Anthropic()


    def ask(base: str, catalogue: str, question: str):
        return client.messages.create(
            model="claude-opus-4-8",
            max_tokens=300,
            system=[
                {"type": "text", "text": base, "cache_control": {"type": "ephemeral"}},
                {"type": "text", "text": catalogue, "cache_control": {"type": "ephemeral", "ttl": "1h"}},
            ],
            messages=[{"role": "user", "content": question}],
        )
    ```

    ## Use instead
    ```python
    import anthropic

    client = anthropic.Anthropic()


    def ask(base: str, catalogue: str, question: str):
        return client.messages.create(
            model="claude-opus-4-8",
            max_tokens=300,
            system=[
                {"type": "text", "text": base, "cache_control": {"type": "ephemeral", "ttl": "1h"}},
                {"type": "text", "text": catalogue, "cache_control": {"type": "ephemeral"}},
            ],
            messages=[{"role": "user", "content": question}],
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-opus-4-8", "max_tokens": 50,
      "tools": [{"name": "lookup", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}],
      "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
      "messages": [{"role": "user", "content": "Find order 71."}]}}
    ```

    ## Limits
    Markers without a life have the provider's default.
    """

    id = "KV412"
    severity = Severity.WARNING

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.MARKER_LIFE_ORDER:
            yield of_practice(
                type(self),
                practice,
                "a cache breakpoint of one hour stands behind one of five minutes: longer lives have to come first",
                "give the earlier part the longer life",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        if not traffic.policy.explicit:
            return
        markers = sorted(traffic.current.request.markers, key=lambda marker: marker.piece)
        for first, second in itertools.pairwise(markers):
            if second.life_s > first.life_s:
                yield wire_finding(
                    type(self),
                    f"the marker at `{second.path}` lives {second.life_s:,} s, the one ahead of it at `{first.path}` "
                    f"{first.life_s:,} s: long lives must come first",
                    (traffic.current.index,),
                    path=second.path,
                )
                return
