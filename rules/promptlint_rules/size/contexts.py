"""Context windows of hosted model families, for projections."""

from __future__ import annotations

import re

DEFAULT_TOKENS = 131_072

_FAMILIES: tuple[tuple[str, int], ...] = (
    (r"gpt-4\.1", 1_047_576),
    (r"gpt-[5-9]", 400_000),
    (r"gpt-4o|chatgpt-4o|gpt-4-turbo|gpt-oss", 128_000),
    (r"gpt-4", 8_192),
    (r"gpt-3\.5", 16_385),
    (r"o[134](?:-|$)", 200_000),
    (r"claude", 200_000),
    (r"gemini", 1_048_576),
    (r"deepseek", 128_000),
    (r"llama-3\.[123]|llama3\.[123]|llama-4", 131_072),
    (r"llama-3|llama3", 8_192),
    (r"mi[sx]tral-7b|mixtral", 32_768),
)
"""First match wins. Source: the vendors' model pages."""


def context_tokens(model: str | None) -> int:
    """The context window of a model; `DEFAULT_TOKENS` where it is not known.

    >>> context_tokens("openai/gpt-4o-mini"), context_tokens("my-model")
    (128000, 131072)
    """
    name = (model or "").lower()
    return next((tokens for pattern, tokens in _FAMILIES if re.search(pattern, name)), DEFAULT_TOKENS)
