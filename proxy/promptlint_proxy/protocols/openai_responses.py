"""OpenAI Responses: instructions and input items; part of the prompt may be kept by the server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

from promptlint_core.exchange import PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_core.render_order import render_order
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.content import read_content, without_markers
from promptlint_proxy.protocols.json_text import Object, as_list, as_object, as_text, compact
from promptlint_proxy.protocols.openai_chat import HEAD_ROLES, read_tools
from promptlint_proxy.protocols.parameters import read_parameters
from promptlint_proxy.protocols.prompt_builder import OPENAI_LIFE_S, Entry, PromptBuilder, life_s
from promptlint_proxy.protocols.routing import read_routing_key, read_salt

_KINDS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.audio.transcript.delta": "text",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.function_call_arguments.delta": "tool",
    "response.custom_tool_call_input.delta": "tool",
    "response.mcp_call_arguments.delta": "tool",
    "response.code_interpreter_call_code.delta": "tool",
}
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_KEPT_BY_SERVER = ("previous_response_id", "conversation", "prompt")


class OpenAIResponses(Protocol):
    name: ClassVar[str] = "responses"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:
        model = as_text(body.get("model")) or None
        cache_options = as_object(body.get("prompt_cache_options"))
        builder = PromptBuilder(life_s(cache_options.get("ttl"), OPENAI_LIFE_S))
        given = body.get("input")
        items: list[Any] = as_list(given)
        first = _head_length(items)
        for part in render_order(model, self.provider).parts:
            if part is Part.TOOLS:
                read_tools(builder, body)
            elif part is Part.SYSTEM:
                for content in read_content(body.get("instructions"), "instructions"):
                    builder.add_block(content.entries, Part.SYSTEM, None, "system", content.holder, content.path)
                for index in range(first):
                    _read_item(builder, items[index], index, Part.SYSTEM)
            elif isinstance(given, str):
                builder.add_head((PieceKind.ROLE, "input", "user"), Part.MESSAGES, 0, "user")
                builder.add_block([(PieceKind.TEXT, "input", given)], Part.MESSAGES, 0, "user")
            else:
                for index in range(first, len(items)):
                    _read_item(builder, items[index], index, Part.MESSAGES)
        if isinstance(control := body.get("cache_control"), dict):
            builder.mark_last_block("cache_control", control)
        referenced = any(as_object(item).get("type") == "item_reference" for item in items)
        return replace(
            request,
            model=model,
            pieces=tuple(builder.pieces),
            markers=tuple(builder.markers),
            bound=read_bound(body, ("max_output_tokens",)),
            stream=body.get("stream") is True,
            parameters=read_parameters(body, model, self.provider),
            routing_key=read_routing_key(body, head.headers, self.provider),
            salt=read_salt(body, self.provider),
            tool_names=tuple(builder.tool_names),
            hidden_prefix=referenced or any(body.get(name) for name in _KEPT_BY_SERVER),
        )

    def read_answer(self, body: Object, answer: Answer) -> None:
        _take_response(body, answer)
        for item in as_list(body.get("output")):
            for delta in _read_output(as_object(item)):
                answer.add(delta)

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:
        kind = as_text(event.get("type")) or name
        if kind in _KINDS:
            yield Delta(_KINDS[kind], as_text(event.get("delta")), tokens=len(as_list(event.get("logprobs"))) or None)
        elif kind in _ENDS:
            answer.kind = "stop"
            _take_response(as_object(event.get("response")), answer)
        elif kind == "response.output_item.done":
            _take_item(as_object(event.get("item")), answer)
        elif kind == "error":
            answer.fail({"error": {"type": event.get("code") or "error"}}, 200)
        elif kind == "response.created":
            answer.model = as_text(as_object(event.get("response")).get("model")) or answer.model


def _head_length(items: list[Any]) -> int:
    for index, item in enumerate(items):
        if as_object(item).get("role") not in HEAD_ROLES:
            return index
    return len(items)


def _read_item(builder: PromptBuilder, item: Any, index: int, part: Part) -> None:
    path = f"input[{index}]"
    if isinstance(item, str):
        builder.add_block([(PieceKind.TEXT, path, item)], part, index, "user")
        return
    item = as_object(item)
    kind = item.get("type") or "message"
    role = as_text(item.get("role"))
    if kind == "message":
        builder.add_head((PieceKind.ROLE, f"{path}.role", role), part, index, role)
        for content in read_content(item.get("content"), f"{path}.content"):
            builder.add_block(content.entries, part, index, role, content.holder, content.path)
        builder.mark(item, path)
        return
    if kind == "reasoning":
        entries = _reasoning_entries(item, path)
        builder.add_block(entries, part, index, "assistant", item, path)
        return
    call_id: Entry = (PieceKind.ID, f"{path}.call_id", as_text(item.get("call_id")))
    if as_text(kind).endswith("_output"):
        output = item.get("output")
        contents = list(read_content(output if isinstance(output, str | list) else None, f"{path}.output"))
        ids = [call_id]
        for content in contents:
            builder.add_block([*ids, *content.entries], part, index, "tool", content.holder, content.path)
            ids = []
        if not contents:
            text = "" if output is None else compact(output)
            builder.add_block([call_id, (PieceKind.TEXT, f"{path}.output", text)], part, index, "tool", item, path)
        return
    key = "input" if "input" in item else "arguments"
    if item.get("name") is not None or key in item:
        value = item.get(key)
        text = value if isinstance(value, str) else "" if value is None else compact(value)
        entries = [
            call_id,
            (PieceKind.NAME, f"{path}.name", as_text(item.get("name"))),
            (PieceKind.ARGUMENTS, f"{path}.{key}", text),
        ]
        builder.add_block(entries, part, index, "assistant", item, path)
        return
    if kind != "item_reference":
        rest = {name: value for name, value in without_markers(item).items() if name not in {"id", "status"}}
        builder.add_block([(PieceKind.TEXT, path, compact(rest))], part, index, role, item, path)


def _reasoning_entries(item: Object, path: str) -> list[Entry]:
    """The reasoning itself where it is sent, else its encrypted form, else its summary."""
    for name in ("content", "summary"):
        texts = [entry for content in read_content(item.get(name), f"{path}.{name}") for entry in content.entries]
        if name == "summary" and isinstance(sealed := item.get("encrypted_content"), str) and sealed:
            return [(PieceKind.REASONING, f"{path}.encrypted_content", sealed)]
        if texts:
            return [(PieceKind.REASONING, place, text) for _, place, text in texts]
    return []


def _take_response(response: Object, answer: Answer) -> None:
    answer.model = as_text(response.get("model")) or answer.model
    answer.served_by = as_text(response.get("provider")) or answer.served_by
    answer.take_usage(response.get("usage"))
    status = as_text(response.get("status"))
    incomplete = as_object(response.get("incomplete_details"))
    answer.finish_reason = as_text(incomplete.get("reason")) or status or answer.finish_reason
    if isinstance(response.get("error"), dict):
        answer.fail(response, 200)
    diagnostics = as_object(response.get("prompt_cache_diagnostics"))
    if diagnostics:
        answer.diagnosis = as_text(diagnostics.get("reason")) or as_text(diagnostics.get("type")) or None
    output = as_list(response.get("output"))
    if output:
        answer.tools.clear()  # the whole output tells again what its events told
    for item in output:
        _take_item(as_object(item), answer)


def _take_item(item: Object, answer: Answer) -> None:
    """Names of called tools, cited sources and whether there was reasoning, of one output item."""
    kind = as_text(item.get("type"))
    if kind.endswith("_call"):
        answer.tools.append(as_text(item.get("name")) or kind.removesuffix("_call"))
    elif kind == "reasoning":
        answer.reasoning = True
    for part in as_list(item.get("content")):
        for annotation in as_list(as_object(part).get("annotations")):
            cited = as_object(annotation)
            answer.cited.add(as_text(cited.get("url")) or as_text(cited.get("file_id")) or compact(cited))


def _read_output(item: Object) -> Iterator[Delta]:
    kind = as_text(item.get("type"))
    if kind == "reasoning":
        for part in (*as_list(item.get("content")), *as_list(item.get("summary"))):
            yield Delta("reasoning", as_text(as_object(part).get("text")))
    elif kind.endswith("_call"):
        yield Delta("tool", as_text(item.get("arguments")) or as_text(item.get("input")) or as_text(item.get("code")))
    else:
        for part in map(as_object, as_list(item.get("content"))):
            yield Delta("text", as_text(part.get("text")) or as_text(part.get("refusal")))
