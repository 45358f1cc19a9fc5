"""Bedrock Converse and ConverseStream: cache points are list entries of their own; usage beside the cached tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import unquote

from promptlint_core.exchange import PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_core.render_order import render_order
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.json_text import Object, as_list, as_object, as_text, compact
from promptlint_proxy.protocols.parameters import read_parameters
from promptlint_proxy.protocols.prompt_builder import ANTHROPIC_LIFE_S, Entry, PromptBuilder, life_s


class BedrockConverse(Protocol):
    name: ClassVar[str] = "converse"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:
        model = model_id(head.path) or as_text(body.get("modelId")) or None
        builder = PromptBuilder()
        for part in render_order(model, self.provider).parts:
            if part is Part.TOOLS:
                _read_tools(builder, as_object(body.get("toolConfig")))
            elif part is Part.SYSTEM:
                _read_blocks(builder, body.get("system"), "system", Part.SYSTEM, None, "system")
            else:
                for index, message in enumerate(map(as_object, as_list(body.get("messages")))):
                    path, role = f"messages[{index}]", as_text(message.get("role"))
                    builder.add_head((PieceKind.ROLE, f"{path}.role", role), Part.MESSAGES, index, role)
                    _read_blocks(builder, message.get("content"), f"{path}.content", Part.MESSAGES, index, role)
        return replace(
            request,
            model=model,
            pieces=tuple(builder.pieces),
            markers=tuple(builder.markers),
            bound=read_bound(
                as_object(body.get("inferenceConfig")), ("maxTokens", "max_new_tokens"), "inferenceConfig."
            ),
            stream="stream" in head.path.rpartition("/")[2],
            parameters=read_parameters(body, model, self.provider),
            tool_names=tuple(builder.tool_names),
            hidden_prefix="promptVariables" in body,
        )

    def read_answer(self, body: Object, answer: Answer) -> None:
        answer.finish_reason = as_text(body.get("stopReason")) or None
        answer.take_usage(body.get("usage"))
        message = as_object(as_object(body.get("output")).get("message"))
        for block in map(as_object, as_list(message.get("content"))):
            for delta in _read_block(block, answer):
                answer.add(delta)

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:
        if name in event:  # Nova's own stream wraps each event into its name
            event = as_object(event[name])
        if name == "contentBlockDelta":
            yield from _read_block(as_object(event.get("delta")), answer)
        elif name == "contentBlockStart":
            tool = as_text(as_object(as_object(event.get("start")).get("toolUse")).get("name"))
            if tool:
                answer.tools.append(tool)
                answer.kind = "tool"
        elif name == "messageStart":
            answer.kind = "role"
        elif name == "messageStop":
            answer.kind = "stop"
            answer.finish_reason = as_text(event.get("stopReason")) or answer.finish_reason
        elif name == "metadata":
            answer.kind = "usage"
            answer.take_usage(event.get("usage"))


def model_id(path: str) -> str:
    """The model in `/model/{id}/…`, without the account that an ARN names; empty for other paths.

    >>> model_id("/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Feu.amazon.nova-pro-v1%3A0/converse")
    'eu.amazon.nova-pro-v1:0'
    """
    _, found, rest = path.partition("?")[0].partition("/model/")
    return unquote(rest.partition("/")[0]).rpartition("/")[2] if found else ""


def _read_tools(builder: PromptBuilder, config: Object) -> None:
    for index, tool in enumerate(map(as_object, as_list(config.get("tools")))):
        path = f"tools[{index}]"
        specification = as_object(tool.get("toolSpec"))
        if specification:
            schema = as_object(specification.get("inputSchema")).get("json")
            builder.add_tool(path, specification, specification, schema)
        elif "systemTool" in tool:
            builder.add_other_tool(path, {"type": "systemTool", **as_object(tool.get("systemTool"))})
        else:
            _mark(builder, tool, path)


def _mark(builder: PromptBuilder, entry: Object, path: str) -> bool:
    point = entry.get("cachePoint")
    if isinstance(point, dict):
        builder.add_marker(path, life_s(point.get("ttl"), ANTHROPIC_LIFE_S))
        return True
    return False


def _read_blocks(builder: PromptBuilder, blocks: Any, path: str, part: Part, index: int | None, role: str) -> None:
    if isinstance(blocks, str):
        builder.add_block([(PieceKind.TEXT, path, blocks)], part, index, role)
        return
    entries = as_list(blocks)
    content = [entry for entry in entries if "cachePoint" not in as_object(entry)]
    list_path = path if len(content) == 1 else None
    for number, block in enumerate(map(as_object, entries)):
        place = f"{path}[{number}]"
        if not _mark(builder, block, place):
            builder.add_block(_block_entries(block, place, list_path), part, index, role)


def _block_entries(block: Object, place: str, list_path: str | None) -> list[Entry]:
    if isinstance(text := block.get("text"), str):
        return [(PieceKind.TEXT, list_path or f"{place}.text", text)]
    if isinstance(use := block.get("toolUse"), dict):
        return [
            (PieceKind.ID, f"{place}.toolUse.toolUseId", as_text(use.get("toolUseId"))),
            (PieceKind.NAME, f"{place}.toolUse.name", as_text(use.get("name"))),
            (PieceKind.ARGUMENTS, f"{place}.toolUse.input", compact(use.get("input"))),
        ]
    if isinstance(result := block.get("toolResult"), dict):
        path = f"{place}.toolResult"
        contents = as_list(result.get("content"))
        inner = f"{path}.content" if len(contents) == 1 else None
        return [
            (PieceKind.ID, f"{path}.toolUseId", as_text(result.get("toolUseId"))),
            *(
                entry
                for number, content in enumerate(map(as_object, contents))
                for entry in _block_entries(content, f"{path}.content[{number}]", inner)
            ),
        ]
    if isinstance(reasoning := block.get("reasoningContent"), dict):
        text = as_text(as_object(reasoning.get("reasoningText")).get("text"))
        if text:
            return [(PieceKind.REASONING, f"{place}.reasoningContent.reasoningText.text", text)]
        return [(PieceKind.REASONING, f"{place}.reasoningContent", compact(reasoning))]
    if isinstance(guarded := as_object(as_object(block.get("guardContent")).get("text")).get("text"), str):
        return [(PieceKind.TEXT, f"{place}.guardContent.text.text", guarded)]
    for name in ("image", "document", "video", "audio"):
        if name in block:
            return [(PieceKind.IMAGE, f"{place}.{name}", _media(as_object(block[name])))]
    return [(PieceKind.TEXT, place, compact(block))] if block else []


def _media(media: Object) -> str:
    """Bytes, address or text of an image or document."""
    source = as_object(media.get("source"))
    address = as_object(source.get("s3Location")).get("uri")
    return as_text(source.get("bytes")) or as_text(address) or compact(source)


def _read_block(block: Object, answer: Answer) -> Iterator[Delta]:
    """Generated content of a whole block or of a delta: the shapes are nearly the same."""
    text = as_text(block.get("text"))
    if text:
        yield Delta("text", text)
    if isinstance(use := block.get("toolUse"), dict):
        if use.get("name"):
            answer.tools.append(as_text(use.get("name")))
        given = use.get("input")
        yield Delta("tool", given if isinstance(given, str) else compact(given))
    reasoning = as_object(block.get("reasoningContent"))
    if reasoning:
        answer.reasoning = True
        yield Delta(
            "reasoning",
            as_text(reasoning.get("text")) or as_text(as_object(reasoning.get("reasoningText")).get("text")),
        )
    for citation in as_list(as_object(block.get("citationsContent")).get("citations")):
        answer.cited.add(compact(as_object(citation).get("location")))
    for part in map(as_object, as_list(as_object(block.get("citationsContent")).get("content"))):
        yield Delta("text", as_text(part.get("text")))
