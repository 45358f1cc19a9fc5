"""SGLang's own `/generate`: its stream repeats the whole text in each event unless the server says otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from promptlint_core.exchange import Request
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.json_text import Object, as_int, as_list, as_object, as_text
from promptlint_proxy.protocols.openai_completions import UNTOLD_TEXT, read_prompts
from promptlint_proxy.protocols.parameters import read_parameters
from promptlint_proxy.protocols.prompt_builder import PromptBuilder
from promptlint_proxy.protocols.routing import read_salt

_SERVER_BOUND = 128


class SglangGenerate(Protocol):
    name: ClassVar[str] = "sglang_generate"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:  # noqa: ARG002
        builder = PromptBuilder()
        key = "text" if body.get("text") is not None else "input_ids"
        prompts = read_prompts(builder, body.get(key), key)
        sampling = as_object(body.get("sampling_params"))
        return replace(
            request,
            model=as_text(body.get("model")) or None,
            pieces=tuple(builder.pieces),
            bound=read_bound(sampling, ("max_new_tokens",), "sampling_params.", server_tokens=_SERVER_BOUND),
            n=(as_int(sampling.get("n")) or 1) * max(prompts, 1),
            stream=body.get("stream") is True,
            parameters=read_parameters(body, None, self.provider),
            salt=read_salt(body, self.provider),
            notes=(UNTOLD_TEXT,) if key == "input_ids" else (),
        )

    def read_answer(self, body: Object, answer: Answer) -> None:
        answer.text("text", as_text(body.get("text")))
        _take_meta(as_object(body.get("meta_info")), answer)

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:  # noqa: ARG002
        index = as_int(event.get("index")) or 0
        answer.choice = index
        meta = as_object(event.get("meta_info"))
        _take_meta(meta, answer)
        if isinstance(event.get("error"), dict):
            answer.fail(event, 200)
        tokens = answer.take_step(index, as_int(meta.get("completion_tokens")))
        if tokens is None:
            tokens = len(as_list(event.get("output_ids"))) or None
        text = as_text(event.get("text"))
        before = answer.cumulative.get(index, "")
        fresh = text.removeprefix(before)
        answer.cumulative[index] = text if text.startswith(before) else before + text
        yield Delta("text", fresh, index, tokens)


def _take_meta(meta: Object, answer: Answer) -> None:
    finish = meta.get("finish_reason")
    answer.finish_reason = as_text(as_object(finish).get("type")) or as_text(finish) or answer.finish_reason
    answer.take_usage({name: meta.get(name) for name in ("prompt_tokens", "cached_tokens", "completion_tokens")})
