"""Tells in microseconds that a file cannot hold a prompt, so that it need not be parsed."""

from __future__ import annotations

_HINTS = (
    # the names people give to prompt text, and how it begins
    "prompt", "Prompt", "PROMPT", "nstruction", "INSTRUCTION", '"role"', "'role'", "role=", "ou are ", "our task",
    "ersona", "system_message", "SYSTEM",
    # message classes and the calls of SDKs and frameworks
    "SystemMessage", "HumanMessage", "UserMessage", "ChatMessage", "completion(", "completions.", ".messages.",
    ".responses.", "generate_content", "Agent(", "LLM(", "OpenAI", "Anthropic", "SamplingParams", "as_retriever",
    "similarity_", ".converse", "invoke_model", "ollama", "init_chat_model",
    # packages whose prompts may have no other word of these
    "cohere", "mistralai", "litellm", "langchain", "llama_index", "pydantic_ai", "haystack", "semantic_kernel", "dspy",
    "bedrock", "genai", "vllm", "smolagents", "magentic", "mirascope", "groq", "huggingface_hub", "text-generation",
    # engines started in Python
    "EngineArgs(", "Engine(", "ServerArgs(", "KvCacheConfig(",
)  # fmt: skip
_HINT_BYTES = tuple(hint.encode() for hint in _HINTS)


def may_hold_prompt(data: bytes | str) -> bool:
    """False when no word of the text belongs to prompts or to calls of models."""
    if isinstance(data, str):
        return any(hint in data for hint in _HINTS)
    return any(hint in data for hint in _HINT_BYTES)
