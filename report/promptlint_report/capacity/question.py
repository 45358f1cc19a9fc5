"""What is asked about a model's KV memory."""

from __future__ import annotations

from dataclasses import dataclass

from promptlint_core.kv import Geometry

DEFAULT_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class Question:
    """One model, one shape of request and, if given, one GPU. Sizes are those of one GPU."""

    geometry: Geometry
    tokens: int = DEFAULT_TOKENS
    batch: int = 1
    kv_dtype: str = "auto"
    tp: int = 1
    pp: int = 1
    dp: int = 1
    block_size: int | None = None
    """None: bytes are not rounded to blocks; a pool then has the engine's own block size."""
    gpu: str | None = None
    utilization: float | None = None
    engine: str = "vllm"
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    shared_prefix_tokens: int = 0
    max_model_len: int | None = None
    weights_bytes: int | None = None
    """Of the whole model; None: as counted."""
    activation_bytes: int | None = None
    encoder_tokens: int | None = None
    speculative_tokens: int = 0

    @property
    def asks_for_requests(self) -> bool:
        return self.prompt_tokens is not None or self.output_tokens is not None

    @property
    def longest_request_tokens(self) -> int:
        """What one request is measured by when no maximum length is given."""
        return self.max_model_len or self.tokens
