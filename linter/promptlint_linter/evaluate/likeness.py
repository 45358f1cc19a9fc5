"""Does a text that was put together belong to a prompt? Said by its names, its words and the packages of its module."""

from __future__ import annotations

import re
from functools import lru_cache

from promptlint_core.names import words_of

_PROMPT_WORDS = frozenset(
    ["prompt", "prompts", "instruction", "instructions", "sysprompt", "persona", "preamble", "backstory"]
)
_SYSTEM_NAMES = frozenset({"system", "system_message", "system_text", "system_msg", "sys_msg", "system_content"})

_FAMILIES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?i)\byou(?:'re| are)(?: now)? (?:an?|the|my|acting|playing|given|tasked|working|responsible|role)\b",
        r"(?i)\byour (?:task|job|goal|role|objective|mission|response|answer|output|reply|persona)\b",
        (
            r"(?i)\b(?:respond|answer|reply|return|output|write|generate|provide|summari[sz]e|analy[sz]e|classify|extract"
            r"|translate|decide|evaluate|create|list|identify|determine|rewrite|use)\b[^.\n]{0,60}\b(?:json|sentences?|format"
            r"|answers?|questions?|following|only|words?|bullet|text|context|language|user|conversation|below|above)\b"
        ),
        r"(?i)\b(?:do not|don't|never|always|must(?: not)?|should(?: not)?|make sure|ensure|avoid|only)\b",
        (
            r"(?i)(?:step[- ]by[- ]step|for example|examples?:|guidelines|instructions?:|rules:|constraints"
            r"|output format|the user(?:'s)?|<\w+>[^<]*</\w+>|###? )"
        ),
    )
)
_MODEL_PACKAGES = re.compile(
    r"\b(?:openai|anthropic|litellm|langchain\w*|llama_index|langgraph|ollama|mistralai|cohere|genai|vertexai|transformers"
    r"|vllm|dspy|haystack|autogen\w*|crewai|agno|pydantic_ai|smolagents|groq|together|bedrock|huggingface_hub|llm|LLM|"
    r"gpt|GPT|claude|Claude|chat_model|completion)\b"
)
_LEAST_CHARS = 100


def is_prompt_text(text: str, names: tuple[str, ...], module_text: str) -> bool:
    """Whether text (all its literal parts) with these names (function, variable, constants) is part of a prompt."""
    if len(text) < _LEAST_CHARS:
        return False
    score = sum(bool(family.search(text)) for family in _FAMILIES)
    if _FAMILIES[0].search(text):
        score += 1
    if any(is_prompt_name(name) for name in names):
        score += 2
    elif score < 2:
        return False
    if mentions_models(module_text):
        score += 1
    return score >= 4


@lru_cache(maxsize=4096)
def is_prompt_name(name: str) -> bool:
    """Whether a function, variable or file is named like a prompt."""
    words = words_of(name)
    return bool(_PROMPT_WORDS & set(words)) or "_".join(words) in _SYSTEM_NAMES


@lru_cache(maxsize=256)
def mentions_models(module_text: str) -> bool:
    return _MODEL_PACKAGES.search(module_text) is not None
