"""Who serves a request: told by the host, by the path, by a model that only its vendor serves, or by port and name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from promptlint_proxy.protocols.base import find_header

_HOSTS = (
    ("openai.azure.com", "azure"),
    ("cognitiveservices.azure.com", "azure"),
    ("services.ai.azure.com", "azure"),
    ("openai.com", "openai"),
    ("anthropic.com", "anthropic"),
    ("generativelanguage.googleapis.com", "gemini"),
    ("aiplatform.googleapis.com", "gemini"),
    ("deepseek.com", "deepseek"),
    ("mistral.ai", "mistral"),
    ("x.ai", "xai"),
    ("groq.com", "groq"),
    ("together.xyz", "together"),
    ("together.ai", "together"),
    ("fireworks.ai", "fireworks"),
    ("openrouter.ai", "openrouter"),
    ("cohere.com", "cohere"),
    ("cohere.ai", "cohere"),
    ("moonshot.ai", "moonshot"),
    ("moonshot.cn", "moonshot"),
    ("dashscope.aliyuncs.com", "qwen"),
    ("dashscope-intl.aliyuncs.com", "qwen"),
    ("z.ai", "zai"),
    ("bigmodel.cn", "zai"),
    ("minimax.io", "minimax"),
    ("minimaxi.com", "minimax"),
    ("cerebras.ai", "cerebras"),
    ("perplexity.ai", "perplexity"),
    ("huggingface.co", "huggingface"),
    ("endpoints.huggingface.cloud", "tgi"),
)
_BEDROCK_HOST = re.compile(r"(^|\.)bedrock-runtime[.-].*amazonaws\.com(\.cn)?$")
_CLAUDE_PATH = re.compile(r"/anthropic/(v1/|models/)")
_BEDROCK_PATH = re.compile(r"/model/[^/]+/(converse|invoke)")
_MODELS = (  # only their vendors serve these, whatever gateway stands before them
    (re.compile(r"(^|/)claude-"), "anthropic"),
    (re.compile(r"(^|/)(gpt-[3-9](?![\w.]*oss)|chatgpt-|o[134](-|$)|codex-)"), "openai"),
    (re.compile(r"(^|/)gemini-"), "gemini"),
    (re.compile(r"(^|/)grok-[2-9]"), "xai"),
    (re.compile(r"^deepseek-(chat|reasoner|flash|v\d+(\.\d+)?-(pro|flash))$"), "deepseek"),
)
_ENGINE_NAMES = (
    (re.compile(r"(^|[^a-z])vllm"), "vllm"),
    (re.compile(r"(^|[^a-z])sglang"), "sglang"),
    (re.compile(r"(^|[^a-z])ollama"), "ollama"),
    (re.compile(r"(^|[^a-z])(llama-?cpp|llama-server|llamafile)"), "llamacpp"),
    (re.compile(r"(^|[^a-z])(tgi|text-generation-inference)([^a-z]|$)"), "tgi"),
)
_PORTS = {"8000": "vllm", "30000": "sglang", "8080": "llamacpp", "11434": "ollama"}
"""Default ports of the engines; those that any web server uses (80, 3000) tell nothing."""


def find_provider(host: str, path: str, headers: Mapping[str, str], model: str = "") -> str:
    """`unknown` where nothing tells.

    >>> find_provider("api.deepseek.com", "/chat/completions", {})
    'deepseek'
    >>> find_provider("127.0.0.1:8000", "/v1/chat/completions", {}, "Qwen/Qwen3-8B")
    'vllm'
    """
    provider = _by_address(host.lower(), path)
    if provider:
        return provider
    if find_header(headers, "api-key") and "/openai/" in path:
        return "azure"
    name = model.lower()
    for pattern, vendor in _MODELS:
        if pattern.search(name):
            return vendor
    return _by_engine(host.lower()) or "unknown"


@lru_cache(maxsize=512)
def _by_address(host: str, path: str) -> str:
    name = host.rpartition("@")[2].partition(":")[0].rstrip(".")
    if name.endswith((".azure.com", ".googleapis.com")) and _CLAUDE_PATH.search(path):
        return "anthropic"  # sold by another cloud, cached as on Anthropic's own
    for suffix, provider in _HOSTS:
        if name == suffix or name.endswith(("." + suffix, "-" + suffix)):
            return provider
    if _BEDROCK_HOST.search(name) or _BEDROCK_PATH.search(path):
        return "bedrock"
    if "/openai/deployments/" in path:
        return "azure"
    return ""


@lru_cache(maxsize=512)
def _by_engine(host: str) -> str:
    name, _, port = host.partition(":")
    for pattern, provider in _ENGINE_NAMES:
        if pattern.search(name):
            return provider
    return _PORTS.get(port, "")
