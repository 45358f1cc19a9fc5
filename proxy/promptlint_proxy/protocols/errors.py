"""Errors in each API's own JSON shape, for answers that the proxy must give itself."""

from __future__ import annotations

from typing import Any

from promptlint_proxy.protocols.base import Protocol
from promptlint_proxy.protocols.json_text import compact

_ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_GOOGLE_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def error_body(api: Protocol | str | None, status: int, message: str) -> tuple[bytes, str]:
    """(body, content type) of an error; `api` is a protocol or its name, None or unknown gives OpenAI's shape."""
    name = api.name if isinstance(api, Protocol) else api
    return compact(_shape(name or "", status, message)).encode(), "application/json"


def _shape(api: str, status: int, message: str) -> dict[str, Any]:
    if api == "messages":
        kind = _ANTHROPIC_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": None}
    if api in {"generate_content", "interactions"}:
        kind = _GOOGLE_STATUS.get(status, "INTERNAL" if status >= 500 else "INVALID_ARGUMENT")
        return {"error": {"code": status, "message": message, "status": kind}}
    if api in {"converse", "invoke", "cohere_chat"}:
        return {"message": message}
    if api in {"ollama_chat", "ollama_generate"}:
        return {"error": message}
    if api == "tgi":
        return {"error": message, "error_type": "overloaded" if status == 429 else "generation"}
    if api == "llamacpp":
        kind = "server_error" if status >= 500 else "invalid_request_error"
        return {"error": {"code": status, "message": message, "type": kind}}
    kind = "server_error" if status >= 500 else "rate_limit_error" if status == 429 else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}
