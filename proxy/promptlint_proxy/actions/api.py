"""Which API a path belongs to, as far as the actions know it."""

from __future__ import annotations

from enum import StrEnum


class Api(StrEnum):
    CHAT = "chat"
    COMPLETIONS = "completions"
    RESPONSES = "responses"
    MESSAGES = "messages"


_ENDINGS = {
    "/chat/completions": Api.CHAT,
    "/completions": Api.COMPLETIONS,
    "/responses": Api.RESPONSES,
    "/messages": Api.MESSAGES,
}


def api_of(path: str) -> Api | None:
    """The API of a request path; None for all others, which no action touches.

    >>> api_of("/v1/chat/completions"), api_of("/v1/messages/count_tokens")
    (<Api.CHAT: 'chat'>, None)
    """
    return next((api for ending, api in _ENDINGS.items() if path.rstrip("/").endswith(ending)), None)
