"""Which cache model stands for a request."""

from __future__ import annotations

from promptlint_core.exchange import Request
from promptlint_core.prefix_caches import anthropic_markers, bedrock, gemini, hosted_steps, openai_intervals
from promptlint_core.prefix_caches.openai_intervals import Generation
from promptlint_proxy.predict.engines import LlamaCppModel, SglangModel, VllmModel
from promptlint_proxy.predict.hosted import BreakpointModel, MarkerModel, StepModel, UnitModel, known_step_model
from promptlint_proxy.predict.prediction import PredictorSettings

EngineModel = VllmModel | SglangModel | LlamaCppModel
HostedModel = StepModel | MarkerModel | BreakpointModel | UnitModel
Model = EngineModel | HostedModel

_ENGINES = {
    "vllm": "vllm",
    "tgi": "vllm",
    "tensorrt-llm": "vllm",
    "trtllm": "vllm",
    "sglang": "sglang",
    "llamacpp": "llamacpp",
    "llama.cpp": "llamacpp",
    "ollama": "llamacpp",
}
POOLED = ("vllm", "sglang", "llamacpp")
"""Kinds of cache that hold so many tokens; entries of the others live for a time."""
_MAKER = (
    ("claude", "anthropic"),
    ("anthropic", "anthropic"),
    ("gemini", "gemini"),
    ("gpt", "openai"),
    ("chatgpt", "openai"),
    ("deepseek", "deepseek"),
    ("grok", "xai"),
    ("x-ai", "xai"),
    ("mistral", "mistral"),
    ("kimi", "moonshot"),
    ("qwen", "qwen"),
    ("glm", "zai"),
    ("minimax", "minimax"),
)
"""Whose model a router serves, by a word of its name."""
_ROUTERS = ("openrouter", "litellm", "portkey", "unknown", "")
_ALIASES = {"azure": "openai", "vertex": "gemini", "google": "gemini", "dashscope": "qwen", "x-ai": "xai"}


def cache_kind(request: Request, settings: PredictorSettings) -> str:
    """Name of the cache model: an engine, `openai-intervals`, `openai-breakpoints`, `anthropic`, …

    A router caches as the host behind it does; where even that is not known, an engine with blocks is assumed.
    """
    provider = (settings.engine or request.provider).lower()
    model = (request.model or "").lower()
    if provider in _ROUTERS:
        provider = (
            next((maker for word, maker in _MAKER if word in model), provider) if "gpt-oss" not in model else "vllm"
        )
    provider = _ALIASES.get(provider, provider)
    if provider in _ENGINES:
        return _ENGINES[provider]
    if provider == "bedrock":
        return _bedrock_kind(model)
    if provider == "openai":
        kind = openai_intervals.generation(request.model)
        return "openai-breakpoints" if kind is Generation.BREAKPOINTS else "openai-intervals"
    if provider in ("anthropic", "gemini", "deepseek") or provider in hosted_steps.RULES:
        return provider
    return "vllm"


def _bedrock_kind(model: str) -> str:
    if "claude" in model or "anthropic" in model:
        return "bedrock-claude"
    if "gpt-5" in model or "gpt-6" in model:
        return "openai-breakpoints"
    return "bedrock-nova"


def make_model(kind: str, settings: PredictorSettings) -> Model:
    """A fresh cache of a kind that `cache_kind` names."""
    if kind == "vllm":
        return VllmModel(settings)
    if kind == "sglang":
        return SglangModel(settings)
    if kind == "llamacpp":
        return LlamaCppModel(settings)
    if kind == "openai-breakpoints":
        return BreakpointModel()
    if kind == "anthropic":
        return MarkerModel(settings, anthropic_markers.minimum_tokens)
    if kind == "bedrock-claude":
        return MarkerModel(settings, bedrock.minimum_tokens)
    if kind == "deepseek":
        return UnitModel()
    if kind == "gemini":
        return StepModel(lambda asked: gemini.rule_for(asked.request.model))
    if kind == "bedrock-nova":
        return StepModel(lambda _asked: bedrock.NOVA)
    if kind == "openai-intervals":
        return StepModel(lambda asked: _openai_rule(asked.request))
    return known_step_model(kind)


def _openai_rule(request: Request) -> hosted_steps.StepRule | None:
    if openai_intervals.generation(request.model) is Generation.NONE:
        return None
    retention = dict(request.parameters).get("prompt_cache_retention", "").strip('"')
    return openai_intervals.rule_for(request.model, retention or None)
