"""Bounds on output tokens, and settings that belong to the cache key."""

from __future__ import annotations

from typing import Any

import pytest

from promptlint_core.prompt import BoundKind
from promptlint_proxy.protocols.bounds import is_bound_hit, read_bound
from promptlint_proxy.protocols.parameters import read_parameters

NAMES = ("max_completion_tokens", "max_tokens")


@pytest.mark.parametrize(
    ("holder", "kind", "tokens", "parameter"),
    [
        ({}, BoundKind.ABSENT, None, ""),
        ({"max_tokens": 5}, BoundKind.LIMITED, 5, "max_tokens"),
        ({"max_tokens": 5, "max_completion_tokens": 7}, BoundKind.LIMITED, 7, "max_completion_tokens"),
        ({"max_tokens": 5, "max_completion_tokens": None}, BoundKind.LIMITED, 5, "max_tokens"),
        ({"max_tokens": None}, BoundKind.UNLIMITED, None, "max_tokens"),
        ({"max_tokens": -1}, BoundKind.UNLIMITED, None, "max_tokens"),
        ({"max_tokens": float("inf")}, BoundKind.UNLIMITED, None, "max_tokens"),
        ({"max_tokens": 0}, BoundKind.LIMITED, 0, "max_tokens"),
        ({"max_tokens": "all"}, BoundKind.UNKNOWN, None, "max_tokens"),
        ({"max_tokens": True}, BoundKind.UNKNOWN, None, "max_tokens"),
    ],
)
def test_a_bound_is_what_the_request_says(
    holder: dict[str, Any], kind: BoundKind, tokens: int | None, parameter: str
) -> None:
    bound = read_bound(holder, NAMES)

    assert (kind, tokens, parameter) == (bound.kind, bound.tokens, bound.parameter)


@pytest.mark.parametrize(
    "reason", ["length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_context_window_exceeded"]
)
def test_reasons_that_prove_a_bound(reason: str) -> None:
    assert is_bound_hit(reason)


@pytest.mark.parametrize("reason", [None, "", "stop", "end_turn", "STOP", "tool_use", "completed"])
def test_reasons_that_prove_none(reason: str | None) -> None:
    assert not is_bound_hit(reason)


KEYS: dict[str, tuple[dict[str, Any], str, str, tuple[str, ...]]] = {
    "tool_choice belongs to Claude's key": (
        {"tool_choice": {"type": "any"}},
        "claude-opus-5",
        "anthropic",
        ("tool_choice",),
    ),
    "and leaves OpenAI's prefix intact": ({"tool_choice": "none"}, "gpt-5.4", "openai", ()),
    "claude behind a router": (
        {"tool_choice": {"type": "any"}},
        "anthropic/claude-opus-5",
        "openrouter",
        ("tool_choice",),
    ),
    "an Azure deployment": ({"reasoning_effort": "low"}, "prod", "azure", ("reasoning_effort",)),
    "a template's arguments": (
        {"chat_template_kwargs": {"enable_thinking": False}},
        "qwen3",
        "vllm",
        ("chat_template_kwargs",),
    ),
    "reasoning told once": ({"reasoning": {"effort": "low"}}, "qwen3", "together", ("reasoning",)),
    "sampling is no key": ({"temperature": 1, "top_p": 0.5, "seed": 3, "stop": ["x"]}, "gpt-5.4", "openai", ()),
    "defaults are no change": ({"parallel_tool_calls": True, "service_tier": "auto"}, "gpt-5.4", "openai", ()),
    "odd shapes": ({"reasoning": 5, "text": [], "thinking": "x"}, "qwen3", "vllm", ("reasoning", "thinking")),
}


@pytest.mark.parametrize("name", KEYS)
def test_parameters_are_those_of_the_models_cache_key(name: str) -> None:
    body, model, provider, expected = KEYS[name]

    assert expected == tuple(parameter for parameter, _ in read_parameters(body, model, provider))
