"""KV601."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import wire_finding

_LEAST_UNKNOWN = 3


class UnreportedUsage(Rule):
    """Answers do not say how many tokens were read, written or generated.

    ## What it does
    Finds streamed answers without usage, and usage that never says how much of the prompt was read from the cache.

    ## Why it costs
    What is not reported is unknown, not zero: no hit rate, no cost and no output bound can be told from estimates
    alone. OpenAI-compatible servers send usage in a stream only when `stream_options.include_usage` asks for it; vLLM
    and SGLang tell cached tokens only with a server flag.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()


    def ask(question: str):
        return client.chat.completions.create(
            model="gpt-5.4-mini", messages=[{"role": "user", "content": question}], stream=True, max_tokens=300
        )
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def ask(question: str):
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "user", "content": question}],
            stream=True,
            stream_options={"include_usage": True},
            max_tokens=300,
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "stream": true, "messages": [{"role": "user", "content": "Hello."}]},
      "usage": {}}
    ```

    ## Limits
    A stream that was cut, or an answer that failed, has no usage to report.
    """

    id = "KV601"
    severity = Severity.INFO

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.NO_STREAM_USAGE:
            yield of_practice(
                type(self),
                practice,
                "a streamed answer reports no usage unless `stream_options` asks for it: cached tokens stay unknown",
                'add stream_options={"include_usage": True}',
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        seen, counts = traffic.current, traffic.counts
        if seen.failed or seen.response.status not in (None, 200) or seen.request.api in ("embeddings", "unknown"):
            return
        usage = seen.response.usage
        if seen.request.stream and usage is None:
            asked = "" if seen.request.wants_usage else " (`stream_options.include_usage` is not set)"
            yield wire_finding(
                type(self),
                f"no usage in {counts.streamed_without_usage} of {counts.streamed} streamed answers{asked}: counts are "
                "estimates",
                (seen.index,),
                path="stream_options",
            )
        elif usage is not None and seen.hit_tokens is None:
            if counts.hits_unknown < _LEAST_UNKNOWN or counts.hits_unknown < counts.answered:
                return
            yield wire_finding(
                type(self),
                f"none of {counts.answered} answers says how many tokens were read from the cache: unknown, not zero",
                (seen.index,),
                path="usage",
            )
