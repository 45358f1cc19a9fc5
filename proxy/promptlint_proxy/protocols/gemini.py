"""Gemini generateContent, on the Gemini API and on Vertex AI: cached tokens are a part of the prompt tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

from promptlint_core.exchange import PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_core.render_order import render_order
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.anthropic_messages import model_in_path
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.json_text import Object, as_int, as_list, as_object, as_text, compact
from promptlint_proxy.protocols.parameters import read_parameters
from promptlint_proxy.protocols.prompt_builder import Entry, PromptBuilder

_BOUND_NAMES = ("maxOutputTokens", "max_output_tokens")


class GeminiGenerateContent(Protocol):
    name: ClassVar[str] = "generate_content"
    streams_arrays: ClassVar[bool] = True

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:
        model = model_in_path(head.path) or as_text(body.get("model")).removeprefix("models/") or None
        builder = PromptBuilder()
        for part in render_order(model, self.provider).parts:
            if part is Part.TOOLS:
                _read_tools(builder, body)
            elif part is Part.SYSTEM:
                _read_system(builder, body)
            else:
                _read_contents(builder, body.get("contents"))
        config_name = "generation_config" if "generation_config" in body else "generationConfig"
        config = as_object(body.get(config_name))
        return replace(
            request,
            model=model,
            pieces=tuple(builder.pieces),
            bound=read_bound(config, _BOUND_NAMES, f"{config_name}."),
            n=as_int(config.get("candidateCount", config.get("candidate_count"))) or 1,
            stream="streamGenerateContent" in head.path,
            parameters=read_parameters(body, model, self.provider),
            tool_names=tuple(builder.tool_names),
            hidden_prefix=bool(body.get("cachedContent") or body.get("cached_content")),
        )

    def read_answer(self, body: Object, answer: Answer) -> None:
        for delta in self.read_event(body, "", answer):
            answer.add(delta)

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:  # noqa: ARG002
        answer.model = as_text(event.get("modelVersion")) or answer.model
        if isinstance(event.get("error"), dict):
            answer.fail(event, 200)
        if isinstance(event.get("usageMetadata"), dict):
            answer.kind = "usage"
            answer.take_usage(event["usageMetadata"])
        for candidate in map(as_object, as_list(event.get("candidates"))):
            choice = as_int(candidate.get("index")) or 0
            answer.choice = choice
            for part in map(as_object, as_list(as_object(candidate.get("content")).get("parts"))):
                yield from _read_part(part, choice, answer)
            if candidate.get("finishReason"):
                answer.finish_reason = as_text(candidate.get("finishReason"))
                answer.kind = "stop"
            _take_citations(candidate, answer)
        blocked = as_text(as_object(event.get("promptFeedback")).get("blockReason"))
        answer.finish_reason = blocked or answer.finish_reason


def _read_part(part: Object, choice: int, answer: Answer) -> Iterator[Delta]:
    text = as_text(part.get("text"))
    if text:
        yield Delta("reasoning" if part.get("thought") is True else "text", text, choice)
    call = as_object(part.get("functionCall"))
    if call:
        answer.tools.append(as_text(call.get("name")))
        yield Delta("tool", compact(call.get("args") or {}), choice)
    code = as_text(as_object(part.get("executableCode")).get("code"))
    if code:
        yield Delta("tool", code, choice)


def _take_citations(candidate: Object, answer: Answer) -> None:
    grounding = as_object(candidate.get("groundingMetadata"))
    for support in map(as_object, as_list(grounding.get("groundingSupports"))):
        answer.cited.update(str(index) for index in as_list(support.get("groundingChunkIndices")))


def _read_tools(builder: PromptBuilder, body: Object) -> None:
    for index, tool in enumerate(as_list(body.get("tools"))):
        if not isinstance(tool, dict):
            continue
        key = "function_declarations" if "function_declarations" in tool else "functionDeclarations"
        if key not in tool:
            for name, settings in tool.items():  # googleSearch, codeExecution …
                builder.add_other_tool(f"tools[{index}].{name}", {"type": name, **as_object(settings)})
            continue
        for number, function in enumerate(as_list(tool.get(key))):
            function = as_object(function)  # noqa: PLW2901
            schema = function.get("parameters", function.get("parametersJsonSchema"))
            builder.add_tool(f"tools[{index}].{key}[{number}]", function, function, schema)


def _read_system(builder: PromptBuilder, body: Object) -> None:
    key = "system_instruction" if "system_instruction" in body else "systemInstruction"
    system = body.get(key)
    if isinstance(system, str):
        builder.add_block([(PieceKind.TEXT, key, system)], Part.SYSTEM, None, "system")
        return
    for number, part in enumerate(as_list(as_object(system).get("parts"))):
        builder.add_block(_part_entries(as_object(part), f"{key}.parts[{number}]"), Part.SYSTEM, None, "system")


def _read_contents(builder: PromptBuilder, contents: Any) -> None:
    single = isinstance(contents, dict)
    for index, content in enumerate([contents] if single else as_list(contents)):
        content = as_object(content)  # noqa: PLW2901
        path = "contents" if single else f"contents[{index}]"
        role = as_text(content.get("role")) or "user"
        builder.add_head((PieceKind.ROLE, f"{path}.role", role), Part.MESSAGES, index, role)
        for number, part in enumerate(as_list(content.get("parts"))):
            entries = _part_entries(as_object(part), f"{path}.parts[{number}]")
            builder.add_block(entries, Part.MESSAGES, index, role)


def _part_entries(part: Object, path: str) -> list[Entry]:
    if isinstance(text := part.get("text"), str):
        return [(PieceKind.REASONING if part.get("thought") is True else PieceKind.TEXT, f"{path}.text", text)]
    for name, keys in _MEDIA.items():
        value = as_object(part.get(name))
        for key in keys:
            if isinstance(address := value.get(key), str):
                return [(PieceKind.IMAGE, f"{path}.{name}.{key}", address)]
    for name, key in _CALLS.items():
        call = part.get(name)
        if isinstance(call, dict):
            given = call.get(key)
            return [
                (PieceKind.ID, f"{path}.{name}.id", as_text(call.get("id"))),
                (PieceKind.NAME, f"{path}.{name}.name", as_text(call.get("name"))),
                (PieceKind.ARGUMENTS, f"{path}.{name}.{key}", "" if given is None else compact(given)),
            ]
    rest = {name: value for name, value in part.items() if name not in {"thoughtSignature", "thought_signature"}}
    return [(PieceKind.TEXT, path, compact(rest))] if rest else []


_MEDIA = {
    "inlineData": ("data",),
    "inline_data": ("data",),
    "fileData": ("fileUri", "file_uri"),
    "file_data": ("fileUri", "file_uri"),
}
_CALLS = {
    "functionCall": "args",
    "function_call": "args",
    "functionResponse": "response",
    "function_response": "response",
}
