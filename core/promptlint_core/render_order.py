"""In which order a model reads tools, system text and messages: the model decides, not the wire format."""

from __future__ import annotations

import re
from enum import StrEnum

from promptlint_core.prompt import Part


class RenderOrder(StrEnum):
    TOOLS_FIRST = "tools-first"
    """OpenAI's hosted models and Claude: a change of tools loses everything."""
    SYSTEM_FIRST = "system-first"
    """DeepSeek, Gemini, MiniMax and nearly all chat templates of open-weight models."""

    @property
    def parts(self) -> tuple[Part, Part, Part]:
        if self is RenderOrder.TOOLS_FIRST:
            return (Part.TOOLS, Part.SYSTEM, Part.MESSAGES)
        return (Part.SYSTEM, Part.TOOLS, Part.MESSAGES)


# gpt-oss is open weight: its harmony template puts the tools into the developer message, behind the system message
_TOOLS_FIRST_MODEL = re.compile(
    r"(^|[/.:@~])(claude|anthropic\.|chatgpt|codex|computer-use|gpt-(?!oss|j\b|neo|2\b)|ft:gpt|o[134](-|$)|amazon\.nova|nova-)"
)
_OPEN_MODEL = re.compile(
    r"gpt-oss|gpt-j|gpt-neo|llama|mistral|mixtral|codestral|deepseek|qwen|minimax|kimi|glm|gemma|phi-|command|nemotron|jamba"
)
_TOOLS_FIRST_PROVIDERS = frozenset({"openai", "azure", "anthropic", "bedrock"})


def render_order(model: str | None, provider: str = "unknown") -> RenderOrder:
    """The order for a model name; a name that tells nothing (an Azure deployment) is judged by who serves it.

    >>> str(render_order("claude-opus-5")), str(render_order("us.anthropic.claude-opus-5-v1:0"))
    ('tools-first', 'tools-first')
    >>> str(render_order("openai/gpt-oss-120b", "groq")), str(render_order("deepseek-v4-flash", "deepseek"))
    ('system-first', 'system-first')
    """
    name = (model or "").lower()
    if provider in _TOOLS_FIRST_PROVIDERS and not _OPEN_MODEL.search(name):
        return RenderOrder.TOOLS_FIRST
    return RenderOrder.TOOLS_FIRST if _TOOLS_FIRST_MODEL.search(name) else RenderOrder.SYSTEM_FIRST
