"""OpenAI before GPT-5.6, and Azure: an automatic cache of the exact prefix, in steps behind a minimum.

Source: OpenAI's prompt-caching guide (2026-10-02) and the cookbook "Prompt Caching 201".
"""

from __future__ import annotations

import re
from enum import StrEnum

from promptlint_core.prefix_caches.hosted_steps import StepRule

MINIMUM_TOKENS = 1024
STEP_TOKENS = 128
_IN_MEMORY_IDLE_S = 600.0
_IN_MEMORY_LONGEST_S = 3600.0
_EXTENDED_S = 86_400.0

IN_MEMORY = StepRule(MINIMUM_TOKENS, STEP_TOKENS, _IN_MEMORY_IDLE_S, _IN_MEMORY_LONGEST_S)
EXTENDED = StepRule(MINIMUM_TOKENS, STEP_TOKENS, _EXTENDED_S, _EXTENDED_S)
"""`prompt_cache_retention: 24h`."""
WIDE_STEPS = StepRule(2048, 2048, 1800.0, _EXTENDED_S)
"""GPT-5.5 keeps an implicit breakpoint each 2,048 tokens, typically for 30 minutes."""


class Generation(StrEnum):
    """How a model's cache works."""

    INTERVALS = "intervals"
    WIDE_INTERVALS = "wide-intervals"
    BREAKPOINTS = "breakpoints"
    """GPT-5.6 and later: see `openai_breakpoints`."""
    NONE = "none"
    """Models older than gpt-4o."""


_VERSION = re.compile(r"gpt-(\d+)(?:\.(\d+))?(?![\d])")


def generation(model: str | None) -> Generation:
    """The cache generation of a model; unknown names count as the interval kind.

    >>> [str(generation(f"gpt-{m}")) for m in ("5.4", "5.5-pro", "5.6-terra", "6.1-sol", "4-0613", "4.1", "4o-mini")]
    ['intervals', 'wide-intervals', 'breakpoints', 'breakpoints', 'none', 'intervals', 'intervals']
    """
    name = (model or "").rsplit("/", 1)[-1].removeprefix("ft:").lower()
    if name.startswith(("gpt-3.5", "gpt-35", "text-", "davinci", "babbage")):
        return Generation.NONE
    match = _VERSION.match(name)
    if match is None:
        return Generation.INTERVALS
    version = (int(match[1]), int(match[2] or 0))
    if version >= (5, 6):
        return Generation.BREAKPOINTS
    if version == (5, 5):
        return Generation.WIDE_INTERVALS
    if version == (4, 0) and not name.startswith("gpt-4o"):
        return Generation.NONE
    return Generation.INTERVALS


def rule_for(model: str | None, retention: str | None = None) -> StepRule:
    """The step rule of a model of the interval kinds.

    Args:
        model: as asked for.
        retention: `prompt_cache_retention` of the request; None: the organization's default, taken as in memory.
    """
    if generation(model) is Generation.WIDE_INTERVALS:
        return WIDE_STEPS
    return EXTENDED if retention == "24h" else IN_MEMORY
