"""Text Generation Inference's own API: `/generate` and `/generate_stream`, one token an event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from promptlint_core.exchange import PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.json_text import Object, as_int, as_list, as_object, as_text
from promptlint_proxy.protocols.prompt_builder import PromptBuilder


class TgiGenerate(Protocol):
    name: ClassVar[str] = "tgi"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:
        builder = PromptBuilder()
        builder.add_block([(PieceKind.TEXT, "inputs", as_text(body.get("inputs")))], Part.MESSAGES, 0, "user")
        parameters = as_object(body.get("parameters"))
        return replace(
            request,
            model=as_text(parameters.get("adapter_id")) or None,
            pieces=tuple(builder.pieces),
            bound=read_bound(parameters, ("max_new_tokens",), "parameters."),
            n=as_int(parameters.get("best_of")) or 1,
            stream=body.get("stream") is True or head.path_only.endswith("generate_stream"),
        )

    def read_answer(self, body: Object, answer: Answer) -> None:
        answer.text("text", as_text(body.get("generated_text")))
        _take_details(as_object(body.get("details")), answer)

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:  # noqa: ARG002
        if "error" in event:
            answer.fail(event, 200)
        if event.get("generated_text") is not None:
            answer.kind = "stop"
        _take_details(as_object(event.get("details")), answer)
        token = as_object(event.get("token"))
        if token.get("special") is not True:
            yield Delta("text", as_text(token.get("text")), tokens=1)


def _take_details(details: Object, answer: Answer) -> None:
    answer.finish_reason = as_text(details.get("finish_reason")) or answer.finish_reason
    prompt = as_int(details.get("input_length")) or len(as_list(details.get("prefill"))) or None
    answer.take_usage({"prompt_tokens": prompt, "completion_tokens": as_int(details.get("generated_tokens"))})
