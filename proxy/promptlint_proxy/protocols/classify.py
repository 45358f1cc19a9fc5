"""Which protocol a request speaks: by its path, and where a gateway hides that, by the keys of its body."""

from __future__ import annotations

import re
from collections.abc import Mapping

from promptlint_proxy.protocols.anthropic_messages import AnthropicMessages
from promptlint_proxy.protocols.base import Protocol
from promptlint_proxy.protocols.bedrock_converse import BedrockConverse
from promptlint_proxy.protocols.bedrock_invoke import BedrockInvoke
from promptlint_proxy.protocols.cohere import CohereChat
from promptlint_proxy.protocols.gemini import GeminiGenerateContent
from promptlint_proxy.protocols.gemini_interactions import GeminiInteractions
from promptlint_proxy.protocols.json_text import Object, read_object
from promptlint_proxy.protocols.llamacpp_completion import LlamacppCompletion
from promptlint_proxy.protocols.mistral_conversations import MistralConversations
from promptlint_proxy.protocols.ollama import OllamaChat, OllamaGenerate
from promptlint_proxy.protocols.openai_chat import OpenAIChat
from promptlint_proxy.protocols.openai_completions import OpenAICompletions
from promptlint_proxy.protocols.openai_responses import OpenAIResponses
from promptlint_proxy.protocols.providers import find_provider
from promptlint_proxy.protocols.sglang_generate import SglangGenerate
from promptlint_proxy.protocols.tgi import TgiGenerate
from promptlint_proxy.protocols.unknown import Embeddings, Unknown
from promptlint_proxy.protocols.vllm_generate import VllmGenerate

PROTOCOLS: tuple[type[Protocol], ...] = (
    OpenAIChat,
    OpenAIResponses,
    OpenAICompletions,
    AnthropicMessages,
    GeminiGenerateContent,
    GeminiInteractions,
    BedrockConverse,
    BedrockInvoke,
    OllamaChat,
    OllamaGenerate,
    CohereChat,
    LlamacppCompletion,
    SglangGenerate,
    TgiGenerate,
    VllmGenerate,
    MistralConversations,
    Embeddings,
    Unknown,
)

_NO_CALL = re.compile(
    r"(count[_-]tokens|:countTokens|/input_tokens|/tokenize|/detokenize|/apply-template|/render|/batches(/.*)?|/files"
    r"|/uploads.*|/metrics|/health|/healthz|/ping|/reset_prefix_cache|/flush_cache|/cachedContents.*|/api/(show|tags|pull|ps)"
    r"|count-tokens:rawPredict)$"
)
_ROUTES: tuple[tuple[re.Pattern[str], type[Protocol]], ...] = tuple(
    (re.compile(pattern), protocol)
    for pattern, protocol in (
        (r"/(embeddings|embed|embed_all|rerank|api/embed|api/embeddings|moderations)$", Embeddings),
        (r":(batchEmbedContents|embedContent|batchEmbedText|embedText)$", Embeddings),
        (r"/publishers/anthropic/models/[^/]+:(rawPredict|streamRawPredict)$", AnthropicMessages),
        (r"/model/[^/]+/converse(-stream)?$", BedrockConverse),
        (r"/model/[^/]+/invoke(-with-response-stream)?$", BedrockInvoke),
        (r":(generateContent|streamGenerateContent)$", GeminiGenerateContent),
        (r"/interactions$", GeminiInteractions),
        (r"/api/chat$", OllamaChat),
        (r"/api/generate$", OllamaGenerate),
        (r"/messages$", AnthropicMessages),
        (r"/(chat|agents)/completions$", OpenAIChat),
        (r"/fim/completions$", OpenAICompletions),
        (r"/completions$", OpenAICompletions),
        (r"/responses(/compact)?$", OpenAIResponses),
        (r"/v[12]/chat$", CohereChat),
        (r"/completion$", LlamacppCompletion),
        (r"/generate_stream$", TgiGenerate),
        (r"/inference/v1/generate$", VllmGenerate),
    )
)
_HINTS: tuple[tuple[frozenset[str], type[Protocol]], ...] = (
    (frozenset({"contents"}), GeminiGenerateContent),
    (frozenset({"messages", "inferenceConfig"}), BedrockConverse),
    (frozenset({"messages", "toolConfig"}), BedrockConverse),
    (frozenset({"inputs", "parameters"}), TgiGenerate),
    (frozenset({"text", "sampling_params"}), SglangGenerate),
    (frozenset({"input_ids", "sampling_params"}), SglangGenerate),
    (frozenset({"prompt", "n_predict"}), LlamacppCompletion),
    (frozenset({"token_ids", "sampling_params"}), VllmGenerate),
)
_MODEL = re.compile(rb'"model"\s*:\s*"([^"\\]{1,200})"')


def find(method: str, host: str, path: str, headers: Mapping[str, str], body: bytes | None = None) -> Protocol | None:
    """The protocol of a request, with the provider that serves it.

    None for what asks no model: other methods than POST, token counts, health checks, file uploads. A POST that nothing
    tells about gives `Unknown`, which measures and reads nothing.
    """
    if method.upper() != "POST":
        return None
    path = path.partition("?")[0].rstrip("/")
    if _NO_CALL.search(path):
        return None
    model = _MODEL.search(body) if body else None
    provider = find_provider(host, path, headers, model[1].decode("utf-8", "replace") if model else "")
    protocol = _by_path(path)
    if provider == "mistral" and "/conversations" in path:  # OpenAI's path of that name only stores
        protocol = MistralConversations
    if protocol is None and body is not None:
        protocol = _by_body(read_object(body) or {}, headers)
    if protocol is None and path.endswith("/generate"):
        protocol = SglangGenerate if provider == "sglang" else TgiGenerate
    return (protocol or Unknown)(provider)


def _by_path(path: str) -> type[Protocol] | None:
    return next((protocol for pattern, protocol in _ROUTES if pattern.search(path)), None)


def _by_body(body: Object, headers: Mapping[str, str]) -> type[Protocol] | None:
    """Hints of section 6 of the wire facts, the most telling first."""
    if "anthropic_version" in body or any(name.lower() == "anthropic-version" for name in headers):
        return AnthropicMessages
    for keys, protocol in _HINTS:
        if keys <= body.keys():
            return protocol
    if "messages" in body:
        options = body.get("options")
        return OllamaChat if isinstance(options, dict) and "num_predict" in options else OpenAIChat
    if "model" in body and "input" in body:
        return OpenAIResponses
    return None
