"""KV505."""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptlint_core.prompt import BoundKind
from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.traffic import Seen, Traffic
from promptlint_rules.wire import wire_finding

LEAST_TOKENS = 1_000
"""A shorter answer cannot be told from a list."""
_AT_LIMIT = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete"})
_LEAST_TIMES = 3
_CHARS_PER_TOKEN = 0.25
"""Fewer visible characters a token than this were not written for a reader (white space, hidden text)."""
_REPEATED = re.compile(r"(.{1,80}?)\1{2,}\s*\Z", re.DOTALL)
_LEAST_REPEATED_CHARS = 10
_LOOKED_AT_CHARS = 400


class RunawayOutput(Rule):
    """An answer runs into its limit while it repeats itself.

    ## What it does
    Finds answers that stopped at their bound, or at the model's, and whose end is one piece of text again and again;
    and long answers of which next to nothing is visible.

    ## Why it costs
    The bound is decoded in full, token by token, at the price of output, and the KV blocks stay taken all the time. A
    repetition penalty, a stop sequence or a lower bound ends it.

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 16000, "messages": [{"role": "user", "content": "Tidy the notes."}]},
      "usage": {"prompt_tokens": 8, "completion_tokens": 16000, "prompt_tokens_details": {"cached_tokens": 0}},
      "response": {"finish_reason": "length", "content_tail": "placeholder placeholder placeholder placeholder"}}
    ```

    ## Limits
    The end of the answer must be known; a long answer that stops at its limit without repeating itself is not told.
    """

    id = "KV505"
    severity = Severity.WARNING

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        seen = traffic.current
        output = seen.output_tokens
        if output is None or output < LEAST_TOKENS:
            return
        if _stopped_at_limit(seen, output) and _repeats(seen.response.content_tail or ""):
            yield wire_finding(
                type(self),
                f"the output stopped at the limit ({output:,} tokens) and its end is one piece of text again and again",
                (seen.index,),
                output_tokens=output,
            )
        elif _next_to_nothing(seen, output):
            yield wire_finding(
                type(self),
                f"{output:,} output tokens gave {seen.response.content_chars or 0:,} visible characters",
                (seen.index,),
                output_tokens=output,
                content_chars=seen.response.content_chars,
            )


def _stopped_at_limit(seen: Seen, output: int) -> bool:
    if (seen.response.finish_reason or "").lower() in _AT_LIMIT:
        return True
    bound = seen.request.bound
    return bound.kind is BoundKind.LIMITED and bound.tokens is not None and output >= bound.tokens


def _repeats(tail: str) -> bool:
    found = _REPEATED.search(tail[-_LOOKED_AT_CHARS:])
    return found is not None and len(found[0]) >= min(_LEAST_REPEATED_CHARS, len(tail)) and len(tail) > _LEAST_TIMES


def _next_to_nothing(seen: Seen, output: int) -> bool:
    """Little text although no tool was called and reasoning does not account for it."""
    chars = seen.response.content_chars
    usage = seen.response.usage
    if chars is None or seen.response.tool_calls or usage is None:
        return False
    if seen.response.reasoning and usage.reasoning_tokens is None:
        return False
    visible = output - (usage.reasoning_tokens or 0)
    return visible >= LEAST_TOKENS and chars < visible * _CHARS_PER_TOKEN
