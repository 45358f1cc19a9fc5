"""OpenAI chat completions: how requests and whole answers are read."""

from __future__ import annotations

from typing import Any

import pytest
from protocol_wire import answer, read, shown

from promptlint_core.exchange import PieceKind
from promptlint_core.prompt import BoundKind, Part
from promptlint_proxy.protocols.base import RequestHead
from promptlint_proxy.protocols.openai_chat import OpenAIChat

OPENAI, CHAT = "api.openai.com", "/v1/chat/completions"
TOOL = {
    "type": "function",
    "function": {"name": "find", "description": "Find it.", "parameters": {"type": "object", "b": 1, "a": 2}},
}
SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "Hi"}

TOOLS_PIECES = [
    ("tools[0].name", "find"),
    ("tools[0].description", "Find it."),
    ("tools[0].schema", '{"type":"object","b":1,"a":2}'),
]
SYSTEM_PIECES = [("messages[0].role", "system"), ("messages[0].content", "Be brief.")]
USER_PIECES = [("messages[1].role", "user"), ("messages[1].content", "Hi")]


@pytest.mark.parametrize(
    ("host", "model", "expected"),
    [
        ("api.openai.com", "gpt-5.4", [*TOOLS_PIECES, *SYSTEM_PIECES, *USER_PIECES]),
        ("api.deepseek.com", "deepseek-v4-flash", [*SYSTEM_PIECES, *TOOLS_PIECES, *USER_PIECES]),
        ("127.0.0.1:8000", "Qwen/Qwen3-8B", [*SYSTEM_PIECES, *TOOLS_PIECES, *USER_PIECES]),
        ("api.groq.com", "openai/gpt-oss-120b", [*SYSTEM_PIECES, *TOOLS_PIECES, *USER_PIECES]),
        ("openrouter.ai", "anthropic/claude-opus-5", [*TOOLS_PIECES, *SYSTEM_PIECES, *USER_PIECES]),
    ],
)
def test_the_model_decides_the_render_order(host: str, model: str, expected: list[tuple[str, str]]) -> None:
    request = read(host, CHAT, {"model": model, "messages": [SYSTEM, USER], "tools": [TOOL]})

    assert expected == shown(request)
    assert ("find",) == request.tool_names


MESSAGES: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "one text part reads as a string": (
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        [("content", "Hi")],
    ),
    "two parts keep their index": (
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        [("content[0].text", "a"), ("content[1].text", "b")],
    ),
    "an image is its address": (
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look"},
                {"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "low"}},
            ],
        },
        [("content[0].text", "Look"), ("content[1].image_url.url", "https://a/b.png")],
    ),
    "audio and files are their data": (
        {
            "role": "user",
            "content": [
                {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
                {"type": "file", "file": {"file_id": "file-1"}},
            ],
        },
        [("content[0].input_audio.data", "UklG"), ("content[1].file.file_id", "file-1")],
    ),
    "reasoning stands ahead of text, the call behind it": (
        {
            "role": "assistant",
            "content": "Yes",
            "reasoning_content": "Hm",
            "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "find", "arguments": '{"b": 1}'}}],
        },
        [
            ("reasoning_content", "Hm"),
            ("content", "Yes"),
            ("tool_calls[0].id", "t1"),
            ("tool_calls[0].function.name", "find"),
            ("tool_calls[0].function.arguments", '{"b": 1}'),
        ],
    ),
    "the id stands ahead of the result": (
        {"role": "tool", "tool_call_id": "t1", "content": "42"},
        [("tool_call_id", "t1"), ("content", "42")],
    ),
    "empty content is no piece": (
        {"role": "assistant", "content": "", "tool_calls": [{"id": "t", "function": {"name": "f", "arguments": "{}"}}]},
        [
            ("tool_calls[0].id", "t"),
            ("tool_calls[0].function.name", "f"),
            ("tool_calls[0].function.arguments", "{}"),
        ],
    ),
    "null content is no piece either": ({"role": "assistant", "content": None, "refusal": None}, []),
    "a participant's name": ({"role": "user", "name": "ines", "content": "Hi"}, [("name", "ines"), ("content", "Hi")]),
    "a custom tool's input": (
        {"role": "assistant", "tool_calls": [{"id": "t", "type": "custom", "custom": {"name": "sh", "input": "ls"}}]},
        [("tool_calls[0].id", "t"), ("tool_calls[0].custom.name", "sh"), ("tool_calls[0].custom.input", "ls")],
    ),
    "a legacy function call": (
        {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
        [("function_call.name", "f"), ("function_call.arguments", "{}")],
    ),
    "Mistral's thinking part": (
        {"role": "assistant", "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}]},
        [("content[0].thinking", '[{"type":"text","text":"Hm"}]')],
    ),
    "an unknown part, without its marker": (
        {"role": "user", "content": [{"type": "hologram", "x": 1, "cache_control": {"type": "ephemeral"}}]},
        [("content[0]", '{"type":"hologram","x":1}')],
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_reads_in_pieces(name: str) -> None:
    message, expected = MESSAGES[name]

    request = read(OPENAI, CHAT, {"model": "gpt-5.4", "messages": [message]})

    role = ("messages[0].role", message["role"])
    assert [role, *((f"messages[0].{path}", text) for path, text in expected)] == shown(request)


def test_system_and_developer_messages_at_the_head_belong_to_the_system_part() -> None:
    late = {"role": "system", "content": "Late"}
    messages = [SYSTEM, {"role": "developer", "content": "And polite."}, USER, late]

    request = read(OPENAI, CHAT, {"model": "gpt-5.4", "messages": messages})

    texts = [piece for piece in request.pieces if piece.kind is PieceKind.TEXT]
    assert [Part.SYSTEM, Part.SYSTEM, Part.MESSAGES, Part.MESSAGES] == [piece.part for piece in texts]
    assert [0, 1, 2, 3] == [piece.message for piece in texts]
    assert [0, 1, 2, 3] == [piece.block for piece in texts]
    assert all(piece.ends_block for piece in texts)


def test_markers_of_gateways_are_seen() -> None:
    body = {
        "model": "anthropic/claude-opus-5",
        "tools": [{**TOOL, "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "Be", "cache_control": {"type": "ephemeral"}}]},
            {**USER, "cache_control": {"type": "ephemeral"}},
        ],
    }

    markers = read("openrouter.ai", "/api/v1/chat/completions", body).markers

    expected = [("tools[0]", 2, 3600), ("messages[0].content[0]", 4, 300), ("messages[1]", 6, 300)]
    assert expected == [(marker.path, marker.piece, marker.life_s) for marker in markers]


def test_openai_breakpoints_live_as_long_as_the_request_says() -> None:
    def part(**breakpoint_: str) -> dict[str, Any]:
        return {"type": "text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit", **breakpoint_}}

    body = {
        "model": "gpt-5.6-sol",
        "prompt_cache_options": {"mode": "explicit", "ttl": "12h"},
        "messages": [{"role": "user", "content": [part(), part(ttl="30m")]}],
    }

    request = read(OPENAI, CHAT, body)

    assert [43200, 1800] == [marker.life_s for marker in request.markers]
    assert (
        ("prompt_cache_options.mode", '"explicit"'),
        ("prompt_cache_options.ttl", '"12h"'),
    ) == request.parameters


def test_what_is_no_prompt_is_no_piece() -> None:
    plain = read(OPENAI, CHAT, {"model": "gpt-5.4", "messages": [USER]})
    noisy = {
        "metadata": {"run": "77"},
        "user": "u1",
        "temperature": 0.7,
        "seed": 4,
        "messages": [USER],
        "model": "gpt-5.4",
    }

    assert plain.pieces == read(OPENAI, CHAT, noisy).pieces


def test_switches_of_a_request() -> None:
    body = {
        "model": "gpt-5.4",
        "messages": [USER],
        "stream": True,
        "stream_options": {"include_usage": False},
        "n": 3,
        "prompt_cache_key": "desk-1",
        "max_completion_tokens": None,
        "max_tokens": 50,
    }

    request = read(OPENAI, "/v1/chat/completions?key=secret", body)

    assert (True, False, 3, "desk-1") == (request.stream, request.wants_usage, request.n, request.routing_key)
    assert (BoundKind.LIMITED, 50) == (request.bound.kind, request.bound.tokens)
    assert request.path == "/v1/chat/completions"
    assert (None, False) == (read(OPENAI, CHAT, {"messages": []}).wants_usage, request.signed)


def test_routing_headers_and_salts() -> None:
    body = {"model": "grok-4.3", "messages": [USER]}

    assert "c7" == read("api.x.ai", CHAT, body, {"X-Grok-Conv-Id": "c7"}).routing_key
    assert "s1" == read("openrouter.ai", CHAT, body, {"x-session-id": "s1"}).routing_key
    assert None is read("api.openai.com", CHAT, body, {"x-session-id": "s1"}).routing_key
    assert "t9" == read("vllm:8000", CHAT, {**body, "model": "q", "cache_salt": "t9"}).salt
    assert "u4" == read("api.deepseek.com", CHAT, {**body, "user_id": "u4"}).salt


def test_deferred_tools_are_no_part_of_the_prefix() -> None:
    request = read(OPENAI, CHAT, {"messages": [USER], "tools": [{**TOOL, "defer_loading": True}]})

    assert request.tool_names == ()
    assert request.pieces[0].path == "messages[0].role"


def test_azure_deployments_stand_for_the_model() -> None:
    path = "/openai/deployments/prod-chat/chat/completions?api-version=2026-01-01"

    request = read("shop.openai.azure.com", path, {"messages": [SYSTEM, USER], "tools": [TOOL]})

    assert ("azure", "prod-chat") == (request.provider, request.model)
    assert request.pieces[0].part is Part.TOOLS


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"x"', b"\xff\xfe", b"null"])
def test_a_body_that_cannot_be_read_gives_a_note(body: bytes) -> None:
    request = OpenAIChat("openai").read_request(body, RequestHead("POST", OPENAI, CHAT))

    assert request.pieces == ()
    assert "the request body is no JSON object" in request.notes


@pytest.mark.parametrize(
    "body",
    [
        {"messages": "hi"},
        {"messages": [None, 3, "text", [], {"role": 3, "content": 7}]},
        {"messages": [{"content": [None, "x", {"type": 4}]}], "tools": [None, {"function": []}, {"type": None}]},
        {"messages": {"a": 1}, "n": "x", "max_tokens": "many", "stream_options": 5, "functions": 9},
    ],
)
def test_odd_shapes_do_not_raise(body: dict[str, Any]) -> None:
    assert read(OPENAI, CHAT, body).notes == ()


def test_lone_surrogates_and_huge_numbers_are_taken() -> None:
    raw = b'{"model": "gpt-5.4", "max_tokens": 1, "messages": [{"role": "user", "content": "\\ud83d"}], "seed": 1e999}'

    request = OpenAIChat("openai").read_request(raw, RequestHead("POST", OPENAI, CHAT))

    assert request.pieces[-1].text == "\ufffd"


def test_a_whole_answer() -> None:
    body = {
        "model": "gpt-5.4-2026",
        "choices": [
            {
                "message": {
                    "content": "See 3.",
                    "tool_calls": [{"function": {"name": "find", "arguments": "{}"}}],
                    "annotations": [{"type": "url_citation", "url_citation": {"url": "https://a"}}] * 2,
                },
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 0}},
    }

    response = answer(OPENAI, CHAT, body)

    assert ("gpt-5.4-2026", "stop", ("find",), 1, 8) == (
        response.model,
        response.finish_reason,
        response.tool_calls,
        response.cited,
        response.content_chars,
    )
    assert response.usage is not None
    assert (10, 0, 10) == (response.usage.prompt_tokens, response.usage.hit_tokens, response.usage.computed_tokens)


def test_an_answer_without_usage_tells_none() -> None:
    assert answer(OPENAI, CHAT, {"choices": [{"message": {"content": "x"}}]}).usage is None


def test_llamacpp_timings_tell_the_engine_hit() -> None:
    body = {"choices": [], "timings": {"cache_n": 30, "prompt_n": 12, "predicted_n": 5}}

    response = answer("localhost:8080", CHAT, body)

    assert response.engine_hit_tokens == 30
    assert response.usage is not None
    assert (42, 30, 12, 5) == (
        response.usage.prompt_tokens,
        response.usage.hit_tokens,
        response.usage.computed_tokens,
        response.usage.output_tokens,
    )


def test_a_stored_response_of_a_router_is_no_prompt_cache_hit() -> None:
    headers = {"content-type": "application/json", "X-OpenRouter-Cache-Status": "HIT"}

    response = answer(
        "openrouter.ai", "/api/v1/chat/completions", {"choices": [], "usage": {"prompt_tokens": 0}}, 200, headers
    )

    assert response.usage is None
    assert "response cache" in response.notes[0]


def test_fireworks_tells_cached_tokens_in_headers() -> None:
    headers = {
        "fireworks-prompt-tokens": "100",
        "fireworks-cached-prompt-tokens": "64",
        "content-type": "application/json",
    }

    response = answer("api.fireworks.ai", "/inference/v1/chat/completions", {"choices": []}, 200, headers)

    assert response.usage is not None
    assert (100, 64) == (response.usage.prompt_tokens, response.usage.hit_tokens)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (429, {"error": {"message": "key sk-1 over limit", "type": "rate_limit_exceeded"}}, "rate_limit_exceeded"),
        (503, {"error": "no backend at https://u:p@host"}, "http_503"),
        (400, {"object": "error", "type": "BadRequestError", "code": 400}, "BadRequestError"),
        (502, "<html>", "http_502"),
    ],
)
def test_errors_are_told_by_kind(status: int, body: Any, expected: str) -> None:
    response = answer(OPENAI, CHAT, body, status)

    assert (status, expected, None) == (response.status, response.error, response.content_chars)


def test_usage_inside_a_choice_is_taken() -> None:
    from protocol_wire import sse, stream

    usage = {"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 4}
    body = sse({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": usage}]})

    _, response = stream("api.moonshot.ai", CHAT, body)

    assert response.usage is not None
    assert (9, 4) == (response.usage.prompt_tokens, response.usage.hit_tokens)
