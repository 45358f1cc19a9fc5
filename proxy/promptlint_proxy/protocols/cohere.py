"""Cohere chat, v2 and v1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

from promptlint_core.exchange import PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.json_text import Object, as_list, as_object, as_text, compact
from promptlint_proxy.protocols.openai_chat import head_length, read_delta, read_documents, read_message, read_tools
from promptlint_proxy.protocols.parameters import read_parameters
from promptlint_proxy.protocols.prompt_builder import PromptBuilder


class CohereChat(Protocol):
    name: ClassVar[str] = "cohere_chat"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:  # noqa: ARG002
        model = as_text(body.get("model")) or None
        builder = PromptBuilder()
        messages: list[Any] = as_list(body.get("messages"))
        first = head_length(messages)
        builder.add_block([(PieceKind.TEXT, "preamble", as_text(body.get("preamble")))], Part.SYSTEM, None, "system")
        for index in range(first):
            read_message(builder, messages[index], index, Part.SYSTEM)
        read_tools(builder, body)
        read_documents(builder, body)
        for index in range(first, len(messages)):
            read_message(builder, messages[index], index, Part.MESSAGES)
        for index, turn in enumerate(map(as_object, as_list(body.get("chat_history")))):  # v1
            path, role = f"chat_history[{index}]", as_text(turn.get("role")).lower()
            builder.add_head((PieceKind.ROLE, f"{path}.role", role), Part.MESSAGES, index, role)
            builder.add_block(
                [(PieceKind.TEXT, f"{path}.message", as_text(turn.get("message")))], Part.MESSAGES, index, role
            )
        builder.add_block([(PieceKind.TEXT, "message", as_text(body.get("message")))], Part.MESSAGES, None, "user")
        return replace(
            request,
            model=model,
            pieces=tuple(builder.pieces),
            bound=read_bound(body, ("max_tokens",)),
            stream=body.get("stream") is True,
            parameters=read_parameters(body, model, self.provider),
            tool_names=tuple(builder.tool_names),
            hidden_prefix=bool(body.get("conversation_id")),
        )

    def read_answer(self, body: Object, answer: Answer) -> None:
        message = as_object(body.get("message"))
        answer.finish_reason = as_text(body.get("finish_reason")) or None
        answer.take_usage(body.get("usage") or as_object(body.get("meta")))
        answer.text("reasoning", as_text(message.get("tool_plan")))
        for delta in read_delta(message, 0, answer):
            answer.add(delta)
        answer.text("text", as_text(body.get("text")))
        _take_citations((*as_list(message.get("citations")), *as_list(body.get("citations"))), answer)

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:
        kind = as_text(event.get("type")) or name
        delta = as_object(event.get("delta"))
        message = as_object(delta.get("message"))
        if kind == "content-delta":
            content = as_object(message.get("content"))
            yield Delta("reasoning", as_text(content.get("thinking")))
            yield Delta("text", as_text(content.get("text")))
        elif kind == "tool-plan-delta":
            yield Delta("reasoning", as_text(message.get("tool_plan")))
        elif kind in {"tool-call-start", "tool-call-delta"}:
            calls = message.get("tool_calls")
            yield from read_delta({"tool_calls": calls if isinstance(calls, list) else [calls]}, 0, answer)
        elif kind == "citation-start":
            _take_citations((message.get("citations"),), answer)
        elif kind == "message-start":
            answer.kind = "role"
        elif kind == "message-end":
            answer.kind = "stop"
            answer.finish_reason = as_text(delta.get("finish_reason")) or answer.finish_reason
            answer.take_usage(delta.get("usage"))


def _take_citations(citations: Iterable[object], answer: Answer) -> None:
    for citation in map(as_object, citations):
        for source in map(as_object, as_list(citation.get("sources"))):
            answer.cited.add(as_text(source.get("id")) or compact(source))
        answer.cited.update(document for document in as_list(citation.get("document_ids")) if isinstance(document, str))
