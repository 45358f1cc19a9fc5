"""vLLM's own `/inference/v1/generate`: token ids in and out, rendered and decoded elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from promptlint_core.exchange import Request
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.json_text import Object, as_int, as_list, as_object, as_text
from promptlint_proxy.protocols.openai_chat import take_envelope, wants_usage
from promptlint_proxy.protocols.openai_completions import UNTOLD_TEXT, ids_as_text, read_prompts
from promptlint_proxy.protocols.prompt_builder import PromptBuilder
from promptlint_proxy.protocols.routing import read_salt

_SERVER_BOUND = 16


class VllmGenerate(Protocol):
    name: ClassVar[str] = "vllm_generate"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:  # noqa: ARG002
        builder = PromptBuilder()
        read_prompts(builder, body.get("token_ids"), "token_ids")
        sampling = as_object(body.get("sampling_params"))
        return replace(
            request,
            model=as_text(body.get("model")) or None,
            pieces=tuple(builder.pieces),
            bound=read_bound(sampling, ("max_tokens",), "sampling_params.", server_tokens=_SERVER_BOUND),
            n=as_int(sampling.get("n")) or 1,
            stream=body.get("stream") is True,
            wants_usage=wants_usage(body),
            salt=read_salt(body, self.provider),
            notes=(UNTOLD_TEXT,),
        )

    def read_answer(self, body: Object, answer: Answer) -> None:
        for delta in self.read_event(body, "", answer):
            answer.add(delta)

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:  # noqa: ARG002
        take_envelope(event, answer)
        for choice in map(as_object, as_list(event.get("choices"))):
            index = as_int(choice.get("index")) or 0
            answer.choice = index
            ids = as_list(choice.get("token_ids"))
            yield Delta("text", ids_as_text(ids), index, len(ids) or None)
            if choice.get("finish_reason"):
                answer.finish_reason = as_text(choice.get("finish_reason"))
                answer.kind = "stop"
