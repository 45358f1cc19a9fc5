"""KV502."""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptlint_core.cadence import Evidence
from promptlint_core.prompt import BoundKind, Call
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import wire_finding

LARGE_TOKENS = 32_768
WHOLE_CONTEXT_TOKENS = 100_000
"""A literal of this size is a context window, not the length of an answer."""
LEAST_ANSWERS = 3
"""Answers seen before their size says something about the next one."""
LEAST_RATIO = 64
"""Bound ÷ largest answer: an answer that needs a hundredth of its room does not need it next time either."""

_SHORT_ANSWER = re.compile(
    r"\b(?:yes or no|true or false|(?:single|one) (?:word|letter|number|line|sentence|label)"
    r"|only the (?:label|title|name)|one of the following|classify|label|title|short (?:title|name|answer))\b",
    re.IGNORECASE,
)


class OversizedOutputBound(Rule):
    """The bound on output tokens is far above what the answer needs.

    ## What it does
    Finds literal bounds of 32,768 tokens and more on calls that ask for a label, a title or a yes or no, and bounds
    as large as a context window anywhere.

    ## Why it costs
    Schedulers and rate limits plan by the bound: it is counted against token quotas, a server may reserve KV memory for
    it, and a runaway answer is only stopped there.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()


    def urgent(text: str) -> bool:
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": "Is the message urgent? Answer yes or no."},
                {"role": "user", "content": text},
            ],
            max_completion_tokens=65536,
        )
        return reply.choices[0].message.content == "yes"
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def urgent(text: str) -> bool:
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[
                {"role": "system", "content": "Is the message urgent? Answer yes or no."},
                {"role": "user", "content": text},
            ],
            max_completion_tokens=16,
        )
        return reply.choices[0].message.content == "yes"
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 131072, "messages": [{"role": "user", "content": "Spam? Buy now!"}]},
      "usage": {"prompt_tokens": 12, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"t": 3, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 131072, "messages": [{"role": "user", "content": "Spam? See you at noon."}]},
      "usage": {"prompt_tokens": 12, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"t": 6, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 131072, "messages": [{"role": "user", "content": "Spam? You won!"}]},
      "usage": {"prompt_tokens": 12, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}}
    ```

    ## Limits
    Reasoning models spend output tokens on thinking; the traffic side knows what was used and is the better judge.
    """

    id = "KV502"
    severity = Severity.INFO

    def check_call(self, call: Call) -> Iterator[Finding]:
        bound = call.bound
        if bound.kind is not BoundKind.LIMITED or bound.tokens is None or bound.tokens < LARGE_TOKENS:
            return
        text = " ".join(segment.text for segment in call.prompt.segments if segment.text) if call.prompt else ""
        asked = _SHORT_ANSWER.search(text)
        if not asked and bound.tokens < WHOLE_CONTEXT_TOKENS:
            return
        why = (
            f"for an answer that is asked to be short (`{asked.group()}`)"
            if asked
            else "is as large as a context window"
        )
        yield Finding(
            rule=self.id,
            name=self.name,
            severity=self.severity,
            confidence=Evidence.PROVED,
            message=f"a bound of {bound.tokens:,} output tokens {why}",
            place=bound.place or call.place,
            expression=f"{bound.parameter}={bound.tokens}",
            advice="set the bound to a little more than the longest good answer",
            prompt=call.prompt,
            call=call,
        )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        bound = traffic.current.request.bound
        outputs = [seen.output_tokens for seen in traffic.group if seen.output_tokens is not None]
        if bound.kind is not BoundKind.LIMITED or bound.tokens is None or len(outputs) < LEAST_ANSWERS:
            return
        largest = max(*outputs, traffic.counts.largest_output)
        if bound.tokens < LARGE_TOKENS or bound.tokens < LEAST_RATIO * max(1, largest):
            return
        yield wire_finding(
            type(self),
            f"the bound is {bound.tokens:,} tokens, the largest of {traffic.counts.outputs} answers has {largest:,}: "
            "room and credit are reserved that are never used",
            tuple(seen.index for seen in traffic.group),
            bound_tokens=bound.tokens,
            largest_output=largest,
        )
