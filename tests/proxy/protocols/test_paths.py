"""A path leads to the text of its piece, in every API: what a finding names can be found in the request."""

from __future__ import annotations

import re
from typing import Any

import pytest
from protocol_wire import read

from promptlint_core.exchange import PieceKind
from promptlint_proxy.protocols.json_text import compact

MARK = {"cache_control": {"type": "ephemeral"}}
FUNCTION = {"name": "find", "description": "Find.", "parameters": {"type": "object", "z": 1, "a": 2}}

BODIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "chat": (
        "api.openai.com",
        "/v1/chat/completions",
        {
            "model": "gpt-5.4",
            "tools": [{"type": "function", "function": FUNCTION}, {"type": "custom", "custom": {"name": "sh"}}],
            "functions": [FUNCTION],
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "user", "name": "ines", "content": [{"type": "text", "text": "u"}]},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "image_url", "image_url": {"url": "https://i"}},
                        {"type": "file", "file": {"file_data": "JVBE"}},
                    ],
                },
                {
                    "role": "assistant",
                    "reasoning_content": "r",
                    "content": "c",
                    "tool_calls": [{"id": "t1", "function": {"name": "find", "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "t1", "content": [{"type": "text", "text": "x"}]},
            ],
        },
    ),
    "responses": (
        "api.openai.com",
        "/v1/responses",
        {
            "model": "gpt-5.6-sol",
            "instructions": "i",
            "tools": [{"type": "function", **FUNCTION}, {"type": "web_search", "filters": {"a": 1}}],
            "input": [
                {"role": "developer", "content": "d"},
                {
                    "role": "user",
                    "content": [{"type": "input_text", "text": "u"}, {"type": "input_image", "image_url": "https://i"}],
                },
                {"type": "reasoning", "encrypted_content": "gAAA"},
                {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "x"},
            ],
        },
    ),
    "messages": (
        "api.anthropic.com",
        "/v1/messages",
        {
            "model": "claude-opus-5",
            "max_tokens": 9,
            "tools": [{"name": "find", "description": "Find.", "input_schema": {"z": 1, "a": 2}, **MARK}],
            "system": [{"type": "text", "text": "s1"}, {"type": "text", "text": "s2", **MARK}],
            "messages": [
                {"role": "user", "content": "u"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "t", "signature": "x"},
                        {"type": "tool_use", "id": "1", "name": "find", "input": {"b": 1, "a": 2}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "x"}]},
                        {"type": "image", "source": {"type": "base64", "data": "iVBOR"}},
                        {
                            "type": "document",
                            "title": "d",
                            "source": {"type": "content", "content": [{"type": "text", "text": "y"}]},
                        },
                    ],
                },
            ],
        },
    ),
    "generate_content": (
        "generativelanguage.googleapis.com",
        "/v1beta/models/gemini-3.8-flash:generateContent",
        {
            "systemInstruction": {"parts": [{"text": "s"}]},
            "tools": [{"functionDeclarations": [FUNCTION]}],
            "contents": [
                {"role": "user", "parts": [{"text": "u"}, {"inlineData": {"data": "iVBOR"}}]},
                {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {"b": 1}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"b": 1}}}]},
            ],
        },
    ),
    "converse": (
        "bedrock-runtime.eu-west-1.amazonaws.com",
        "/model/anthropic.claude-opus-5/converse",
        {
            "system": [{"text": "s"}, {"cachePoint": {"type": "default"}}],
            "messages": [
                {"role": "user", "content": [{"text": "u"}, {"cachePoint": {"type": "default"}}]},
                {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "find", "input": {"b": 1}}}]},
                {
                    "role": "user",
                    "content": [{"toolResult": {"toolUseId": "1", "content": [{"text": "x"}]}}, {"text": "v"}],
                },
            ],
        },
    ),
    "ollama_chat": (
        "localhost:11434",
        "/api/chat",
        {
            "model": "qwen3",
            "messages": [
                {"role": "user", "content": "u", "images": ["iVBOR"]},
                {
                    "role": "assistant",
                    "thinking": "t",
                    "tool_calls": [{"function": {"name": "f", "arguments": {"b": 1}}}],
                },
            ],
        },
    ),
    "completions": ("vllm:8000", "/v1/completions", {"prompt": ["a", "b"], "suffix": "z"}),
}
_ALIASES = {
    "name": ("function", "custom", "toolSpec"),
    "description": ("function", "custom", "toolSpec"),
    "schema": ("function.parameters", "parameters", "input_schema", "custom.format", "toolSpec.inputSchema.json"),
}


def _at(body: Any, path: str) -> Any:
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        body = body[int(index)] if index else body[name]
    return body


def _resolve(body: dict[str, Any], path: str) -> Any:
    """What stands at a path; a list of exactly one text block is its text, tools are told by their own short names."""
    try:
        value = _at(body, path)
    except (KeyError, TypeError):
        tool, _, field = path.rpartition(".")
        holder = _at(body, tool)
        if field == "schema":
            places = [place for place in _ALIASES["schema"] if _has(holder, place)]
            if places:
                return _at(holder, places[0])
            return {name: value for name, value in holder.items() if name not in {"type", "name", "description"}}
        return _at(holder, next(f"{place}.{field}" for place in _ALIASES[field] if _has(holder, place)))
    if isinstance(value, list):
        texts = [block["text"] for block in value if "text" in block]
        return texts[0] if len(texts) == 1 else value
    return value


def _has(holder: Any, path: str) -> bool:
    try:
        _at(holder, path)
    except (KeyError, TypeError):
        return False
    return True


@pytest.mark.parametrize("api", BODIES)
def test_every_path_leads_to_the_text_of_its_piece(api: str) -> None:
    host, path, body = BODIES[api]

    request = read(host, path, body)

    assert api == request.api
    assert len(request.pieces) > 2
    for piece in request.pieces:
        value = _resolve(body, piece.path)
        assert piece.text == (value if isinstance(value, str) else compact(value)), piece.path


@pytest.mark.parametrize("api", BODIES)
def test_paths_are_unique_and_blocks_are_counted_in_render_order(api: str) -> None:
    request = read(*BODIES[api])

    paths = [piece.path for piece in request.pieces]
    assert len(paths) == len(set(paths))
    blocks = [piece.block for piece in request.pieces if piece.block is not None]
    assert blocks == sorted(blocks)
    ends = [piece.block for piece in request.pieces if piece.ends_block]
    assert ends == list(range(len(ends)))
    assert set(ends) == set(blocks)
    heads = [piece for piece in request.pieces if piece.block is None]
    assert all(piece.kind in {PieceKind.ROLE, PieceKind.NAME} for piece in heads)


@pytest.mark.parametrize("api", BODIES)
def test_markers_stand_on_ends_of_blocks(api: str) -> None:
    request = read(*BODIES[api])

    assert all(request.pieces[marker.piece].ends_block for marker in request.markers)
