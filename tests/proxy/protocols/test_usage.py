"""Usage of every API: what counts as prompt, hit, written and computed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptlint_core.exchange import Usage
from promptlint_proxy.protocols.usage import merge_usage, read_usage

CASES: dict[str, tuple[str, str, dict[str, Any], Usage]] = {
    "openai chat: cached is a part": (
        "chat",
        "openai",
        {
            "prompt_tokens": 17903,
            "completion_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 17792, "cache_write_tokens": 100},
            "completion_tokens_details": {"reasoning_tokens": 60},
        },
        Usage(17903, 17792, 100, 11, 120, 60),
    ),
    "openai chat without details: not reported is no zero": (
        "chat",
        "together",
        {"prompt_tokens": 50, "completion_tokens": 2, "total_tokens": 52},
        Usage(50, None, None, None, 2),
    ),
    "null details": ("chat", "vllm", {"prompt_tokens": 5, "prompt_tokens_details": None}, Usage(5)),
    "deepseek's own names": (
        "chat",
        "deepseek",
        {"prompt_tokens": 100, "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36, "completion_tokens": 1},
        Usage(100, 64, None, 36, 1),
    ),
    "deepseek's prompt is hit and miss": (
        "chat",
        "deepseek",
        {"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36, "completion_tokens": 1},
        Usage(100, 64, None, 36, 1),
    ),
    "vllm tells created tokens": (
        "chat",
        "vllm",
        {
            "prompt_tokens": 100,
            "completion_tokens": 1,
            "prompt_tokens_details": {"cached_tokens": 32, "created_cache_tokens": 64},
        },
        Usage(100, 32, 64, 4, 1),
    ),
    "sglang's reasoning stands at the top": (
        "chat",
        "sglang",
        {"prompt_tokens": 9, "completion_tokens": 8, "reasoning_tokens": 5},
        Usage(9, None, None, None, 8, 5),
    ),
    "responses: split writes": (
        "responses",
        "openai",
        {
            "input_tokens": 2322,
            "input_tokens_details": {
                "cached_tokens": 0,
                "cache_write_tokens": 2318,
                "cache_write_tokens_details": {"ttl_30m_tokens": 2000, "ttl_12h_tokens": 318},
            },
            "output_tokens": 40,
            "output_tokens_details": {"reasoning_tokens": 7},
        },
        Usage(2322, 0, 2318, 4, 40, 7, ((1800, 2000), (43200, 318))),
    ),
    "anthropic: input stands beside": (
        "messages",
        "anthropic",
        {
            "input_tokens": 4,
            "cache_creation_input_tokens": 9634,
            "cache_read_input_tokens": 12,
            "output_tokens": 50,
            "cache_creation": {"ephemeral_5m_input_tokens": 34, "ephemeral_1h_input_tokens": 9600},
            "output_tokens_details": {"thinking_tokens": 20},
        },
        Usage(9650, 12, 9634, 4, 50, 20, ((300, 34), (3600, 9600))),
    ),
    "anthropic shape of vllm without the flag": (
        "messages",
        "vllm",
        {"input_tokens": 70, "output_tokens": 5},
        Usage(70, None, None, None, 5),
    ),
    "gemini: thoughts are no candidates": (
        "generate_content",
        "gemini",
        {
            "promptTokenCount": 2250,
            "toolUsePromptTokenCount": 10,
            "cachedContentTokenCount": 2034,
            "candidatesTokenCount": 30,
            "thoughtsTokenCount": 12,
            "totalTokenCount": 2302,
        },
        Usage(2260, 2034, None, 226, 42, 12),
    ),
    "gemini without a hit": (
        "generate_content",
        "gemini",
        {"promptTokenCount": 2236, "candidatesTokenCount": 40},
        Usage(2236, None, None, None, 40),
    ),
    "interactions": (
        "interactions",
        "gemini",
        {"total_input_tokens": 9, "total_cached_tokens": 2, "total_output_tokens": 3, "total_thought_tokens": 1},
        Usage(9, 2, None, 7, 3, 1),
    ),
    "converse: input stands beside": (
        "converse",
        "bedrock",
        {
            "inputTokens": 7,
            "outputTokens": 3,
            "totalTokens": 110,
            "cacheReadInputTokens": 60,
            "cacheWriteInputTokens": 40,
            "cacheDetails": [{"ttl": "5m", "inputTokens": 30}, {"ttl": "1h", "inputTokens": 10}],
        },
        Usage(107, 60, 40, 7, 3, None, ((300, 30), (3600, 10))),
    ),
    "invocation metrics": (
        "invoke",
        "bedrock",
        {"inputTokenCount": 7, "outputTokenCount": 3, "cacheReadInputTokenCount": 60, "cacheWriteInputTokenCount": 0},
        Usage(67, 60, 0, 7, 3),
    ),
    "claude through invoke": (
        "invoke",
        "bedrock",
        {"input_tokens": 7, "cache_read_input_tokens": 1, "cache_creation_input_tokens": 2, "output_tokens": 3},
        Usage(10, 1, 2, 7, 3),
    ),
    "sglang generate": (
        "sglang_generate",
        "sglang",
        {"prompt_tokens": 5, "cached_tokens": 4, "completion_tokens": 2},
        Usage(5, 4, None, 1, 2),
    ),
    "llama.cpp completion": (
        "llamacpp",
        "llamacpp",
        {"tokens_evaluated": 30, "tokens_cached": 20, "tokens_predicted": 3},
        Usage(30, 20, None, 10, 3),
    ),
    "llama.cpp: timings tell the reused part best": (
        "llamacpp",
        "llamacpp",
        {"tokens_evaluated": 30, "tokens_cached": 33, "tokens_predicted": 3, "timings": {"cache_n": 12}},
        Usage(30, 12, None, 18, 3),
    ),
    "llama.cpp: a slot's content is no hit": (
        "llamacpp",
        "llamacpp",
        {"tokens_evaluated": 30, "tokens_cached": 33, "tokens_predicted": 3},
        Usage(30, None, None, None, 3),
    ),
    "ollama": ("ollama_chat", "ollama", {"prompt_eval_count": 8, "eval_count": 2}, Usage(8, None, None, None, 2)),
    "cohere": (
        "cohere_chat",
        "cohere",
        {
            "billed_units": {"input_tokens": 2, "output_tokens": 1},
            "tokens": {"input_tokens": 9, "output_tokens": 4},
            "cached_tokens": 3,
        },
        Usage(9, 3, None, 6, 4),
    ),
    "a gateway that repeats Claude's counts beside its own": (
        "chat",
        "anthropic",
        {
            "prompt_tokens": 100,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 60},
            "cache_read_input_tokens": 60,
            "cache_creation_input_tokens": 30,
        },
        Usage(100, 60, 30, 10, 5),
    ),
    "a gateway that answers chat in Anthropic's fields": (
        "chat",
        "unknown",
        {"input_tokens": 5, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 0, "output_tokens": 1},
        Usage(15, 10, 0, 5, 1),
    ),
    "nothing": ("chat", "openai", {}, Usage()),
    "counts that are none": (
        "chat",
        "openai",
        {"prompt_tokens": "12", "completion_tokens": True, "prompt_tokens_details": []},
        Usage(),
    ),
    "counts as floats": ("chat", "openai", {"prompt_tokens": 12.0, "completion_tokens": 1.5}, Usage(12)),
}


@pytest.mark.parametrize("name", CASES)
def test_usage_reads_into_one_meaning(name: str) -> None:
    api, provider, reported, expected = CASES[name]

    assert expected == read_usage(api, provider, reported)


@pytest.mark.parametrize("name", CASES)
def test_hit_written_and_computed_add_up_to_the_prompt(name: str) -> None:
    _, _, _, usage = CASES[name]

    if usage.computed_tokens is not None:
        assert usage.prompt_tokens == (usage.hit_tokens or 0) + (usage.written_tokens or 0) + usage.computed_tokens


def test_a_later_report_wins_field_by_field_and_null_takes_nothing_back() -> None:
    into: dict[str, Any] = {"input_tokens": 3, "output_tokens": 1, "cache_creation": {"a": 1, "b": 2}}

    merge_usage(into, {"output_tokens": 9, "input_tokens": None, "cache_creation": {"b": 5}, "new": {"c": 1}})

    assert {"input_tokens": 3, "output_tokens": 9, "cache_creation": {"a": 1, "b": 5}, "new": {"c": 1}} == into


@pytest.mark.parametrize("count", [-1, 10**30, 1e30, float("inf"), float("nan"), 2.5, True, "7", None])
def test_what_is_no_count_is_unknown(count: object) -> None:
    usage = read_usage("chat", "openai", {"prompt_tokens": count, "completion_tokens": 3})

    assert (usage.prompt_tokens, usage.output_tokens) == (None, 3)


@given(
    st.dictionaries(
        st.sampled_from(sorted({key for _, _, reported, _ in CASES.values() for key in reported})),
        st.sampled_from([None, True, -1, 7, 2.5, "x", [], [None], [{"ttl": 1}], {}, {"cached_tokens": "y"}]),
        max_size=6,
    ),
    st.sampled_from(["chat", "responses", "messages", "invoke", "unknown"]),
)
def test_no_shape_raises(reported: dict[str, Any], api: str) -> None:
    assert isinstance(read_usage(api, "unknown", reported), Usage)
