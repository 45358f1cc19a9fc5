"""Anthropic Messages: how requests and whole answers are read."""

from __future__ import annotations

from typing import Any

import pytest
from protocol_wire import answer, read, shown

from promptlint_core.exchange import PieceKind
from promptlint_core.prompt import BoundKind, Part

HOST, PATH = "api.anthropic.com", "/v1/messages"
MARK = {"cache_control": {"type": "ephemeral"}}
MARK_1H = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


def ask(**body: Any) -> Any:
    return read(HOST, PATH, {"model": "claude-opus-5", "max_tokens": 300, **body})


def test_tools_system_messages_whatever_the_key_order() -> None:
    request = ask(
        messages=[{"role": "user", "content": "Hi"}],
        system="Be brief.",
        tools=[{"name": "find", "description": "Find.", "input_schema": {"type": "object"}}],
    )

    assert [
        ("tools[0].name", "find"),
        ("tools[0].description", "Find."),
        ("tools[0].schema", '{"type":"object"}'),
        ("system", "Be brief."),
        ("messages[0].role", "user"),
        ("messages[0].content", "Hi"),
    ] == shown(request)


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("Be brief.", [("system", "Be brief.")]),
        ([{"type": "text", "text": "Be brief."}], [("system", "Be brief.")]),
        (
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            [("system[0].text", "a"), ("system[1].text", "b")],
        ),
        ([], []),
        (None, []),
    ],
)
def test_a_system_list_with_one_text_reads_as_a_string(system: Any, expected: list[tuple[str, str]]) -> None:
    assert expected == shown(ask(system=system, messages=[]))


BLOCKS: dict[str, tuple[dict[str, Any], list[tuple[str, str, PieceKind]]]] = {
    "tool use": (
        {"type": "tool_use", "id": "toolu_1", "name": "find", "input": {"b": 1, "a": [2]}},
        [
            ("id", "toolu_1", PieceKind.ID),
            ("name", "find", PieceKind.NAME),
            ("input", '{"b":1,"a":[2]}', PieceKind.ARGUMENTS),
        ],
    ),
    "tool result as a string": (
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "42"},
        [("tool_use_id", "toolu_1", PieceKind.ID), ("content", "42", PieceKind.TEXT)],
    ),
    "tool result as blocks": (
        {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": [
                {"type": "text", "text": "see"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBOR"}},
            ],
        },
        [
            ("tool_use_id", "toolu_1", PieceKind.ID),
            ("content[0].text", "see", PieceKind.TEXT),
            ("content[1].source.data", "iVBOR", PieceKind.IMAGE),
        ],
    ),
    "image by address": (
        {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}},
        [("source.url", "https://a/b.png", PieceKind.IMAGE)],
    ),
    "document with a title": (
        {"type": "document", "title": "T", "source": {"type": "text", "media_type": "text/plain", "data": "body"}},
        [("title", "T", PieceKind.TEXT), ("source.data", "body", PieceKind.TEXT)],
    ),
    "thinking": (
        {"type": "thinking", "thinking": "Hm", "signature": "c2ln"},
        [("thinking", "Hm", PieceKind.REASONING)],
    ),
    "thinking whose text is withheld": (
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
        [("signature", "c2ln", PieceKind.REASONING)],
    ),
    "redacted thinking": (
        {"type": "redacted_thinking", "data": "EmwK"},
        [("data", "EmwK", PieceKind.REASONING)],
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_reads_in_pieces(name: str) -> None:
    block, expected = BLOCKS[name]

    request = ask(messages=[{"role": "user", "content": [{"type": "text", "text": "x"}, block]}])

    pieces = request.pieces[2:]
    assert [(f"messages[0].content[1].{path}", text, kind) for path, text, kind in expected] == [
        (piece.path, piece.text, piece.kind) for piece in pieces
    ]
    assert {1} == {piece.block for piece in pieces}
    assert [False] * (len(pieces) - 1) + [True] == [piece.ends_block for piece in pieces]


def test_blocks_are_counted_over_the_whole_prompt() -> None:
    request = ask(
        tools=[{"name": "a", "input_schema": {}}, {"name": "b", "input_schema": {}}],
        system=[{"type": "text", "text": "s"}],
        messages=[
            {"role": "user", "content": "u"},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "t"}, {"type": "tool_use", "id": "1", "name": "a", "input": {}}],
            },
        ],
    )

    ends = [(piece.path, piece.block) for piece in request.pieces if piece.ends_block]
    assert [
        ("tools[0].schema", 0),
        ("tools[1].schema", 1),
        ("system", 2),
        ("messages[0].content", 3),
        ("messages[1].content[0].text", 4),
        ("messages[1].content[1].input", 5),
    ] == ends
    assert all(piece.block is None for piece in request.pieces if piece.kind is PieceKind.ROLE)


def test_markers_stand_on_tools_system_and_content() -> None:
    request = ask(
        tools=[{"name": "a", "input_schema": {}, **MARK_1H}],
        system=[{"type": "text", "text": "s", **MARK_1H}],
        messages=[
            {"role": "user", "content": [{"type": "text", "text": "u", **MARK}]},
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "1",
                        "content": [{"type": "text", "text": "r", **MARK}],
                    },
                ],
            },
        ],
    )

    told = [(marker.path, request.pieces[marker.piece].path, marker.life_s) for marker in request.markers]
    assert [
        ("tools[0]", "tools[0].schema", 3600),
        ("system[0]", "system", 3600),
        ("messages[0].content[0]", "messages[0].content", 300),
        ("messages[1].content[0].content[0]", "messages[1].content[0].content", 300),
    ] == told


def test_the_automatic_marker_stands_on_the_last_block_that_can_be_cached() -> None:
    content = [{"type": "text", "text": "t"}, {"type": "thinking", "thinking": "Hm", "signature": "x"}]

    request = ask(**MARK, messages=[{"role": "user", "content": "u"}, {"role": "assistant", "content": content}])

    (marker,) = request.markers
    assert ("cache_control", "messages[1].content[0].text") == (marker.path, request.pieces[marker.piece].path)


def test_a_null_marker_is_none() -> None:
    assert ask(system=[{"type": "text", "text": "s", "cache_control": None}], messages=[]).markers == ()


def test_server_tools_are_read_without_secrets() -> None:
    request = ask(
        messages=[],
        tools=[
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
            {"type": "mcp_toolset", "name": "crm", "authorization_token": "sk-secret", "server_url": "https://u:p@h"},
        ],
    )

    assert ("web_search", "crm") == request.tool_names
    assert "secret" not in request.text
    assert "u:p" not in request.text


def test_cache_relevant_parameters_and_their_defaults() -> None:
    changed = ask(
        messages=[], tool_choice={"type": "any"}, thinking={"type": "enabled", "budget_tokens": 9}, speed="fast"
    )
    default = ask(
        messages=[], tool_choice={"type": "auto"}, thinking={"type": "disabled"}, temperature=1, metadata={"a": 1}
    )

    assert ("speed", "thinking", "tool_choice") == tuple(name for name, _ in changed.parameters)
    assert default.parameters == ()


def test_a_system_message_in_the_middle_is_no_system_part() -> None:
    request = ask(messages=[{"role": "user", "content": "u"}, {"role": "system", "content": "now"}])

    assert request.pieces[-1].part is Part.MESSAGES


def test_claude_on_vertex_has_its_model_in_the_path() -> None:
    path = "/v1/projects/p/locations/eu/publishers/anthropic/models/claude-opus-5@20260801:streamRawPredict"

    request = read("eu-aiplatform.googleapis.com", path, {"anthropic_version": "vertex-2023-10-16", "max_tokens": 0})

    assert ("anthropic", "messages", "claude-opus-5@20260801", True) == (
        request.provider,
        request.api,
        request.model,
        request.stream,
    )
    assert (BoundKind.LIMITED, 0) == (request.bound.kind, request.bound.tokens)


def test_a_whole_answer() -> None:
    body = {
        "model": "claude-opus-5",
        "content": [
            {"type": "thinking", "thinking": "Hm", "signature": "s"},
            {
                "type": "text",
                "text": "Yes.",
                "citations": [{"document_index": 0}, {"document_index": 0}, {"document_index": 4}],
            },
            {"type": "tool_use", "id": "1", "name": "find", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {
            "input_tokens": 5,
            "cache_read_input_tokens": 7,
            "cache_creation_input_tokens": 0,
            "output_tokens": 9,
        },
    }

    response = answer(HOST, PATH, body)

    assert ("tool_use", ("find",), 2, True, 13) == (
        response.finish_reason,
        response.tool_calls,
        response.cited,
        response.reasoning,
        response.content_chars,
    )
    assert response.usage is not None
    assert (12, 7, 0, 5) == (
        response.usage.prompt_tokens,
        response.usage.hit_tokens,
        response.usage.written_tokens,
        response.usage.computed_tokens,
    )


def test_a_refused_request_tells_the_kind() -> None:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": "A maximum of 4 blocks"}}

    assert answer(HOST, PATH, body, 400).error == "invalid_request_error"
