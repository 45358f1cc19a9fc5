"""Gemini, Bedrock, Cohere: how requests and whole answers are read."""

from __future__ import annotations

from typing import Any

import pytest
from protocol_wire import JSON, answer, chunk, read, shown

from promptlint_core.exchange import PieceKind
from promptlint_core.prompt import BoundKind, Part

GEMINI = "generativelanguage.googleapis.com"
GENERATE = "/v1beta/models/gemini-3.8-flash:generateContent?key=secret"
BEDROCK = "bedrock-runtime.eu-west-1.amazonaws.com"
CONVERSE = "/model/eu.anthropic.claude-opus-5-v1%3A0/converse"


def test_gemini_reads_system_tools_contents() -> None:
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}, {"inlineData": {"mimeType": "image/png", "data": "iVBOR"}}]},
            {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {"b": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"r": 2}}}]},
        ],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {"functionDeclarations": [{"name": "find", "description": "Find.", "parameters": {"t": 1}}]},
            {"googleSearch": {}},
        ],
        "generationConfig": {"maxOutputTokens": 300, "candidateCount": 2, "thinkingConfig": {"thinkingBudget": 0}},
    }

    request = read(GEMINI, GENERATE, body)

    assert [
        ("systemInstruction.parts[0].text", "Be brief."),
        ("tools[0].functionDeclarations[0].name", "find"),
        ("tools[0].functionDeclarations[0].description", "Find."),
        ("tools[0].functionDeclarations[0].schema", '{"t":1}'),
        ("tools[1].googleSearch.type", "googleSearch"),
        ("contents[0].role", "user"),
        ("contents[0].parts[0].text", "Hi"),
        ("contents[0].parts[1].inlineData.data", "iVBOR"),
        ("contents[1].role", "model"),
        ("contents[1].parts[0].functionCall.name", "find"),
        ("contents[1].parts[0].functionCall.args", '{"b":1}'),
        ("contents[2].role", "user"),
        ("contents[2].parts[0].functionResponse.name", "find"),
        ("contents[2].parts[0].functionResponse.response", '{"r":2}'),
    ] == shown(request)
    assert ("gemini-3.8-flash", 2, False) == (request.model, request.n, request.stream)
    assert (300, "generationConfig.maxOutputTokens") == (request.bound.tokens, request.bound.parameter)
    assert ("generationConfig.thinkingConfig",) == tuple(name for name, _ in request.parameters)
    assert "secret" not in repr(request)


def test_gemini_in_snake_case_reads_the_same_text() -> None:
    camel = {
        "systemInstruction": {"parts": [{"text": "s"}]},
        "contents": [{"parts": [{"fileData": {"fileUri": "gs://a"}}]}],
    }
    snake = {
        "system_instruction": {"parts": [{"text": "s"}]},
        "contents": {"parts": [{"file_data": {"file_uri": "gs://a"}}]},
        "generation_config": {"max_output_tokens": 5},
    }

    first, second = read(GEMINI, GENERATE, camel), read(GEMINI, GENERATE, snake)

    assert first.text == second.text
    assert (BoundKind.ABSENT, BoundKind.LIMITED) == (first.bound.kind, second.bound.kind)


def test_a_named_gemini_cache_hides_the_prefix() -> None:
    assert read(GEMINI, GENERATE, {"contents": [], "cachedContent": "cachedContents/x"}).hidden_prefix


def test_gemini_thoughts_are_reasoning() -> None:
    request = read(GEMINI, GENERATE, {"contents": [{"role": "model", "parts": [{"text": "Hm", "thought": True}]}]})

    assert request.pieces[-1].kind is PieceKind.REASONING


def test_a_whole_gemini_answer() -> None:
    body = {
        "candidates": [
            {
                "content": {"parts": [{"text": "Yes"}]},
                "finishReason": "STOP",
                "groundingMetadata": {
                    "groundingSupports": [{"groundingChunkIndices": [0, 2]}, {"groundingChunkIndices": [2]}]
                },
            }
        ],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 1},
        "modelVersion": "gemini-3.8-flash-001",
    }

    response = answer(GEMINI, GENERATE, body)

    assert ("STOP", "gemini-3.8-flash-001", 2, 3) == (
        response.finish_reason,
        response.model,
        response.cited,
        response.content_chars,
    )


def test_a_google_error_is_told_by_its_status() -> None:
    body = {"error": {"code": 429, "message": "key AIza…", "status": "RESOURCE_EXHAUSTED"}}

    assert answer(GEMINI, GENERATE, body, 429).error == "RESOURCE_EXHAUSTED"


def test_interactions_read_turns_and_hide_what_the_server_keeps() -> None:
    body = {
        "model": "models/gemini-3.8-flash",
        "system_instruction": "Be brief.",
        "input": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "name": "find", "parameters": {}}],
        "previous_interaction_id": "i1",
        "generation_config": {"max_output_tokens": 9},
    }

    request = read(GEMINI, "/v1beta/interactions", body)

    assert ["system_instruction", "tools[0].name", "tools[0].schema", "input[0].role", "input[0].content"] == [
        path for path, _ in shown(request)
    ]
    assert (True, 9, "gemini-3.8-flash") == (request.hidden_prefix, request.bound.tokens, request.model)
    assert read(GEMINI, "/v1beta/interactions", {"input": "Hi"}).text == "userHi"


def test_converse_reads_pieces_and_cache_points() -> None:
    body = {
        "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default", "ttl": "1h"}}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"text": "Hi"},
                    {"toolResult": {"toolUseId": "t1", "content": [{"json": {"a": 1}}]}},
                    {"cachePoint": {"type": "default"}},
                ],
            },
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t2", "name": "find", "input": {"b": 1}}}]},
        ],
        "toolConfig": {
            "tools": [
                {"toolSpec": {"name": "find", "description": "Find.", "inputSchema": {"json": {"t": 1}}}},
                {"cachePoint": {"type": "default"}},
            ],
            "toolChoice": {"any": {}},
        },
        "inferenceConfig": {"maxTokens": 64},
    }

    request = read(BEDROCK, CONVERSE, body, {"Authorization": "AWS4-HMAC-SHA256 Credential=AKIA…"})

    assert [
        ("tools[0].name", "find"),
        ("tools[0].description", "Find."),
        ("tools[0].schema", '{"t":1}'),
        ("system", "Be brief."),
        ("messages[0].role", "user"),
        ("messages[0].content[0].text", "Hi"),
        ("messages[0].content[1].toolResult.toolUseId", "t1"),
        ("messages[0].content[1].toolResult.content[0]", '{"json":{"a":1}}'),
        ("messages[1].role", "assistant"),
        ("messages[1].content[0].toolUse.toolUseId", "t2"),
        ("messages[1].content[0].toolUse.name", "find"),
        ("messages[1].content[0].toolUse.input", '{"b":1}'),
    ] == shown(request)
    assert [("tools[1]", 2, 300), ("system[1]", 3, 3600), ("messages[0].content[2]", 7, 300)] == [
        (marker.path, marker.piece, marker.life_s) for marker in request.markers
    ]
    assert (True, 64, "eu.anthropic.claude-opus-5-v1:0") == (request.signed, request.bound.tokens, request.model)
    assert (("toolConfig.toolChoice", '{"any":{}}'),) == request.parameters
    assert "AKIA" not in repr(request)


def test_converse_streams_by_its_path_and_a_bearer_token_signs_nothing() -> None:
    request = read(BEDROCK, CONVERSE + "-stream", {"messages": []}, {"authorization": "Bearer b"})

    assert (True, False) == (request.stream, request.signed)


def test_an_open_model_on_bedrock_reads_its_system_first() -> None:
    body = {"system": [{"text": "s"}], "toolConfig": {"tools": [{"toolSpec": {"name": "f"}}]}, "messages": []}

    assert read(BEDROCK, "/model/meta.llama4-70b-instruct-v1:0/converse", body).pieces[0].part is Part.SYSTEM
    assert read(BEDROCK, CONVERSE, body).pieces[0].part is Part.TOOLS


def test_a_whole_converse_answer() -> None:
    body = {
        "output": {"message": {"content": [{"text": "Yes"}, {"toolUse": {"name": "find", "input": {}}}]}},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 5, "outputTokens": 2},
    }

    response = answer(BEDROCK, CONVERSE, body)

    assert ("tool_use", ("find",), 5) == (response.finish_reason, response.tool_calls, response.content_chars)


def test_a_bedrock_error_is_told_by_its_header() -> None:
    headers = {**JSON, "x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/coral/"}

    assert answer(BEDROCK, CONVERSE, {"message": "Too many"}, 429, headers).error == "ThrottlingException"


INVOKES: dict[str, tuple[str, dict[str, Any], list[tuple[str, str]], int]] = {
    "claude": (
        "anthropic.claude-opus-5-v1:0",
        {"anthropic_version": "bedrock-2023-05-31", "max_tokens": 7, "system": "s", "messages": []},
        [("system", "s")],
        7,
    ),
    "nova": (
        "amazon.nova-pro-v1:0",
        {
            "schemaVersion": "messages-v1",
            "system": [{"text": "s"}],
            "messages": [],
            "inferenceConfig": {"max_new_tokens": 8},
        },
        [("system", "s")],
        8,
    ),
    "llama": ("meta.llama4", {"prompt": "<|begin|>x", "max_gen_len": 9}, [("prompt", "<|begin|>x")], 9),
    "titan": (
        "amazon.titan-text",
        {"inputText": "x", "textGenerationConfig": {"maxTokenCount": 10}},
        [("inputText", "x")],
        10,
    ),
    "gpt-oss": (
        "openai.gpt-oss-120b-1:0",
        {"messages": [{"role": "user", "content": "x"}], "max_completion_tokens": 11},
        [("messages[0].role", "user"), ("messages[0].content", "x")],
        11,
    ),
}


@pytest.mark.parametrize("name", INVOKES)
def test_invoke_reads_each_vendors_body(name: str) -> None:
    model, body, expected, tokens = INVOKES[name]

    request = read(BEDROCK, f"/model/{model}/invoke", body)

    assert expected == shown(request)
    assert (model, tokens, "invoke", False) == (request.model, request.bound.tokens, request.api, request.stream)


def test_invoke_takes_counts_from_headers_where_the_body_has_none() -> None:
    headers = {**JSON, "X-Amzn-Bedrock-Input-Token-Count": "12", "X-Amzn-Bedrock-Output-Token-Count": "3"}

    response = answer(BEDROCK, "/model/meta.llama4/invoke", {"generation": "Hi", "stop_reason": "length"}, 200, headers)

    assert response.usage is not None
    assert (12, 3, "length", 2) == (
        response.usage.prompt_tokens,
        response.usage.output_tokens,
        response.finish_reason,
        response.content_chars,
    )


def test_a_chunk_that_is_no_base64_is_noted() -> None:
    from protocol_wire import EVENT_STREAM, frame, stream

    body = frame({"bytes": "?"}, event_type="chunk") + chunk({"generation": "Hi"})

    events, response = stream(BEDROCK, "/model/meta.llama4/invoke-with-response-stream", body, EVENT_STREAM)

    assert response.content_chars == 2
    assert len(events) == 2


def test_mistral_conversations_keep_earlier_turns() -> None:
    body = {
        "model": "mistral-medium-latest",
        "instructions": "Be brief.",
        "tools": [{"type": "function", "function": {"name": "find", "parameters": {}}}, {"type": "web_search"}],
        "inputs": "Hi",
        "completion_args": {"max_tokens": 9},
    }

    first = read("api.mistral.ai", "/v1/conversations", body)
    later = read("api.mistral.ai", "/v1/conversations/conv_1", {"inputs": [{"tool_call_id": "t", "result": "7"}]})

    assert [
        ("instructions", "Be brief."),
        ("tools[0].name", "find"),
        ("tools[0].schema", "{}"),
        ("tools[1].type", "web_search"),
        ("inputs[0].role", "user"),
        ("inputs", "Hi"),
    ] == shown(first)
    assert (False, True, 9) == (first.hidden_prefix, later.hidden_prefix, first.bound.tokens)
    assert ("inputs[0].content", "7") == shown(later)[-1]


def test_a_whole_mistral_conversation_answer() -> None:
    body = {
        "outputs": [
            {"type": "function.call", "name": "find", "arguments": "{}"},
            {"type": "message.output", "model": "m", "content": [{"type": "text", "text": "Yes"}]},
        ],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2},
    }

    response = answer("api.mistral.ai", "/v1/conversations", body)

    assert (("find",), 5, "m") == (response.tool_calls, response.content_chars, response.model)


def test_cohere_reads_system_tools_documents_messages() -> None:
    body = {
        "model": "command-a",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        "documents": [{"id": "d1", "data": {"text": "x"}}],
        "tools": [{"type": "function", "function": {"name": "find", "parameters": {}}}],
        "max_tokens": 6,
    }

    request = read("api.cohere.com", "/v2/chat", body)

    assert ["messages[0].role", "messages[0].content", "tools[0].name", "tools[0].schema", "documents[0]"] == [
        path for path, _ in shown(request)
    ][:5]
    assert request.bound.tokens == 6


def test_cohere_v1_reads_history_ahead_of_the_message() -> None:
    body = {"preamble": "p", "chat_history": [{"role": "USER", "message": "a"}], "message": "b"}

    assert [
        ("preamble", "p"),
        ("chat_history[0].role", "user"),
        ("chat_history[0].message", "a"),
        ("message", "b"),
    ] == shown(read("api.cohere.com", "/v1/chat", body))


def test_a_whole_cohere_answer() -> None:
    body = {
        "message": {
            "content": [{"type": "text", "text": "Yes"}],
            "citations": [{"sources": [{"id": "d1"}, {"id": "d2"}]}],
        },
        "finish_reason": "COMPLETE",
        "usage": {"tokens": {"input_tokens": 5, "output_tokens": 1}},
    }

    response = answer("api.cohere.com", "/v2/chat", body)

    assert ("COMPLETE", 2, 3) == (response.finish_reason, response.cited, response.content_chars)
