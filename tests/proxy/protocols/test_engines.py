"""Endpoints of self-hosted engines: legacy completions, Ollama, TGI, SGLang, llama.cpp; and what is only measured."""

from __future__ import annotations

from typing import Any

import pytest
from protocol_wire import answer, read, shown

from promptlint_core.prompt import BoundKind
from promptlint_proxy.protocols.base import RequestHead
from promptlint_proxy.protocols.unknown import Embeddings, Unknown

PROMPTS: dict[str, tuple[Any, list[tuple[str, str]], int]] = {
    "string": ("a b", [("prompt", "a b")], 1),
    "list of one": (["a b"], [("prompt", "a b")], 1),
    "two prompts": (["a", "b"], [("prompt[0]", "a"), ("prompt[1]", "b")], 2),
    "token ids": ([5, 17], [("prompt", "5 17 ")], 1),
    "two lists of ids": ([[5], [6, 7]], [("prompt[0]", "5 "), ("prompt[1]", "6 7 ")], 2),
}


@pytest.mark.parametrize("name", PROMPTS)
def test_completions_take_prompts_of_all_shapes(name: str) -> None:
    prompt, expected, answers = PROMPTS[name]

    request = read("vllm:8000", "/v1/completions", {"model": "m", "prompt": prompt, "max_tokens": 9})

    assert expected == shown(request)
    assert answers == request.n
    assert ("ids" in name) == bool(request.notes)


def test_more_ids_of_a_prompt_are_an_extension_of_its_text() -> None:
    first = read("vllm:8000", "/v1/completions", {"prompt": [5, 17]})
    second = read("vllm:8000", "/v1/completions", {"prompt": [5, 170, 3]})

    assert not second.text.startswith(first.text)


@pytest.mark.parametrize(
    ("host", "body", "kind", "tokens"),
    [
        ("api.openai.com", {}, BoundKind.ABSENT, 16),
        ("vllm:8000", {"max_tokens": None}, BoundKind.UNLIMITED, None),
        ("api.together.xyz", {}, BoundKind.ABSENT, None),
        ("vllm:8000", {"max_tokens": 5}, BoundKind.LIMITED, 5),
    ],
)
def test_a_server_with_a_small_bound_of_its_own_is_told(
    host: str, body: dict[str, Any], kind: BoundKind, tokens: int | None
) -> None:
    bound = read(host, "/v1/completions", {"prompt": "x", **body}).bound

    assert (kind, tokens) == (bound.kind, bound.tokens)


def test_best_of_multiplies_the_answers() -> None:
    assert read("vllm:8000", "/v1/completions", {"prompt": "x", "n": 2, "best_of": 4}).n == 4


def test_a_whole_completion() -> None:
    body = {
        "choices": [{"text": "ab", "finish_reason": "length"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }

    response = answer("vllm:8000", "/v1/completions", body)

    assert ("length", 2) == (response.finish_reason, response.content_chars)


def test_ollama_chat() -> None:
    body = {
        "model": "qwen3",
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u", "images": ["iVBOR"]},
            {
                "role": "assistant",
                "thinking": "Hm",
                "content": "",
                "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}],
            },
            {"role": "tool", "tool_name": "f", "content": "7"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "options": {"num_predict": -1, "num_ctx": 4096},
        "keep_alive": "5m",
    }

    request = read("localhost:11434", "/api/chat", body)

    assert [
        ("messages[0].role", "system"),
        ("messages[0].content", "s"),
        ("tools[0].name", "f"),
        ("tools[0].schema", "{}"),
        ("messages[1].role", "user"),
        ("messages[1].content", "u"),
        ("messages[1].images[0]", "iVBOR"),
        ("messages[2].role", "assistant"),
        ("messages[2].thinking", "Hm"),
        ("messages[2].tool_calls[0].function.name", "f"),
        ("messages[2].tool_calls[0].function.arguments", '{"a":1}'),
        ("messages[3].role", "tool"),
        ("messages[3].tool_name", "f"),
        ("messages[3].content", "7"),
    ] == shown(request)
    assert BoundKind.UNLIMITED is request.bound.kind
    assert request.stream
    assert (("options.num_ctx", "4096"),) == request.parameters


def test_ollama_streams_unless_told_otherwise() -> None:
    assert not read("localhost:11434", "/api/chat", {"messages": [], "stream": False}).stream


def test_ollama_generate_with_a_context_hides_its_prefix() -> None:
    request = read("localhost:11434", "/api/generate", {"prompt": "p", "system": "s", "context": [1, 2]})

    assert [("system", "s"), ("prompt", "p")] == shown(request)
    assert request.hidden_prefix


def test_a_whole_ollama_answer() -> None:
    body = {"message": {"content": "Yes"}, "done": True, "done_reason": "stop", "prompt_eval_count": 4, "eval_count": 1}

    response = answer("localhost:11434", "/api/chat", body)

    assert ("stop", 3) == (response.finish_reason, response.content_chars)
    assert response.usage is not None


def test_tgi() -> None:
    request = read("tgi:80", "/generate_stream", {"inputs": "x", "parameters": {"max_new_tokens": 5, "best_of": 2}})
    response = answer(
        "tgi:80", "/generate", [{"generated_text": "ab", "details": {"finish_reason": "length", "generated_tokens": 2}}]
    )

    assert ([("inputs", "x")], 5, 2, True) == (shown(request), request.bound.tokens, request.n, request.stream)
    assert ("length", 2) == (response.finish_reason, response.content_chars)


def test_sglang_generate() -> None:
    request = read("sglang:30000", "/generate", {"text": "x", "sampling_params": {"n": 2}, "extra_key": "k"})
    response = answer(
        "sglang:30000",
        "/generate",
        {"text": "ab", "meta_info": {"prompt_tokens": 4, "cached_tokens": 3, "finish_reason": {"type": "stop"}}},
    )

    assert ([("text", "x")], 2, "k") == (shown(request), request.n, request.salt)
    assert (BoundKind.ABSENT, 128) == (request.bound.kind, request.bound.tokens)
    assert "stop" == response.finish_reason


def test_sglang_streams_that_do_not_repeat_themselves() -> None:
    from protocol_wire import content, sse, stream

    body = sse({"text": "One", "output_ids": [4]}, {"text": " two", "output_ids": [5, 6]})

    events, response = stream("sglang:30000", "/generate", body)

    assert [("text", 0, 1, 3), ("text", 0, 2, 4)] == content(events)
    assert response.content_tail == "One two"


def test_tokens_of_half_a_character_count_with_the_event_that_completes_it() -> None:
    from protocol_wire import content, sse, stream

    body = sse(
        {"content": "", "tokens_predicted": 1, "stop": False},
        {"content": "", "tokens_predicted": 2, "stop": False},
        {"content": "é", "tokens_predicted": 3, "stop": False},
        {"content": "a", "tokens_predicted": 4, "stop": False},
    )

    events, _ = stream("localhost:8080", "/completion", body)

    assert [("text", 0, 3, 1), ("text", 0, 1, 1)] == content(events)


def test_llamacpp_completion() -> None:
    request = read("localhost:8080", "/completion", {"prompt": ["a", 5, "b"], "n_predict": -1, "id_slot": 2})

    assert [("prompt[0]", "a"), ("prompt[1]", "5 "), ("prompt[2]", "b")] == shown(request)
    assert (BoundKind.UNLIMITED, "slot 2") == (request.bound.kind, request.routing_key)


def test_vllm_generate_reads_token_ids() -> None:
    body = {"token_ids": [5, 17], "sampling_params": {"max_tokens": 9, "n": 2}, "cache_salt": "s", "stream": True}

    request = read("vllm:8000", "/inference/v1/generate", body)
    response = answer(
        "vllm:8000",
        "/inference/v1/generate",
        {"choices": [{"index": 0, "token_ids": [7, 8], "finish_reason": "length"}]},
    )

    assert ([("token_ids", "5 17 ")], 9, 2, "s", True) == (
        shown(request),
        request.bound.tokens,
        request.n,
        request.salt,
        request.stream,
    )
    assert "length" == response.finish_reason


def test_answers_of_several_choices_are_told_by_the_first() -> None:
    choices = [{"index": 0, "message": {"content": "one"}}, {"index": 1, "message": {"content": "two!"}}]

    response = answer("vllm:8000", "/v1/chat/completions", {"choices": choices})

    assert (7, "one") == (response.content_chars, response.content_tail)


def test_embeddings_and_unknown_calls_are_measured_and_not_read() -> None:
    embedding = read("api.openai.com", "/v1/embeddings", {"model": "text-embedding-3-small", "input": "secret"})
    unknown = read("gateway.internal", "/llm", {"question": "secret", "model": "m"})

    assert ("embeddings", "text-embedding-3-small", ()) == (embedding.api, embedding.model, embedding.pieces)
    assert ("unknown", "m", ()) == (unknown.api, unknown.model, unknown.pieces)


@pytest.mark.parametrize("protocol", [Unknown(), Embeddings("openai")])
@pytest.mark.parametrize("body", [b"", b"--boundary", b"\xff\x00", b"[]"])
def test_an_unknown_body_is_no_fault(protocol: Unknown, body: bytes) -> None:
    request = protocol.read_request(body, RequestHead("POST", "h", "/x"))

    assert ((), ()) == (request.pieces, request.notes)


def test_an_unknown_answer_tells_its_usage_where_the_shape_is_known() -> None:
    response = answer(
        "api.openai.com",
        "/v1/decisions",
        {"model": "m", "usage": {"input_tokens": 3, "input_tokens_details": {"cached_tokens": 1}, "output_tokens": 2}},
    )

    assert response.usage is not None
    assert (3, 1, 2) == (response.usage.prompt_tokens, response.usage.hit_tokens, response.usage.output_tokens)
