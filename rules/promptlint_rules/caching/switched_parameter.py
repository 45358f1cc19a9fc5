"""KV407."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Policy, Traffic
from promptlint_rules.wire import wire_finding

_SHOWN_CHARS = 40
_MIN_SHARED_TOKENS = 32


class SwitchedParameter(Rule):
    """A parameter that belongs to the cache key changes within a conversation.

    ## What it does
    Finds conversations in which `tool_choice`, thinking, reasoning effort, the response format, verbosity or speed
    differ from one turn to the next, at providers that key their cache by it.

    ## Why it costs
    The text is the same and still nothing is read: the parameter is rendered into the prompt or is a part of the key.
    At Anthropic `tool_choice` and thinking lose the messages, `speed` the system text as well.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()


    def turn(items: list[dict], text: str):
        items.append({"role": "user", "content": text})
        return client.responses.create(
            model="gpt-5.4",
            input=items,
            reasoning={"effort": "high" if "why" in text else "low"},
            max_output_tokens=300,
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def turn(items: list[dict], text: str):
        items.append({"role": "user", "content": text})
        return client.responses.create(
            model="gpt-5.4",
            input=items,
            reasoning={"effort": "low"},
            max_output_tokens=300,
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/responses", "headers": {"host": "api.openai.com"}, "request": {
      "model": "gpt-5.4", "max_output_tokens": 50, "reasoning": {"effort": "low"},
      "instructions": "Answer in two sentences. Name the shelf of every book. Never promise a reservation.",
      "input": [{"role": "user", "content": "Write a greeting to the new members of our library; name its hours."}]}}
    {"t": 14, "path": "/v1/responses", "headers": {"host": "api.openai.com"}, "request": {
      "model": "gpt-5.4", "max_output_tokens": 50, "reasoning": {"effort": "high"},
      "instructions": "Answer in two sentences. Name the shelf of every book. Never promise a reservation.",
      "input": [{"role": "user", "content": "Write a greeting to the new members of our library; name its hours."},
                {"role": "assistant", "content": "Good morning."},
                {"role": "user", "content": "Longer."}]}}
    ```

    ## Limits
    Which parameters belong to the key is the vendor's word; those that leave the prefix intact (temperature, OpenAI's
    `tool_choice`) are never told.
    """

    id = "KV407"
    severity = Severity.WARNING

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.PARAMETER_BY_MESSAGE:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.detail}={practice.expression}` is chosen by the text of the message: a "
                "change of it loses the cached history",
                "keep it the same for the whole conversation",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.continuing():
            if not pair.same_model or pair.earlier.failed or pair.shared_tokens < _MIN_SHARED_TOKENS:
                continue
            old, new = dict(pair.earlier.request.parameters), dict(pair.later.request.parameters)
            changed = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
            if not changed:
                continue
            told = "; ".join(f"{name} from {_value(old.get(name))} to {_value(new.get(name))}" for name in changed)
            yield wire_finding(
                type(self),
                f"{told} changed within one conversation: {_lost(traffic.policy, changed)}",
                (pair.earlier.index, pair.later.index),
                path=changed[0],
                tokens_behind=pair.shared_tokens,
                parameters=changed,
            )


def _value(value: str | None) -> str:
    if value is None:
        return "the default"
    return value if len(value) <= _SHOWN_CHARS else "another value"


def _lost(policy: Policy, changed: list[str]) -> str:
    if not policy.explicit:
        return "the prefix is not read"
    return "cached system text and messages are lost" if "speed" in changed else "cached messages are lost"
