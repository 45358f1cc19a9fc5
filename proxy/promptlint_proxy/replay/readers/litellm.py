"""LiteLLM logs: standard logging payloads, and rows of its spend log table exported as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from promptlint_proxy.replay.readers.json_records import Object, as_json, as_seconds, as_value, read_records
from promptlint_proxy.replay.recorded import RecordedExchange, Unreadable

_PATHS = (
    ("anthropic_messages", "/v1/messages"),
    ("responses", "/v1/responses"),
    ("text_completion", "/v1/completions"),
    ("embedding", "/v1/embeddings"),
)
_ANSWERS = {"/v1/messages": "content", "/v1/responses": "output", "/v1/embeddings": "data"}
"""What an answer of the path's own shape holds: answers of other providers may be logged in OpenAI's shape."""
_HOSTS = {
    "openai": "api.openai.com",
    "anthropic": "api.anthropic.com",
    "azure": "azure.openai.azure.com",
    "azure_ai": "azure.services.ai.azure.com",
    "gemini": "generativelanguage.googleapis.com",
    "vertex_ai": "aiplatform.googleapis.com",
    "deepseek": "api.deepseek.com",
    "mistral": "api.mistral.ai",
    "groq": "api.groq.com",
    "together_ai": "api.together.xyz",
    "fireworks_ai": "api.fireworks.ai",
    "openrouter": "openrouter.ai",
    "xai": "api.x.ai",
    "cohere_chat": "api.cohere.com",
    "bedrock": "bedrock-runtime.us-east-1.amazonaws.com",
    "hosted_vllm": "vllm:8000",
    "ollama_chat": "ollama:11434",
}
_LEFT_OUT = frozenset({"user", "metadata", "extra_headers", "api_key", "api_base", "secret_fields"})


def read_litellm(path: Path) -> Iterator[RecordedExchange | Unreadable]:
    """The calls of a log, in its order. Every call is in OpenAI's shape, whichever provider answered it."""
    for record in read_records(path, ("data", "logs", "response")):
        if isinstance(record, Unreadable):
            yield record
            continue
        place, entry = record
        inner = entry.get("standard_logging_object")
        call = inner if isinstance(inner, dict) else entry
        if str(call.get("cache_hit")).lower() != "true":  # answered from LiteLLM's own store: no model was asked
            yield _read(call, place)


def _read(entry: Object, place: str) -> RecordedExchange | Unreadable:
    at = as_seconds(entry.get("startTime"))
    if at is None:
        return Unreadable(place, "`startTime` is missing or no time")
    body = _request_body(entry)
    if body is None:
        return Unreadable(place, "the prompt was not stored: turn on the storing of prompts in the log's settings")
    call_type = str(entry.get("call_type") or "")
    provider = str(entry.get("custom_llm_provider") or "")
    base = str(entry.get("api_base") or "")
    host = _HOSTS.get(provider) or urlsplit(base).netloc.rpartition("@")[2]
    path = next((path for word, path in _PATHS if word in call_type), "/v1/chat/completions")
    response = as_value(entry.get("response"))
    failed = entry.get("status") == "failure"
    readable = isinstance(response, dict) and _ANSWERS.get(path, "choices") in response and not failed
    return RecordedExchange(
        at=at,
        path=path,
        body=as_json(body),
        host=host,
        headers={},
        usage=_usage(entry, response),
        told={"error": _error(entry)} if failed else None,
        status=None if failed else 200,
        response_headers={"content-type": "application/json"},
        response_body=as_json(response) if readable else None,
        ttft_s=_ttft(entry, at),
        e2e_s=_since(at, as_seconds(entry.get("endTime"))),
        place=place,
    )


def _request_body(entry: Object) -> Object | None:
    """The client's own body where the proxy kept it, else put together from messages and parameters."""
    sent = as_value(entry.get("proxy_server_request"))
    if isinstance(sent, dict):
        body = as_value(sent.get("body", sent))
        if isinstance(body, dict) and ("messages" in body or "input" in body or "prompt" in body):
            return {**body, "model": body.get("model") or entry.get("model")}
    messages = as_value(entry.get("messages"))
    parameters = as_value(entry.get("model_parameters"))
    known = {name: value for name, value in _items(parameters) if name not in _LEFT_OUT and value is not None}
    if isinstance(messages, str) and messages:
        key = "prompt" if "text_completion" in str(entry.get("call_type")) else "input"
        return {"model": entry.get("model"), **known, key: messages}
    if isinstance(messages, list) and messages:
        key = "input" if "responses" in str(entry.get("call_type")) else "messages"
        return {"model": entry.get("model"), **known, key: messages}
    return None


def _items(value: object) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _usage(entry: Object, response: object) -> Mapping[str, Any] | None:
    """Of the answer, else the log's own counts, which say nothing of the cache."""
    metadata = as_value(entry.get("metadata"))
    for holder, name in ((response, "usage"), (metadata, "usage_object")):
        told = dict(_items(holder)).get(name)
        if isinstance(told, dict):
            return told
    counts = {name: entry.get(name) for name in ("prompt_tokens", "completion_tokens")}
    return counts if any(counts.values()) else None


def _error(entry: Object) -> str:
    information = as_value(entry.get("error_information"))
    details = dict(_items(information))
    return str(details.get("error_class") or details.get("error_code") or "error")


def _ttft(entry: Object, at: float) -> float | None:
    """Only streamed calls tell it: otherwise the first token is logged with the time of the end."""
    first, end = as_seconds(entry.get("completionStartTime")), as_seconds(entry.get("endTime"))
    return _since(at, first) if first is not None and first != end else None


def _since(at: float, later: float | None) -> float | None:
    return later - at if later is not None and later >= at else None
