"""Ollama's own API: chat and generate, streamed as JSON lines unless told otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

from promptlint_core.exchange import PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_core.render_order import render_order
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.content import read_images
from promptlint_proxy.protocols.json_text import Object, as_list, as_object, as_text
from promptlint_proxy.protocols.openai_chat import head_length, read_delta, read_message, read_tools
from promptlint_proxy.protocols.parameters import read_parameters
from promptlint_proxy.protocols.prompt_builder import PromptBuilder

_COUNTS = ("prompt_eval_count", "eval_count")


class _Ollama(Protocol):
    def finish_request(self, body: Object, request: Request, builder: PromptBuilder) -> Request:
        model = as_text(body.get("model")) or None
        return replace(
            request,
            model=model,
            pieces=tuple(builder.pieces),
            bound=read_bound(as_object(body.get("options")), ("num_predict",), "options."),
            stream=body.get("stream") is not False,
            parameters=read_parameters(body, model, self.provider),
            tool_names=tuple(builder.tool_names),
        )

    def take_line(self, line: Object, answer: Answer) -> None:
        answer.model = as_text(line.get("model")) or answer.model
        if line.get("done") is True:
            answer.kind = "stop"
            answer.finish_reason = as_text(line.get("done_reason")) or answer.finish_reason
            answer.take_usage({name: line.get(name) for name in _COUNTS})
        if "error" in line:
            answer.fail(line, 200)

    def read_answer(self, body: Object, answer: Answer) -> None:
        for delta in self.read_event(body, "", answer):
            answer.add(delta)


class OllamaChat(_Ollama):
    name: ClassVar[str] = "ollama_chat"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:  # noqa: ARG002
        builder = PromptBuilder()
        messages: list[Any] = as_list(body.get("messages"))
        first = head_length(messages)
        for part in render_order(as_text(body.get("model")), self.provider).parts:
            if part is Part.TOOLS:
                read_tools(builder, body)
            elif part is Part.SYSTEM:
                for index in range(first):
                    read_message(builder, messages[index], index, Part.SYSTEM)
            else:
                for index in range(first, len(messages)):
                    read_message(builder, messages[index], index, Part.MESSAGES)
        return self.finish_request(body, request, builder)

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:  # noqa: ARG002
        self.take_line(event, answer)
        message = as_object(event.get("message"))
        yield Delta("reasoning", as_text(message.get("thinking")))
        yield from read_delta(message, 0, answer)


class OllamaGenerate(_Ollama):
    name: ClassVar[str] = "ollama_generate"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:  # noqa: ARG002
        builder = PromptBuilder()
        builder.add_block([(PieceKind.TEXT, "system", as_text(body.get("system")))], Part.SYSTEM, None, "system")
        for content in read_images(body.get("images"), "images"):
            builder.add_block(content.entries, Part.MESSAGES, 0, "user")
        for name in ("prompt", "suffix"):
            builder.add_block([(PieceKind.TEXT, name, as_text(body.get(name)))], Part.MESSAGES, 0, "user")
        read = self.finish_request(body, request, builder)
        return replace(read, hidden_prefix=bool(body.get("context")))  # token ids of the turns before

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:  # noqa: ARG002
        self.take_line(event, answer)
        yield Delta("reasoning", as_text(event.get("thinking")))
        yield Delta("text", as_text(event.get("response")))
