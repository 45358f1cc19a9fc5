"""How the simulated upstream behaves."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SimulatedSettings:
    """Defaults are those of a small vLLM server; `hosted` turns it into a hosted API."""

    hosted: bool = False
    """Minimum and step of a hosted cache, and Anthropic's markers with paid writes on `/v1/messages`."""
    block_size: int = 16
    blocks: int = 8192
    """Of the pool, one of which is vLLM's null block. Hosted: not used, entries live by time."""
    prefix_caching: bool = True
    prompt_tokens_details: bool = True
    """vLLM's `--enable-prompt-tokens-details`: without it no cached tokens are reported."""
    max_model_len: int = 32_768
    minimum_tokens: int = 1024
    step_tokens: int = 128
    life_s: float = 300.0
    overhead_s: float = 0.02
    """Time to first token = overhead + uncached tokens × `prefill_s_per_token`."""
    prefill_s_per_token: float = 20e-6
    itl_s: float = 0.005
    itl_jitter: float = 0.2
    """Share by which a gap differs from `itl_s` at most."""
    tokens_per_chunk: int = 1
    """Most tokens in one event; each event holds 1 to this many."""
    output_tokens: int = 48
    """Most tokens of an answer to a request that allows more."""
    reasoning_tokens: int = 0
    """Sent before the text."""
    empty_first_chunk: bool = False
    """An event with no content after the role-only one."""
    padding: bool = False
    """OpenAI's `obfuscation` field."""
    encoding: str = ""
    """`gzip`, `br` or `zstd`: used when the client accepts it."""
    call_tools: bool = False
    """Answer with a call of the first tool when the request has tools."""
    fault_share: float = 0.0
    """Share of requests that fail with one of `fault_kinds`, drawn by the seed."""
    fault_kinds: tuple[str, ...] = ("429", "529", "cut")
    faults: dict[int, str] = field(default_factory=dict)
    """By number of the request from 0: `429`, `529`, `500`, `cut`."""
    models: tuple[str, ...] = ("simulated",)
    seed: int = 0
