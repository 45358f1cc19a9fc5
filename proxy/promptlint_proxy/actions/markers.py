"""Sets Anthropic cache markers in requests that have none: at the end of the system text or the tools, and at the end
of the last message, so that both the shared head and the growing history can be read from the cache."""

from __future__ import annotations

from typing import Any

from promptlint_proxy.actions.api import Api

MARKER = {"type": "ephemeral"}
MARKABLE = frozenset({"text", "image", "document", "tool_use", "tool_result"})


def add(api: Api, document: dict[str, Any]) -> bool:
    if api is not Api.MESSAGES or "cache_control" in document or _has_marker(document):
        return False
    head = _mark_system(document) or _mark_tools(document)
    return _mark_last_message(document) or head


def _has_marker(value: object) -> bool:
    if isinstance(value, dict):
        return "cache_control" in value or any(_has_marker(item) for item in value.values())
    return isinstance(value, list) and any(_has_marker(item) for item in value)


def _mark_system(document: dict[str, Any]) -> bool:
    system = document.get("system")
    if isinstance(system, str) and system:
        document["system"] = [{"type": "text", "text": system, "cache_control": dict(MARKER)}]
        return True
    return isinstance(system, list) and _mark_last_block(system)


def _mark_tools(document: dict[str, Any]) -> bool:
    tools = document.get("tools")
    if not isinstance(tools, list) or not tools or not isinstance(tools[-1], dict):
        return False
    tools[-1]["cache_control"] = dict(MARKER)
    return True


def _mark_last_message(document: dict[str, Any]) -> bool:
    messages = document.get("messages")
    if not isinstance(messages, list) or not messages or not isinstance(messages[-1], dict):
        return False
    content = messages[-1].get("content")
    if isinstance(content, str) and content:
        messages[-1]["content"] = [{"type": "text", "text": content, "cache_control": dict(MARKER)}]
        return True
    return isinstance(content, list) and _mark_last_block(content)


def _mark_last_block(blocks: list[Any]) -> bool:
    last = blocks[-1] if blocks else None
    # Thinking blocks and empty texts must not be marked: the API answers 400.
    if not isinstance(last, dict) or last.get("type") not in MARKABLE or last.get("text") == "":
        return False
    last["cache_control"] = dict(MARKER)
    return True
