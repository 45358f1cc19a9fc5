"""KV402."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import wire_finding

_SHOWN = 8


class TooManyMarkers(Rule):
    """A request carries more cache markers than the provider takes.

    ## What it does
    Counts the explicit cache markers of a request: Anthropic and Bedrock take four.

    ## Why it costs
    A fifth marker is refused with status 400. Markers that are set in a loop over the messages and never taken back
    reach the limit after a few turns.

    ## Example
    ```python
    import anthropic

    client = anthropic.Anthropic()


    def step(history: list[dict]):
        return client.messages.create(
            model="claude-opus-4-8",
            max_tokens=300,
            messages=[
                {
                    "role": message["role"],
                    "content": [{"type": "text", "text": message["text"], "cache_control": {"type": "ephemeral"}}],
                }
                for message in history
            ],
        )
    ```

    ## Use instead
    ```python
    import anthropic

    client = anthropic.Anthropic()


    def step(history: list[dict]):
        return client.messages.create(
            model="claude-opus-4-8",
            max_tokens=300,
            cache_control={"type": "ephemeral"},
            messages=history,
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/messages", "headers": {"host": "api.anthropic.com"}, "request": {
      "model": "claude-sonnet-4-6", "max_tokens": 50, "system": [
      {"type": "text", "text": "Answer in two sentences.", "cache_control": {"type": "ephemeral"}},
      {"type": "text", "text": "Name the shelf.", "cache_control": {"type": "ephemeral"}},
      {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}},
      {"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
      "messages": [{"role": "user", "content": [
        {"type": "text", "text": "Where is it?", "cache_control": {"type": "ephemeral"}}]}]}}
    ```

    ## Limits
    The request-level marker counts as one.
    """

    id = "KV402"
    severity = Severity.ERROR

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.TOO_MANY_MARKERS:
            yield of_practice(
                type(self),
                practice,
                f"{practice.detail} cache breakpoints, 4 are allowed: the request is refused",
                "keep one behind the tools, one behind the system text and one or two at the end of the history",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        markers = traffic.current.request.markers
        limit = traffic.policy.marker_limit
        if not traffic.policy.explicit or len(markers) <= limit:
            return
        paths = ", ".join(marker.path for marker in markers[:_SHOWN])
        yield wire_finding(
            type(self),
            f"{len(markers)} cache markers in one request, {limit} are allowed: {paths}",
            (traffic.current.index,),
            path=markers[limit].path,
            markers=len(markers),
        )
