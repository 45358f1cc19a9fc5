"""Mistral conversations: the server keeps the earlier turns, and of an agent its instructions and tools."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from promptlint_core.exchange import PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.content import read_content
from promptlint_proxy.protocols.json_text import Object, as_list, as_object, as_text, compact
from promptlint_proxy.protocols.openai_chat import read_tools
from promptlint_proxy.protocols.prompt_builder import PromptBuilder


class MistralConversations(Protocol):
    name: ClassVar[str] = "conversations"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:
        builder = PromptBuilder()
        builder.add_block(
            [(PieceKind.TEXT, "instructions", as_text(body.get("instructions")))], Part.SYSTEM, None, "system"
        )
        read_tools(builder, body)
        _read_inputs(builder, body)
        continues = not head.path_only.rstrip("/").endswith("/conversations")
        return replace(
            request,
            model=as_text(body.get("model")) or None,
            pieces=tuple(builder.pieces),
            bound=read_bound(as_object(body.get("completion_args")), ("max_tokens",), "completion_args."),
            stream=body.get("stream") is True,
            tool_names=tuple(builder.tool_names),
            hidden_prefix=continues or bool(body.get("agent_id")),
        )

    def read_answer(self, body: Object, answer: Answer) -> None:
        answer.take_usage(body.get("usage"))
        for entry in map(as_object, as_list(body.get("outputs"))):
            for delta in _read_entry(entry, answer):
                answer.add(delta)

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:
        kind = as_text(event.get("type")) or name
        if kind == "conversation.response.done":
            answer.kind = "stop"
            answer.take_usage(event.get("usage"))
        elif kind == "conversation.response.error":
            answer.fail({"error": {"type": "conversation.response.error"}}, 200)
        elif kind.endswith(".delta"):
            yield from _read_entry(event, answer)


def _read_inputs(builder: PromptBuilder, body: Object) -> None:
    given = body.get("inputs")
    entries = [{"role": "user", "content": given}] if isinstance(given, str) else as_list(given)
    for index, entry in enumerate(map(as_object, entries)):
        path = "inputs" if isinstance(given, str) else f"inputs[{index}].content"
        role = as_text(entry.get("role")) or "tool"
        builder.add_head((PieceKind.ROLE, f"inputs[{index}].role", role), Part.MESSAGES, index, role)
        call_id = as_text(entry.get("tool_call_id"))
        builder.add_head((PieceKind.ID, f"inputs[{index}].tool_call_id", call_id), Part.MESSAGES, index, role)
        for content in read_content(entry.get("content", entry.get("result")), path):
            builder.add_block(content.entries, Part.MESSAGES, index, role)


def _read_entry(entry: Object, answer: Answer) -> Iterable[Delta]:
    answer.model = as_text(entry.get("model")) or answer.model
    if as_text(entry.get("type")).startswith("function.call"):
        if entry.get("name"):
            answer.tools.append(as_text(entry.get("name")))
        given = entry.get("arguments")
        yield Delta("tool", given if isinstance(given, str) else "" if given is None else compact(given))
        return
    content = entry.get("content")
    for part in [{"text": content}] if isinstance(content, str) else map(as_object, as_list(content)):
        thinking = as_list(part.get("thinking"))
        yield Delta("reasoning", "".join(as_text(as_object(step).get("text")) for step in thinking))
        yield Delta("text", as_text(part.get("text")))
