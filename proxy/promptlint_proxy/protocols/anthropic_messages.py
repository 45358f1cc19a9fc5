"""Anthropic Messages: explicit cache markers, usage counted beside the cached tokens."""

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
from promptlint_proxy.protocols.content import TEXT_TYPES, read_content, without_markers
from promptlint_proxy.protocols.json_text import Object, as_list, as_object, as_text, compact
from promptlint_proxy.protocols.openai_chat import head_length
from promptlint_proxy.protocols.parameters import read_parameters
from promptlint_proxy.protocols.prompt_builder import Entry, PromptBuilder
from promptlint_proxy.protocols.routing import read_routing_key, read_salt

_DELTA_KINDS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("reasoning", "thinking"),
    "input_json_delta": ("tool", "partial_json"),
}
_SERVER_BOUND_LLAMACPP = 4096


class AnthropicMessages(Protocol):
    name: ClassVar[str] = "messages"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:
        model = as_text(body.get("model")) or model_in_path(head.path) or None
        builder = PromptBuilder()
        messages = as_list(body.get("messages"))
        first = head_length(messages)
        for part in render_order(model, self.provider).parts:
            if part is Part.TOOLS:
                _read_tools(builder, body)
            elif part is Part.SYSTEM:
                for content in read_content(body.get("system"), "system"):
                    builder.add_block(content.entries, Part.SYSTEM, None, "system", content.holder, content.path)
                for index in range(first):
                    _read_message(builder, as_object(messages[index]), index, Part.SYSTEM)
            else:
                for index in range(first, len(messages)):
                    _read_message(builder, as_object(messages[index]), index, Part.MESSAGES)
        if isinstance(control := body.get("cache_control"), dict):
            builder.mark_last_block("cache_control", control)
        return replace(
            request,
            model=model,
            pieces=tuple(builder.pieces),
            markers=tuple(builder.markers),
            bound=read_bound(
                body,
                ("max_tokens",),
                server_tokens=_SERVER_BOUND_LLAMACPP if self.provider == "llamacpp" else None,
            ),
            stream=body.get("stream") is True or "streamRawPredict" in head.path,
            parameters=read_parameters(body, model, self.provider),
            routing_key=read_routing_key(body, head.headers, self.provider),
            salt=read_salt(body, self.provider),
            tool_names=tuple(builder.tool_names),
            hidden_prefix=isinstance(body.get("container"), str),
        )

    def read_answer(self, body: Object, answer: Answer) -> None:
        _take_message(body, answer)
        for block in map(as_object, as_list(body.get("content"))):
            kind = as_text(block.get("type"))
            _take_block(block, answer)
            if kind == "text":
                answer.text("text", as_text(block.get("text")))
                _take_citations(block, answer)
            elif kind == "thinking":
                answer.text("reasoning", as_text(block.get("thinking")))
            elif kind.endswith("tool_use"):
                answer.text("tool", compact(block.get("input")))

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:
        kind = as_text(event.get("type")) or name
        if kind == "content_block_delta":
            delta = as_object(event.get("delta"))
            delta_kind = as_text(delta.get("type"))
            if delta_kind in _DELTA_KINDS:
                told, key = _DELTA_KINDS[delta_kind]
                yield Delta(told, as_text(delta.get(key)))
            elif delta_kind == "citations_delta":
                _take_citations({"citations": [delta.get("citation")]}, answer)
        elif kind == "message_start":
            answer.kind = "role"
            _take_message(as_object(event.get("message")), answer)
        elif kind == "content_block_start":
            _take_block(as_object(event.get("content_block")), answer)
        elif kind == "message_delta":
            answer.kind = "usage"
            _take_message({**as_object(event.get("delta")), "usage": event.get("usage")}, answer)
        elif kind == "message_stop":
            answer.kind = "stop"
        elif kind == "ping":
            answer.kind = "ping"
        elif kind == "error":
            answer.fail(event, 200)


def model_in_path(path: str) -> str:
    """The model in `…/models/{model}:rawPredict`; empty for other paths."""
    _, found, rest = path.partition("?")[0].partition("/models/")
    return rest.partition(":")[0] if found else ""


def _read_tools(builder: PromptBuilder, body: Object) -> None:
    for index, tool in enumerate(as_list(body.get("tools"))):
        if not isinstance(tool, dict):
            continue
        path = f"tools[{index}]"
        if "input_schema" in tool or tool.get("type") in {None, "custom"}:
            builder.add_tool(path, tool, tool, tool.get("input_schema"))
        else:
            builder.add_other_tool(path, tool)


def _read_message(builder: PromptBuilder, message: Object, index: int, part: Part) -> None:
    path = f"messages[{index}]"
    role = as_text(message.get("role"))
    builder.add_head((PieceKind.ROLE, f"{path}.role", role), part, index, role)
    content = message.get("content")
    if isinstance(content, str):
        builder.add_block([(PieceKind.TEXT, f"{path}.content", content)], part, index, role)
        return
    blocks = as_list(content)
    for number, block in enumerate(blocks):
        if not isinstance(block, dict):
            continue
        place = f"{path}.content[{number}]"
        list_path = f"{path}.content" if len(blocks) == 1 else None
        builder.add_block(_block_entries(builder, block, place, list_path), part, index, role, block, place)


def _block_entries(builder: PromptBuilder, block: Object, place: str, list_path: str | None) -> list[Entry]:
    kind = as_text(block.get("type"))
    if kind in TEXT_TYPES:
        return [(PieceKind.TEXT, list_path or f"{place}.text", as_text(block.get("text")))]
    if kind == "thinking":
        thinking = as_text(block.get("thinking"))
        key = "thinking" if thinking else "signature"  # the text may be withheld: the signature stands for it
        return [(PieceKind.REASONING, f"{place}.{key}", as_text(block.get(key)))]
    if kind == "redacted_thinking":
        return [(PieceKind.REASONING, f"{place}.data", as_text(block.get("data")))]
    if kind.endswith("tool_use"):
        given = block.get("input")
        return [
            (PieceKind.ID, f"{place}.id", as_text(block.get("id"))),
            (PieceKind.NAME, f"{place}.name", as_text(block.get("name"))),
            (PieceKind.ARGUMENTS, f"{place}.input", "" if given is None else compact(given)),
        ]
    if kind.endswith("tool_result"):
        return [
            (PieceKind.ID, f"{place}.tool_use_id", as_text(block.get("tool_use_id"))),
            *_result_entries(builder, block.get("content"), f"{place}.content"),
        ]
    source = as_object(block.get("source"))
    if source:
        titles: list[Entry] = [
            (PieceKind.TEXT, f"{place}.{name}", as_text(block.get(name))) for name in ("title", "context")
        ]
        return [*titles, *_source_entries(source, f"{place}.source")]
    return [(PieceKind.TEXT, place, compact(without_markers(block)))]


def _result_entries(builder: PromptBuilder, content: Any, path: str) -> list[Entry]:
    """Text and images inside a tool result: they belong to its block."""
    entries: list[Entry] = []
    if isinstance(content, dict):
        return [(PieceKind.TEXT, path, compact(content))]
    for inner in read_content(content, path):
        source = as_object((inner.holder or {}).get("source"))
        entries += _source_entries(source, f"{inner.path}.source") if source else inner.entries
        if inner.holder:
            builder.mark_at_end(inner.holder, inner.path)
    return entries


def _source_entries(source: Object, path: str) -> list[Entry]:
    for key in ("data", "url", "file_id"):
        value = source.get(key)
        if isinstance(value, str) and value:
            kind = PieceKind.TEXT if source.get("type") == "text" else PieceKind.IMAGE
            return [(kind, f"{path}.{key}", value)]
    return [entry for content in read_content(source.get("content"), f"{path}.content") for entry in content.entries]


def _take_message(message: Object, answer: Answer) -> None:
    answer.model = as_text(message.get("model")) or answer.model
    answer.served_by = as_text(message.get("provider")) or answer.served_by
    answer.finish_reason = as_text(message.get("stop_reason")) or answer.finish_reason
    answer.take_usage(message.get("usage"))
    reason = as_object(as_object(message.get("diagnostics")).get("cache_miss_reason"))
    answer.diagnosis = as_text(reason.get("type")) or answer.diagnosis


def _take_block(block: Object, answer: Answer) -> None:
    kind = as_text(block.get("type"))
    if kind.endswith("tool_use"):
        answer.tools.append(as_text(block.get("name")))
        answer.kind = "tool"
    elif kind in {"thinking", "redacted_thinking"}:
        answer.reasoning = True


def _take_citations(block: Object, answer: Answer) -> None:
    for citation in as_list(block.get("citations")):
        cited = as_object(citation)
        document = (
            cited.get("url") or cited.get("source") or cited.get("document_index", cited.get("search_result_index"))
        )
        if document is not None:
            answer.cited.add(compact(document))
