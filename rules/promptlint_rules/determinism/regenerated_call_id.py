"""KV207."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class RegeneratedCallId(Rule):
    """Ids of old tool calls are made anew when the history is rebuilt.

    ## What it does
    Finds old tool calls and results that differ in their id alone.

    ## Why it costs
    The id is a part of the rendered prompt. From the first call of the conversation on nothing is read from the cache,
    on every turn.

    ## Example
    ```python
    import uuid

    from openai import OpenAI

    client = OpenAI()


    def render(stored: dict) -> dict:
        call_id = stored.get("call_id") or f"call_{uuid.uuid4().hex}"
        return {"type": "function_call_output", "call_id": call_id, "output": stored["output"]}


    def turn(history: list[dict], text: str):
        items = [render(stored) for stored in history]
        return client.responses.create(
            model="gpt-5.4-mini", input=[*items, {"role": "user", "content": text}], max_output_tokens=300
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def render(stored: dict, number: int) -> dict:
        call_id = stored.get("call_id") or f"call_{number}"
        return {"type": "function_call_output", "call_id": call_id, "output": stored["output"]}


    def turn(history: list[dict], text: str):
        items = [render(stored, number) for number, stored in enumerate(history)]
        return client.responses.create(
            model="gpt-5.4-mini", input=[*items, {"role": "user", "content": text}], max_output_tokens=300
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "Find order 71."},
      {"role": "assistant", "tool_calls": [{"id": "call_9f21c0aa71d24e0b", "type": "function",
        "function": {"name": "lookup", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "call_9f21c0aa71d24e0b", "content": "shipped"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "Find order 71."},
      {"role": "assistant", "tool_calls": [{"id": "call_03cd77e1f0a84d1f", "type": "function",
        "function": {"name": "lookup", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "call_03cd77e1f0a84d1f", "content": "shipped"},
      {"role": "assistant", "content": "It is shipped."},
      {"role": "user", "content": "When?"}]}}
    ```

    ## Limits
    Whether the model reads the id depends on the provider's rendering; it is told wherever it changes.
    """

    id = "KV207"
    severity = Severity.ERROR

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.REGENERATED_ID:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.expression}` makes a new id each time that the stored messages are rendered",
                "give the id once, when the call is stored, or derive it from its place in the history",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.CALL_ID):
            ids = len(pair.differences)
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: {ids} ids of old tool calls and results are new while names, arguments and results are "
                f"as they were; {pair.behind_tokens:,} tokens behind the first one are read again",
                ids=ids,
            )
