"""Refuses requests without a bound on output tokens, or gives them one."""

from __future__ import annotations

from typing import Any

from promptlint_proxy.actions.api import Api

REFUSAL = "the request sets no bound on output tokens: set {field} (required by the proxy's setting refuse_unbounded)"

_FIELDS = {
    Api.CHAT: ("max_completion_tokens", "max_tokens"),
    Api.COMPLETIONS: ("max_tokens",),
    Api.RESPONSES: ("max_output_tokens",),
    Api.MESSAGES: ("max_tokens",),
}


def is_unbounded(api: Api, document: dict[str, Any]) -> bool:
    """No field holds a number; null and -1 are no bound."""
    values = [document.get(field) for field in _FIELDS[api]]
    return not any(isinstance(value, int | float) and value >= 0 for value in values)


def field_of(api: Api, document: dict[str, Any]) -> str:
    """The field to set: the one that the request names already, else the API's own."""
    return next((field for field in _FIELDS[api] if field in document), _FIELDS[api][0])


def cap(api: Api, document: dict[str, Any], tokens: int) -> bool:
    if not is_unbounded(api, document):
        return False
    document[field_of(api, document)] = tokens
    return True
