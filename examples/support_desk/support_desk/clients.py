"""The clients of the two providers; where they are is told by the environment."""

from __future__ import annotations

import os
from functools import cache

from anthropic import Anthropic
from openai import OpenAI

OPENAI_MODEL = os.environ.get("SUPPORT_DESK_OPENAI_MODEL", "gpt-5.4-mini")
ANTHROPIC_MODEL = os.environ.get("SUPPORT_DESK_ANTHROPIC_MODEL", "claude-sonnet-4-5")


@cache
def openai_client() -> OpenAI:
    return OpenAI(
        base_url=os.environ.get("OPENAI_BASE_URL"),
        api_key=os.environ.get("OPENAI_API_KEY", "unset"),
        max_retries=1,
    )


@cache
def anthropic_client() -> Anthropic:
    return Anthropic(
        base_url=os.environ.get("ANTHROPIC_BASE_URL"),
        api_key=os.environ.get("ANTHROPIC_API_KEY", "unset"),
        max_retries=1,
    )
