"""KV501."""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptlint_core.cadence import Evidence
from promptlint_core.prompt import BoundKind, Call
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import wire_finding

_UNTIL = {
    "vllm": "the rest of the context window",
    "llamacpp": "without end",
    "ollama": "ten times the context length",
}
"""How far an unbounded answer runs, where it is not the model's maximum (servers' documentation, 2026-11)."""

_OPEN_ENDED = frozenset(
    {"chat", "responses", "generate_content", "interactions", "converse", "invoke", "ollama_chat", "ollama_generate",
     "llamacpp", "cohere_chat"}
)  # fmt: skip
"""Wire formats whose output has no bound when the request names none. The legacy completions stop at 16 tokens, native
SGLang at 128; Anthropic refuses a request without one."""
_AT_LIMIT = frozenset({"length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "incomplete"})

_NO_TEXT = re.compile(r"(?i)(?:^|[-/_.])(?:images?|imagen|dall-?e|tts|whisper|sora|veo|embed|embedding)(?:[-/_.\d]|$)")
"""Models whose answer is a picture, a film, a recording or numbers."""


class UnboundedOutput(Rule):
    """A call to a model sets no bound on its output.

    ## What it does
    Finds calls and model objects without max_tokens, max_completion_tokens, max_output_tokens, num_predict or
    max_new_tokens, or with None or -1 in their place.

    ## Why it costs
    A bound is what a server plans its KV memory by and what ends a runaway answer. Without one, a single repetition
    loop decodes up to the model's maximum, token by token, and holds its KV blocks all the time.

    ## Example
    ```python
    from openai import OpenAI

    client = OpenAI()


    def title(text: str) -> str:
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "user", "content": text}],
        )
        return reply.choices[0].message.content
    ```

    ## Use instead
    ```python
    from openai import OpenAI

    client = OpenAI()


    def title(text: str) -> str:
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "user", "content": text}],
            max_completion_tokens=60,
        )
        return reply.choices[0].message.content
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "messages": [{"role": "user", "content": "List the findings."}]}}
    ```

    ## Limits
    A bound that may be set elsewhere (keyword arguments, a configuration, a client's or wrapper's default) is unknown
    and never told. A picture or a recording has the size that its model gives it: calls for one are not told.
    """

    id = "KV501"
    severity = Severity.WARNING

    def check_call(self, call: Call) -> Iterator[Finding]:
        if call.kind == "retrieval" or call.bound.kind not in (BoundKind.ABSENT, BoundKind.UNLIMITED):
            return
        if call.model and _NO_TEXT.search(call.model):
            return
        until = _UNTIL.get(call.provider, "the model's maximum")
        lifted = call.bound.kind is BoundKind.UNLIMITED and call.bound.parameter
        how = f"`{call.bound.parameter}` lifts the bound" if lifted else "no bound on output tokens"
        yield Finding(
            rule=self.id,
            name=self.name,
            severity=self.severity,
            confidence=Evidence.PROVED,
            message=f"{how} in `{call.callee}`: an answer may run to {until}",
            place=call.bound.place or call.place,
            expression=call.callee,
            advice="set the bound to a little more than the longest good answer",
            prompt=call.prompt,
            call=call,
        )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        seen = traffic.current
        request = seen.request
        if request.api not in _OPEN_ENDED or request.bound.kind not in (BoundKind.ABSENT, BoundKind.UNLIMITED):
            return
        if _NO_TEXT.search(request.model or "") or (not request.pieces and not request.hidden_prefix):
            return
        until = _UNTIL.get(request.provider, "the model's maximum")
        largest = traffic.counts.largest_output
        so_far = f"; the largest answer so far has {largest:,} tokens" if largest else ""
        cut = ", and it ended at the limit" if seen.response.finish_reason in _AT_LIMIT else ""
        yield wire_finding(
            type(self),
            f"no bound on output tokens: an answer may run to {until}{so_far}{cut}",
            (seen.index,),
            largest_output=largest or None,
        )
