"""Sorts tool definitions by name, so that equal sets of tools are equal prefixes."""

from __future__ import annotations

from typing import Any

from promptlint_proxy.actions.api import Api


def sort(api: Api, document: dict[str, Any]) -> bool:
    """Sort `tools` in place; False when there is nothing to do or a tool has no name or carries a cache marker."""
    del api
    tools = document.get("tools")
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        return False
    names = [_name(tool) for tool in tools]
    # A marker marks a position, not a tool: moving it would change what is cached.
    if None in names or any("cache_control" in tool or "prompt_cache_breakpoint" in tool for tool in tools):
        return False
    ordered = sorted(tools, key=lambda tool: _name(tool) or "")
    if ordered == tools:
        return False
    document["tools"] = ordered
    return True


def _name(tool: dict[str, Any]) -> str | None:
    function = tool.get("function")
    name = function.get("name") if isinstance(function, dict) else tool.get("name", tool.get("type"))
    return name if isinstance(name, str) else None
