"""Tells in microseconds that a file cannot hold a prompt, so that it need not be parsed."""

from __future__ import annotations

import re

_HINTS = (
    # prompt text and the names people give it
    r"[Pp]rompt|PROMPT|[Ii]nstruction|INSTRUCTION|[\"']role[\"']|[Yy]ou are |[Yy]our task|[Pp]ersona"
    # message classes and the calls of SDKs and frameworks
    r"|(?:System|Human|User|Chat|AI)Message|\.completions?\b|\bcompletion\(|\.messages\.|\.responses\.|generate_content"
    r"|\bChat[A-Z]\w+\(|Agent\(|\bLLM\(|SamplingParams|as_retriever|similarity_search|similarity_top_k|system_message"
    r"|\.converse|invoke_model|chat_completion|\bollama\b"
    # engines started in Python
    r"|\bvllm\b|EngineArgs\(|\bEngine\(|ServerArgs\(|KvCacheConfig\("
)
_TEXT = re.compile(_HINTS)
_BYTES = re.compile(_HINTS.encode())


def may_hold_prompt(data: bytes | str) -> bool:
    """False when no word of the text belongs to prompts or to calls of models."""
    return bool(_TEXT.search(data) if isinstance(data, str) else _BYTES.search(data))
