"""llama.cpp's own `/completion`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from promptlint_core.exchange import Request
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.json_text import Object, as_int, as_list, as_object, as_text
from promptlint_proxy.protocols.openai_completions import read_prompts
from promptlint_proxy.protocols.parameters import read_parameters
from promptlint_proxy.protocols.prompt_builder import PromptBuilder

_COUNTS = ("tokens_evaluated", "tokens_predicted", "tokens_cached", "timings")


class LlamacppCompletion(Protocol):
    name: ClassVar[str] = "llamacpp"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:  # noqa: ARG002
        builder = PromptBuilder()
        prompt = body.get("prompt")
        if isinstance(prompt, dict):
            read_prompts(builder, prompt.get("prompt_string"), "prompt.prompt_string")
        else:
            read_prompts(builder, prompt)
        slot = as_int(body.get("id_slot"))
        return replace(
            request,
            model=as_text(body.get("model")) or None,
            pieces=tuple(builder.pieces),
            bound=read_bound(body, ("n_predict", "max_tokens")),
            n=as_int(body.get("n_cmpl")) or as_int(body.get("n")) or 1,
            stream=body.get("stream") is True,
            parameters=read_parameters(body, None, self.provider),
            routing_key=f"slot {slot}" if slot is not None and slot >= 0 else None,
        )

    def read_answer(self, body: Object, answer: Answer) -> None:
        for delta in self.read_event(body, "", answer):
            answer.add(delta)

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:  # noqa: ARG002
        index = as_int(event.get("index")) or 0
        answer.choice = index
        answer.model = as_text(event.get("model")) or answer.model
        answer.take_usage({count: event.get(count) for count in _COUNTS})
        answer.engine_hit_tokens = as_int(as_object(event.get("timings")).get("cache_n"))
        if "error" in event:
            answer.fail(event, 200)
        if event.get("stop") is True:
            answer.kind = "stop"
            answer.finish_reason = _STOP_WORDS.get(as_text(event.get("stop_type")), as_text(event.get("stop_type")))
        tokens = answer.take_step(index, as_int(event.get("tokens_predicted")))
        yield Delta("text", as_text(event.get("content")), index, tokens or len(as_list(event.get("tokens"))) or None)


_STOP_WORDS = {"limit": "length", "eos": "stop", "word": "stop"}
