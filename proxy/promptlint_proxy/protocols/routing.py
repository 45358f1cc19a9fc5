"""What separates or routes cache entries: keys in the body, affinity headers, isolation salts."""

from __future__ import annotations

from collections.abc import Mapping

from promptlint_proxy.protocols.base import find_header
from promptlint_proxy.protocols.json_text import Object

_BODY_KEYS = ("prompt_cache_key", "session_id")
_HEADERS = {"openrouter": "x-session-id", "xai": "x-grok-conv-id", "fireworks": "x-session-affinity"}
_SALTS = ("cache_salt", "extra_key", "prompt_cache_isolation_key")


def read_routing_key(body: Object, headers: Mapping[str, str], provider: str) -> str | None:
    for name in _BODY_KEYS:
        value = body.get(name)
        if isinstance(value, str) and value:
            return value
    header = _HEADERS.get(provider)
    return (find_header(headers, header) or None) if header else None


def read_salt(body: Object, provider: str) -> str | None:
    names = (*_SALTS, "user_id") if provider == "deepseek" else _SALTS
    for name in names:
        value = body.get(name)
        if isinstance(value, str) and value:
            return value
    return None
