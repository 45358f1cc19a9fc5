"""KV208."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Origin
from promptlint_core.prompt import Prompt
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.order.law import Violation, finding, is_instruction, violations
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import leading, of_pair


class ShuffledExamples(Rule):
    """Examples at the head of the prompt are shuffled or sampled anew.

    ## What it does
    Finds heads that hold the same examples in another order, or other examples of the same form, while the text behind
    them stays.

    ## Why it costs
    No two requests share a prefix, so that neither the examples nor the rules behind them are ever read from the cache.

    ## Example
    ```python
    import random

    from openai import OpenAI

    client = OpenAI()
    SHOTS = ["late: delivery", "charged twice: billing", "wrong size: returns", "torn zip: warranty"]
    RULES = (
        "You label messages. Answer with one label of the list below. Use other when two labels fit. Never explain. "
        "A message about money that is also about a parcel is billing. Ignore greetings, signatures and dates."
    )


    def label(text: str):
        shots = "\\n".join(random.sample(SHOTS, 3))
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "system", "content": f"{shots}\\n{RULES}"}, {"role": "user", "content": text}],
            max_tokens=5,
        )
    ```

    ## Use instead
    ```python
    import random

    from openai import OpenAI

    client = OpenAI()
    SHOTS = ["late: delivery", "charged twice: billing", "wrong size: returns", "torn zip: warranty"]
    RULES = (
        "You label messages. Answer with one label of the list below. Use other when two labels fit. Never explain. "
        "A message about money that is also about a parcel is billing. Ignore greetings, signatures and dates."
    )


    def label(text: str):
        shots = "\\n".join(random.Random(7).sample(SHOTS, 3))
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "system", "content": f"{shots}\\n{RULES}"}, {"role": "user", "content": text}],
            max_tokens=5,
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 5, "messages": [
      {"role": "system", "content": "Q: late\\nA: delivery\\nQ: twice\\nA: payment\\nQ: torn\\nA: warranty"},
      {"role": "system", "content": "Answer with one label. Never explain. Use lower case. Write nothing else."},
      {"role": "system", "content": "When no label fits, answer other. When two fit, take the first of the list."},
      {"role": "user", "content": "my coat is torn"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 5, "messages": [
      {"role": "system", "content": "Q: torn\\nA: warranty\\nQ: late\\nA: delivery\\nQ: twice\\nA: payment"},
      {"role": "system", "content": "Answer with one label. Never explain. Use lower case. Write nothing else."},
      {"role": "system", "content": "When no label fits, answer other. When two fit, take the first of the list."},
      {"role": "user", "content": "I was charged twice"}]}}
    ```

    ## Limits
    Examples are recognised by labels that come again (`Q:`, `A:`) or by a heading or tag that calls them so. Examples
    chosen by likeness to the question are told as well: they belong behind the rules.
    """

    id = "KV208"
    severity = Severity.ERROR

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        told = list(violations(prompt, Origin.SAMPLE))
        for violation in told:
            yield finding(
                type(self),
                prompt,
                violation,
                message=f"`{violation.segment.expression}` draws anew for each prompt, ahead of {violation.behind}",
                advice="draw once with a fixed seed, or put the examples behind the rules",
            )
        drawn = [
            s for s in prompt.segments if s.origin is Origin.SAMPLE and is_instruction(s) and s.cadence is not None
        ]
        for segment in drawn if not told else ():
            yield finding(
                type(self),
                prompt,
                Violation(segment, 0, history_behind=False),
                message=f"`{segment.expression}` draws anew for each prompt: the cache never holds what is drawn",
                advice="draw once with a fixed seed",
                severity=Severity.INFO,
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in leading(traffic, Kind.EXAMPLES):
            same = "other examples" if pair.detail == "other examples" else "the same examples in another order"
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: {same}, ahead of {pair.behind_tokens:,} tokens that both requests hold",
            )
