"""What is predicted of a request, and what the predictor is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from promptlint_core.prefix_caches.vllm_blocks import BLOCK_SIZE


@dataclass(frozen=True, slots=True)
class Prediction:
    """What our model of the cache gives back of one request. Unknown is None, never 0."""

    prompt_tokens: int | None
    hit_tokens: int | None
    written_tokens: int | None
    """Where the provider counts writes; None elsewhere."""
    block_hashes: tuple[int, ...]
    """Chained hashes of the prompt's full blocks, equal in all processes that hold the same key."""
    block_size: int
    """Tokens per block of `block_hashes`, in tokens of `tokens_source`."""
    reason: str
    """Why it is so much, or why it is unknown."""
    tokens_source: str = ""
    """What counted the tokens: a tokenizer file, its chat template, or tiktoken; exact or an estimate."""


@dataclass(frozen=True, slots=True)
class PredictorSettings:
    """What the user knows of the engine behind the upstream."""

    engine: str | None = None
    """`vllm`, `sglang`, `llamacpp`, `openai`, `anthropic` …; None: as the request's provider says."""
    block_size: int = BLOCK_SIZE
    """Of vLLM."""
    page_size: int = 1
    """Of SGLang."""
    capacity_tokens: int | None = None
    """KV pool of the engine in tokens; None: as much as the predictor keeps in memory."""
    slots: int = 1
    """Of llama.cpp (`--parallel`)."""
    vllm_version: tuple[int, ...] = (0, 21)
    tokenizer: Path | None = None
    """The model's `tokenizer.json`, or the folder that holds it."""
    chat_template: Path | None = None
    """A Jinja template; None: the one beside the tokenizer, if there is one."""
    hash_key: bytes = b""
    """Key of the block hashes; processes with one store share it."""
    runs_count_once: bool = False
    """Anthropic: a run of tool calls or results takes one look-back position."""
