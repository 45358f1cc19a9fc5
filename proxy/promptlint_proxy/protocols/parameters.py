"""Settings that belong to the cache key, by whose model it is; what leaves the prefix intact is left out.

A value that says what the absent field means too is left out as well: sending the default is no change.
"""

from __future__ import annotations

import re
from typing import Any

from promptlint_proxy.protocols.json_text import Object, compact

_Table = dict[str, tuple[Any, ...]]

_OPENAI: _Table = {
    "parallel_tool_calls": (True,),
    "text.format": ({"type": "text"},),
    "response_format": ({"type": "text"},),
    "reasoning.effort": (),
    "reasoning_effort": (),
    "text.verbosity": (),
    "verbosity": (),
    "context_management": (),
    "service_tier": ("auto", "default"),
    "prompt_cache_options.mode": ("implicit",),
    "prompt_cache_options.ttl": ("30m",),
    "prompt_cache_retention": (),
}
_ANTHROPIC: _Table = {
    "tool_choice": ({"type": "auto"}, "auto"),
    "thinking": ({"type": "disabled"},),
    "output_config.effort": (),
    "reasoning.effort": (),
    "reasoning_effort": (),
    "speed": ("standard",),
    "context_management": (),
    "toolConfig.toolChoice": ({"auto": {}},),
    "additionalModelRequestFields.thinking": ({"type": "disabled"},),
    "additionalModelRequestFields.output_config": (),
}
_GEMINI: _Table = {
    "toolConfig": (),
    "generationConfig.thinkingConfig": (),
    "generationConfig.responseSchema": (),
    "generationConfig.responseMimeType": ("text/plain",),
}
_ENGINE: _Table = {
    "chat_template": (),
    "chat_template_kwargs": ({},),
    "reasoning": (),
    "reasoning_effort": (),
    "thinking": (),
    "enable_thinking": (),
    "think": (),
    "add_generation_prompt": (True,),
    "continue_final_message": (False,),
    "lora_path": (),
    "template": (),
    "raw": (False,),
    "options.num_ctx": (),
}

_CLAUDE = re.compile(r"claude|anthropic\.")
_OPENAI_MODEL = re.compile(r"(^|[/:.])(chatgpt|codex|computer-use|gpt-(?!oss|j\b|neo)|ft:gpt|o[134](-|$))")


def read_parameters(body: Object, model: str | None, provider: str) -> tuple[tuple[str, str], ...]:
    """(name, compact JSON) of the settings that are set, sorted by name."""
    name = (model or "").lower()
    if _CLAUDE.search(name) or provider == "anthropic":
        table = _ANTHROPIC
    elif "contents" in body:
        table = _GEMINI
    elif provider in {"openai", "azure"} or _OPENAI_MODEL.search(name):
        table = _OPENAI
    else:
        table = _ENGINE
    found: list[tuple[str, str]] = []
    for path, defaults in table.items():
        value: Any = body
        for step in path.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        if value is None or value in defaults:
            continue
        found.append((path, compact(value)))
    return tuple(sorted(found))
