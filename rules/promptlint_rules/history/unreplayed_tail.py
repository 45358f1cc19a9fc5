"""KV305."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Pair, Traffic
from promptlint_rules.wire import of_pair


class UnreplayedTail(Rule):
    """The end of a request is not stored and does not come back.

    ## What it does
    Finds turns whose last message was longer when it was first sent (a time, a reminder, a note to the model), or was
    followed by a message that is absent from the next request.

    ## Why it costs
    The cache holds what was sent. An entry written at the end of the decorated message is never read, and what was
    generated behind it is computed again.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()


    def turn(history: list[dict], text: str, page: str):
        sent = f"{text} (The reader looks at {page}.)"
        reply = client.chat.completions.create(
            model="gpt-5.4-mini", messages=history + [{"role": "user", "content": sent}], max_tokens=300
        )
        history.append({"role": "user", "content": text})
        return reply
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def turn(history: list[dict], text: str, page: str):
        history.append({"role": "user", "content": f"{text} (The reader looks at {page}.)"})
        return client.chat.completions.create(model="gpt-5.4-mini", messages=history, max_tokens=300)
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "I slept badly. (Remember to be kind and to answer in one sentence.)"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "I slept badly."},
      {"role": "assistant", "content": "Take it easy today."},
      {"role": "user", "content": "And tomorrow? (Remember to be kind and to answer in one sentence.)"}]}}
    ```

    ## Limits
    An ephemeral end that stands behind the last cache marker is harmless and not told.
    """

    id = "KV305"
    severity = Severity.WARNING

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.UNREPLAYED_TAIL:
            yield of_practice(
                type(self),
                practice,
                f"the newest message is sent as `{practice.expression}` and stored without the "
                "addition: the next turn reads it again",
                "store what was sent, or put the addition behind the last cache breakpoint",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.TAIL):
            if _behind_last_marker(pair):
                continue
            how = "is absent" if pair.detail == "absent" else "was longer when it was first sent"
            yield of_pair(
                type(self),
                pair,
                f"`{pair.path}`: the last message of the earlier request {how}; store the text as sent",
            )


def _behind_last_marker(pair: Pair) -> bool:
    """Every marker of the earlier request stands ahead of the end that was lost."""
    markers = pair.earlier.request.markers
    return bool(markers) and all(marker.piece < pair.shared_pieces for marker in markers)
