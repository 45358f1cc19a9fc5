"""Gemini's implicit cache: automatic from 2.5 on, promised by nobody; minimum by model, step and life unpublished.

Source: ai.google.dev caching and pricing pages (September to October 2026); the life of 3 to 5 minutes is OpenRouter's.
An explicit `cachedContent` is a hidden prefix: the request does not show it.
"""

from __future__ import annotations

import re

from promptlint_core.prefix_caches.hosted_steps import UNPUBLISHED_STEP, StepRule

_LIFE_S = 300.0


def rule_for(model: str | None) -> StepRule | None:
    """The rule of a model; None for models older than 2.5, which cache nothing implicitly.

    >>> rule_for("gemini-2.5-flash").minimum_tokens, rule_for("models/gemini-3.5-flash").minimum_tokens
    (2048, 4096)
    >>> rule_for("gemini-2.0-flash") is None
    True
    """
    match = re.search(r"gemini-(\d+)(?:\.(\d+))?", (model or "").lower())
    version = (int(match[1]), int(match[2] or 0)) if match else (2, 5)
    if version < (2, 5):
        return None
    minimum = 2048 if version == (2, 5) else 4096
    return StepRule(minimum, UNPUBLISHED_STEP, _LIFE_S, published=False)
