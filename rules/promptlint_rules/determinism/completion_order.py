"""KV206."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import of_pair


class CompletionOrder(Rule):
    """Results of parallel tool calls stand in the order in which they finished.

    ## What it does
    Finds batches of tool results that changed places between one turn and the next.

    ## Why it costs
    The live run wrote them as they came, the replay writes them as they were stored. The prefix ends at the first
    result that moved, in the middle of the history.

    ## Example
    ```python
    from concurrent.futures import ThreadPoolExecutor, as_completed

    from openai import OpenAI

    client = OpenAI()
    pool = ThreadPoolExecutor(max_workers=8)


    def answer(calls, run, messages: list[dict]):
        futures = {pool.submit(run, call): call for call in calls}
        for future in as_completed(futures):
            messages.append({"role": "tool", "tool_call_id": futures[future].id, "content": future.result()})
        return client.chat.completions.create(model="gpt-5.4-mini", messages=messages, max_tokens=300)
    ```

    ## Use instead
    ```python
    from concurrent.futures import ThreadPoolExecutor

    from openai import OpenAI

    client = OpenAI()
    pool = ThreadPoolExecutor(max_workers=8)


    def answer(calls, run, messages: list[dict]):
        for call, result in zip(calls, pool.map(run, calls), strict=True):
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        return client.chat.completions.create(model="gpt-5.4-mini", messages=messages, max_tokens=300)
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "Track both."},
      {"role": "assistant", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "track", "arguments": "{\\"parcel\\":1}"}},
        {"id": "c2", "type": "function", "function": {"name": "track", "arguments": "{\\"parcel\\":2}"}}]},
      {"role": "tool", "tool_call_id": "c2", "content": "on the van"},
      {"role": "tool", "tool_call_id": "c1", "content": "in the depot"}]}}
    {"t": 9, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "user", "content": "Track both."},
      {"role": "assistant", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "track", "arguments": "{\\"parcel\\":1}"}},
        {"id": "c2", "type": "function", "function": {"name": "track", "arguments": "{\\"parcel\\":2}"}}]},
      {"role": "tool", "tool_call_id": "c1", "content": "in the depot"},
      {"role": "tool", "tool_call_id": "c2", "content": "on the van"},
      {"role": "assistant", "content": "One is in the depot, one on the van."},
      {"role": "user", "content": "Thanks."}]}}
    ```

    ## Limits
    Only a permutation of equal results is told; results that changed as well are edited history (KV302).
    """

    id = "KV206"
    severity = Severity.ERROR

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.COMPLETION_ORDER:
            yield of_practice(
                type(self),
                practice,
                f"tool results enter the messages in the order in which the tools finish (`{practice.expression}`)",
                "put them in the order of the calls: gather() and map() keep it",
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        for pair in traffic.of_kind(Kind.RESULT_ORDER):
            yield of_pair(
                type(self),
                pair,
                f"{pair.place}: the same {pair.detail} of one batch of tool calls in another order; "
                "order them like their calls",
            )
