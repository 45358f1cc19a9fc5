"""KV508."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.practised import of_practice
from promptlint_rules.size.contexts import context_tokens
from promptlint_rules.traffic import Relation, Traffic
from promptlint_rules.wire import wire_finding

LEAST_TURNS = 4
"""Turns of steady growth before a line is drawn through them."""
LEAST_PROMPT_TOKENS = 8_000
WITHIN_TURNS = 20
_NEAR_SHARE = 0.6


class UnboundedHistory(Rule):
    """The history grows on every turn and nothing caps it.

    ## What it does
    Finds conversations whose prompt grows steadily and will reach the model's context within a few turns.

    ## Why it costs
    Each turn reads all earlier ones again and holds their KV memory. At the context's end the request is refused, or
    the oldest messages are dropped one by one and no prefix is found any more.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()


    class Chat:
        def __init__(self) -> None:
            self.history: list[dict] = []

        def turn(self, text: str) -> str:
            self.history.append({"role": "user", "content": text})
            reply = client.chat.completions.create(model="gpt-5.4-mini", messages=self.history, max_tokens=300)
            answer = reply.choices[0].message.content
            self.history.append({"role": "assistant", "content": answer})
            return answer
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    class Chat:
        def __init__(self) -> None:
            self.history: list[dict] = []

        def turn(self, text: str) -> str:
            if len(self.history) > 60:
                del self.history[:40]
            self.history.append({"role": "user", "content": text})
            reply = client.chat.completions.create(model="gpt-5.4-mini", messages=self.history, max_tokens=300)
            answer = reply.choices[0].message.content
            self.history.append({"role": "assistant", "content": answer})
            return answer
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "Read file one."}]},
      "usage": {"prompt_tokens": 60000, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 0}}}
    {"t": 20, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "Read file one."}, {"role": "assistant", "content": "Done one."},
      {"role": "user", "content": "Read file two."}]},
      "usage": {"prompt_tokens": 72000, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 60000}}}
    {"t": 40, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "Read file one."}, {"role": "assistant", "content": "Done one."},
      {"role": "user", "content": "Read file two."}, {"role": "assistant", "content": "Done two."},
      {"role": "user", "content": "Read file three."}]},
      "usage": {"prompt_tokens": 84000, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 72000}}}
    {"t": 60, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "Read file one."}, {"role": "assistant", "content": "Done one."},
      {"role": "user", "content": "Read file two."}, {"role": "assistant", "content": "Done two."},
      {"role": "user", "content": "Read file three."}, {"role": "assistant", "content": "Done three."},
      {"role": "user", "content": "Read file four."}]},
      "usage": {"prompt_tokens": 96000, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 84000}}}
    ```

    ## Limits
    A cap that acts in rare, large steps is seen only once it acted. Models whose context is not known are taken to have
    131,072 tokens.
    """

    id = "KV508"
    severity = Severity.WARNING

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.UNBOUNDED_HISTORY:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.detail}` grows with every turn and is sent whole; nothing in this module cuts it",
                "drop many old messages at once when a token budget is reached; one by one on each "
                "turn would end the prefix (KV301)",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        line = [seen for seen in traffic.line if not seen.failed]
        seen = traffic.current
        grown = [pair.append_only and pair.relation is Relation.LINE for pair in traffic.line_pairs]
        if len(line) < LEAST_TURNS or not all(grown[-LEAST_TURNS + 1 :]) or seen.prompt_tokens < LEAST_PROMPT_TOKENS:
            return
        recent = line[-LEAST_TURNS:]
        steps = [later.prompt_tokens - earlier.prompt_tokens for earlier, later in itertools.pairwise(recent)]
        if min(steps) <= 0:
            return
        per_turn = sum(steps) / len(steps)
        context = context_tokens(seen.request.model)
        left = (context - seen.prompt_tokens) / per_turn
        if left > WITHIN_TURNS and seen.prompt_tokens < _NEAR_SHARE * context:
            return
        yield wire_finding(
            type(self),
            f"the prompt grows by about {per_turn:,.0f} tokens a turn: {seen.prompt_tokens:,} now, the context of "
            f"{context:,} is reached in {max(0, left):.0f} turns",
            tuple(other.index for other in recent),
            path="messages",
            growth_tokens=round(per_turn),
            context_tokens=context,
        )
