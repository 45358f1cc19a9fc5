"""Which protocol a request speaks and who serves it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from promptlint_proxy.protocols import PROTOCOLS, find

ADDRESSES = [
    ("api.openai.com", "/v1/chat/completions", "chat", "openai"),
    ("eu.api.openai.com", "/v1/responses", "responses", "openai"),
    ("api.openai.com", "/v1/responses/compact", "responses", "openai"),
    ("api.openai.com", "/v1/completions", "completions", "openai"),
    ("api.openai.com", "/v1/embeddings", "embeddings", "openai"),
    ("api.openai.com", "/v1/decisions", "unknown", "openai"),
    ("shop.openai.azure.com", "/openai/deployments/d/chat/completions?api-version=1", "chat", "azure"),
    ("shop.cognitiveservices.azure.com", "/openai/deployments/d/completions", "completions", "azure"),
    ("shop.services.ai.azure.com", "/openai/v1/responses", "responses", "azure"),
    ("shop.services.ai.azure.com", "/anthropic/v1/messages", "messages", "anthropic"),
    ("gateway.internal", "/openai/deployments/d/chat/completions", "chat", "azure"),
    ("api.anthropic.com", "/v1/messages?beta=true", "messages", "anthropic"),
    (
        "generativelanguage.googleapis.com",
        "/v1beta/models/gemini-3.8-flash:generateContent",
        "generate_content",
        "gemini",
    ),
    ("generativelanguage.googleapis.com", "/v1beta/interactions", "interactions", "gemini"),
    ("generativelanguage.googleapis.com", "/v1beta/models/e:batchEmbedContents", "embeddings", "gemini"),
    (
        "eu-aiplatform.googleapis.com",
        "/v1/projects/p/locations/l/publishers/google/models/gemini-4-argon:streamGenerateContent",
        "generate_content",
        "gemini",
    ),
    (
        "eu-aiplatform.googleapis.com",
        "/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-5:rawPredict",
        "messages",
        "anthropic",
    ),
    ("bedrock-runtime.us-east-1.amazonaws.com", "/model/us.anthropic.claude-opus-5/converse", "converse", "bedrock"),
    ("bedrock-runtime.us-east-1.amazonaws.com", "/model/a%3Ab%2Fc/converse-stream", "converse", "bedrock"),
    ("bedrock-runtime.us-east-1.amazonaws.com", "/model/m/invoke-with-response-stream", "invoke", "bedrock"),
    ("api.deepseek.com", "/chat/completions", "chat", "deepseek"),
    ("api.deepseek.com", "/anthropic/v1/messages", "messages", "deepseek"),
    ("api.mistral.ai", "/v1/fim/completions", "completions", "mistral"),
    ("api.mistral.ai", "/v1/agents/completions", "chat", "mistral"),
    ("api.mistral.ai", "/v1/conversations", "conversations", "mistral"),
    ("api.openai.com", "/v1/conversations", "unknown", "openai"),
    ("vllm:8000", "/inference/v1/generate", "vllm_generate", "vllm"),
    ("api.x.ai", "/v1/chat/completions", "chat", "xai"),
    ("api.groq.com", "/openai/v1/chat/completions", "chat", "groq"),
    ("api.together.xyz", "/v1/chat/completions", "chat", "together"),
    ("api.fireworks.ai", "/inference/v1/chat/completions", "chat", "fireworks"),
    ("openrouter.ai", "/api/v1/messages", "messages", "openrouter"),
    ("api.cohere.com", "/v2/chat", "cohere_chat", "cohere"),
    ("127.0.0.1:8000", "/v1/chat/completions", "chat", "vllm"),
    ("vllm.models.svc.cluster.local", "/v1/messages", "messages", "vllm"),
    ("localhost:30000", "/v1/chat/completions", "chat", "sglang"),
    ("sglang:80", "/generate", "sglang_generate", "sglang"),
    ("tgi:3000", "/generate_stream", "tgi", "tgi"),
    ("localhost:8080", "/completion", "llamacpp", "llamacpp"),
    ("localhost:11434", "/api/chat", "ollama_chat", "ollama"),
    ("localhost:11434", "/api/generate", "ollama_generate", "ollama"),
    ("gateway.internal", "/team-a/openai/v1/chat/completions", "chat", "unknown"),
    ("gateway.internal", "/anything", "unknown", "unknown"),
    ("notopenai.com", "/v1/chat/completions", "chat", "unknown"),
    ("openai.com.evil.example", "/v1/chat/completions", "chat", "unknown"),
]


@pytest.mark.parametrize(("host", "path", "api", "provider"), ADDRESSES)
def test_address_tells_protocol_and_provider(host: str, path: str, api: str, provider: str) -> None:
    found = find("POST", host, path, {})

    assert found is not None
    assert (api, provider) == (found.name, found.provider)


@pytest.mark.parametrize(
    ("host", "model", "provider"),
    [
        ("proxy.internal", "claude-sonnet-4-6", "anthropic"),
        ("127.0.0.1:8000", "gpt-5.4", "openai"),
        ("127.0.0.1:4000", "o4-mini", "openai"),
        ("127.0.0.1:4000", "gemini-3.8-flash", "gemini"),
        ("127.0.0.1:4000", "deepseek-v4-flash", "deepseek"),
        ("127.0.0.1:8000", "openai/gpt-oss-120b", "vllm"),
        ("127.0.0.1:8000", "deepseek-ai/DeepSeek-V3", "vllm"),
        ("127.0.0.1:4000", "my-model", "unknown"),
        ("api.groq.com", "gpt-5.4", "groq"),
    ],
)
def test_a_model_that_only_its_vendor_serves_tells_the_provider(host: str, model: str, provider: str) -> None:
    body = json.dumps({"messages": [{"content": 'say "model": "x"'}], "model": model}).encode()

    found = find("POST", host, "/v1/chat/completions", {}, body)

    assert found is not None
    assert provider == found.provider


HINTS: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "anthropic header": ({"messages": []}, {"Anthropic-Version": "2026-10-21"}, "messages"),
    "anthropic body": ({"messages": [], "anthropic_version": "v"}, {}, "messages"),
    "gemini": ({"contents": [], "generationConfig": {}}, {}, "generate_content"),
    "converse": ({"messages": [], "inferenceConfig": {}}, {}, "converse"),
    "responses": ({"model": "m", "input": "x"}, {}, "responses"),
    "chat": ({"model": "m", "messages": []}, {}, "chat"),
    "ollama": ({"messages": [], "options": {"num_predict": 3}}, {}, "ollama_chat"),
    "tgi": ({"inputs": "x", "parameters": {}}, {}, "tgi"),
    "sglang": ({"text": "x", "sampling_params": {}}, {}, "sglang_generate"),
    "sglang ids": ({"input_ids": [1], "sampling_params": {}}, {}, "sglang_generate"),
    "llama.cpp": ({"prompt": "x", "n_predict": 3}, {}, "llamacpp"),
    "nothing": ({"q": 1}, {}, "unknown"),
}


@pytest.mark.parametrize("name", HINTS)
def test_the_body_tells_where_a_gateway_hides_the_path(name: str) -> None:
    body, headers, api = HINTS[name]

    found = find("POST", "gateway.internal", "/llm", headers, json.dumps(body).encode())

    assert found is not None
    assert api == found.name


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/models"),
        ("GET", "/v1/chat/completions"),
        ("OPTIONS", "/v1/chat/completions"),
        ("DELETE", "/v1/responses/r1"),
        ("POST", "/v1/messages/count_tokens"),
        ("POST", "/v1/responses/input_tokens"),
        ("POST", "/v1/messages/batches"),
        ("POST", "/v1beta/models/m:countTokens"),
        ("POST", "/model/m/count-tokens"),
        ("POST", "/tokenize"),
        ("POST", "/v1/files"),
        ("POST", "/v1beta/cachedContents"),
        ("POST", "/v1/chat/completions/render"),
        ("POST", "/api/show"),
    ],
)
def test_what_asks_no_model_has_no_protocol(method: str, path: str) -> None:
    assert find(method, "api.openai.com", path, {}) is None


def test_names_are_unique_and_all_are_found() -> None:
    names = [protocol.name for protocol in PROTOCOLS]

    assert len(names) == len(set(names))
    assert set(names) == {api for _, _, api, _ in ADDRESSES}


def test_an_unreadable_body_is_no_hint() -> None:
    found = find("POST", "gateway.internal", "/llm", {}, b"\x00\xff")

    assert found is not None
    assert found.name == "unknown"
