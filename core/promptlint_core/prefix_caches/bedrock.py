"""Bedrock: Claude by cache points with Anthropic's rules and own minima, Nova implicitly, GPT-5.6 by breakpoints.

Source: docs.aws.amazon.com Bedrock prompt caching (2026).
"""

from __future__ import annotations

import re

from promptlint_core.prefix_caches import anthropic_markers
from promptlint_core.prefix_caches.hosted_steps import UNPUBLISHED_STEP, StepRule

NOVA = StepRule(1024, UNPUBLISHED_STEP, 300.0, published=False)
"""Text is cached implicitly for five minutes; the step is not published."""


def minimum_tokens(model: str | None) -> int:
    """Shortest prefix that Claude caches on Bedrock: as at Anthropic but for Opus 4.7.

    >>> minimum_tokens("anthropic.claude-opus-4-7-v1:0"), minimum_tokens("eu.anthropic.claude-sonnet-4-6")
    (4096, 1024)
    """
    if re.search(r"opus-4[-.]?7", (model or "").lower()):
        return 4096
    return anthropic_markers.minimum_tokens(model)
