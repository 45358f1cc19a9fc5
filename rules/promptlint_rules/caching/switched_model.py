"""KV406."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Pair, Traffic
from promptlint_rules.wire import wire_finding

_MIN_SHARED_TOKENS = 32


class SwitchedModel(Rule):
    """A conversation moves to another model or to another serving provider.

    ## What it does
    Finds conversations whose next turn asks for another model, or is answered by another provider behind a router.

    ## Why it costs
    Caches are kept per model and per provider. The whole conversation is computed again, and once more when it moves
    back.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()


    def turn(history: list[dict], text: str):
        return client.chat.completions.create(
            model="gpt-5.4" if len(text) > 300 else "gpt-5.4-mini",
            messages=[*history, {"role": "user", "content": text}],
            max_tokens=300,
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def turn(history: list[dict], text: str, model: str):
        return client.chat.completions.create(
            model=model,
            messages=[*history, {"role": "user", "content": text}],
            max_tokens=300,
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "small", "max_tokens": 50, "messages": [
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "user", "content": "Write a greeting for the new members of the library."}]}}
    {"t": 19, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "large", "max_tokens": 50, "messages": [
      {"role": "system", "content": "Answer in two sentences. Name the shelf of every book."},
      {"role": "system", "content": "Never promise a reservation. Be brief, be kind, quote prices in euros."},
      {"role": "user", "content": "Write a greeting for the new members of the library."},
      {"role": "assistant", "content": "Good morning."},
      {"role": "user", "content": "Longer."}]}}
    ```

    ## Limits
    Another model for another agent, and a fallback after a failed request, are not told.
    """

    id = "KV406"
    severity = Severity.WARNING

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.MODEL_BY_MESSAGE:
            yield of_practice(
                type(self),
                practice,
                f"`model={practice.expression}` is chosen {practice.detail} within a conversation: "
                "each model has a cache of its own",
                "choose the model once for a conversation",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.continuing():
            moved = _moved(pair)
            if moved is None or pair.shared_tokens < _MIN_SHARED_TOKENS or pair.earlier.failed:
                continue
            what, before, after = moved
            yield wire_finding(
                type(self),
                f"the {what} changed from {before} to {after} within one conversation: "
                f"{pair.shared_tokens:,} common tokens cannot be read",
                (pair.earlier.index, pair.later.index),
                path="model" if what == "model" else "",
                tokens_behind=pair.shared_tokens,
                before=before,
                after=after,
            )


def _moved(pair: Pair) -> tuple[str, str, str] | None:
    old, new = pair.earlier.request.model, pair.later.request.model
    if old and new and old != new:
        return "model", old, new
    served = pair.earlier.response.served_by, pair.later.response.served_by
    if served[0] and served[1] and served[0] != served[1]:
        return "serving provider", served[0], served[1]
    return None
