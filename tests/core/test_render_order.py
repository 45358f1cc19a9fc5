"""In which order a model reads tools, system text and messages."""

from __future__ import annotations

import pytest

from promptlint_core.prompt import Part
from promptlint_core.render_order import RenderOrder, render_order


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("gpt-5.4", "openai"),
        ("gpt-6.2-sol", "unknown"),
        ("ft:gpt-4o:shop", "unknown"),
        ("chatgpt-4o-latest", "unknown"),
        ("o3", "unknown"),
        ("o4-mini", "unknown"),
        ("claude-opus-5", "anthropic"),
        ("anthropic/claude-opus-5", "openrouter"),
        ("us.anthropic.claude-opus-5-v1:0", "bedrock"),
        ("amazon.nova-pro-v1:0", "bedrock"),
        ("prod-chat", "azure"),
        ("a1b2c3", "bedrock"),
        (None, "openai"),
    ],
)
def test_openai_and_claude_read_tools_first(model: str | None, provider: str) -> None:
    assert RenderOrder.TOOLS_FIRST is render_order(model, provider)


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("deepseek-v4-flash", "deepseek"),
        ("gemini-2.5-flash", "gemini"),
        ("Qwen/Qwen3-8B", "vllm"),
        ("meta-llama/Llama-3.1-8B-Instruct", "vllm"),
        ("openai/gpt-oss-120b", "groq"),
        ("gpt-oss-120b", "azure"),
        ("openai.gpt-oss-20b-1:0", "bedrock"),
        ("meta.llama4-70b-instruct-v1:0", "bedrock"),
        ("MiniMax-M3", "minimax"),
        ("mistral-large-latest", "mistral"),
        ("EleutherAI/gpt-neox-20b", "vllm"),
        ("nano1-chat", "unknown"),
        (None, "unknown"),
    ],
)
def test_other_models_read_the_system_text_first(model: str | None, provider: str) -> None:
    assert RenderOrder.SYSTEM_FIRST is render_order(model, provider)


@pytest.mark.parametrize("order", RenderOrder)
def test_messages_come_last_in_every_order(order: RenderOrder) -> None:
    assert set(Part) == set(order.parts)
    assert Part.MESSAGES is order.parts[-1]
