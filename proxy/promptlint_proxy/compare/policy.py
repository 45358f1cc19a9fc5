"""How each provider's prefix cache works, as far as comparing two requests needs it.

Sources: the vendors' caching guides (Anthropic, OpenAI, Google, AWS, DeepSeek, Mistral, Groq, Alibaba Cloud; 2026) and
the engines' own code.
"""

from __future__ import annotations

import re

from promptlint_core.exchange import Request
from promptlint_rules.traffic import LOCAL_ENGINES, Policy

_CLAUDE = re.compile(r"claude|anthropic\.")
_CLAUDE_HOSTS = frozenset({"anthropic", "bedrock", "vertex", "openrouter", "azure", "foundry", "litellm", "unknown"})

_CLAUDE_MINIMUMS: tuple[tuple[str, int], ...] = (
    (r"opus-4-?[56]\b|opus-4\.[56]\b|haiku-4-?5|haiku-4\.5", 4096),
    (r"opus-4-?7|opus-4\.7|mythos-preview|haiku-3-?5|3-5-haiku|haiku-3\.5", 2048),
    (r"fable|mythos-5|opus-5|sonnet-5-?5|sonnet-5\.5|haiku-5", 512),
)
"""First match wins; the rest needs 1,024 tokens."""

_OPENAI = re.compile(r"(?:^|[/:.])(?:chatgpt|codex|gpt-(?!oss)|ft:gpt|o[134](?:-|$))")
_OPENAI_BREAKPOINTS = re.compile(r"gpt-5\.(?:[6-9]|\d\d)|gpt-(?:[6-9]|\d\d)(?:\.|-|$)")
_GEMINI_MINIMUMS = ((r"gemini-2", 2048), (r"gemini-[3-9]", 4096))
_HOSTED_MINIMUMS = {"groq": 128, "qwen": 1024, "dashscope": 1024, "zai": 500, "minimax": 512}

_DAY_S = 86400.0
_OPENAI_LIFE_S = 1800.0


def is_claude(request: Request) -> bool:
    return bool(_CLAUDE.search((request.model or "").lower()))


def policy_of(request: Request) -> Policy:
    """The rules of the cache that serves a request."""
    model = (request.model or "").lower()
    if request.provider == "anthropic" or (is_claude(request) and request.provider in _CLAUDE_HOSTS):
        return Policy(explicit=True, minimum_tokens=_claude_minimum(model, request.provider), life_s=300)
    if request.provider == "bedrock":
        return Policy(explicit="nova" not in model, minimum_tokens=1024, life_s=300)
    if request.provider in ("openai", "azure") or (request.provider == "openrouter" and _OPENAI.search(model)):
        return _openai(request, model)
    if request.provider in ("gemini", "vertex", "google"):
        return Policy(minimum_tokens=next((n for p, n in _GEMINI_MINIMUMS if re.search(p, model)), 2048))
    if request.provider == "mistral":
        return Policy(minimum_tokens=64)
    if request.provider == "ollama":
        return Policy(life_s=300)
    return Policy(minimum_tokens=_HOSTED_MINIMUMS.get(request.provider, 0))


def _claude_minimum(model: str, provider: str) -> int:
    if provider == "bedrock" and re.search(r"opus-4-?7", model):
        return 4096
    return next((tokens for pattern, tokens in _CLAUDE_MINIMUMS if re.search(pattern, model)), 1024)


def _openai(request: Request, model: str) -> Policy:
    if _OPENAI_BREAKPOINTS.search(model):
        life = 43200.0 if ("prompt_cache_options.ttl", '"12h"') in request.parameters else _OPENAI_LIFE_S
        return Policy(breakpoints_only=True, minimum_tokens=1024, life_s=life)
    retention = dict(request.parameters).get("prompt_cache_retention", "")
    life_s = 3600.0 if "in_memory" in retention or "in-memory" in retention else _DAY_S
    return Policy(minimum_tokens=1024, life_s=life_s)


def is_self_hosted(request: Request) -> bool:
    """Whether the engine behind is one whose cache is automatic and has no fixed life."""
    return request.provider in LOCAL_ENGINES
