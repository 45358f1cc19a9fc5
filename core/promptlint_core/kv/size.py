"""Bytes of a KV cache: the one place where they are computed.

Bytes = Σ over layers of stored tokens × heads on the GPU × (key width + value width) × bytes of an element. The
textbook formula 2 × layers × hidden × tokens × bytes is the special case of one head per query head, full attention
and no sharing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil

from promptlint_core.errors import PromptlintError
from promptlint_core.kv.cache_dtype import CacheDtype, parse_cache_dtype
from promptlint_core.kv.geometry import AttentionCache, Geometry, Layer, Span

__all__ = ["blocks_of", "check_parallel", "kv_bytes", "kv_bytes_per_token", "marginal_bytes_per_token", "state_bytes"]


def kv_bytes(  # noqa: PLR0913 -- one keyword per option of an engine
    geometry: Geometry,
    tokens: int,
    *,
    batch: int = 1,
    kv_dtype: str = "auto",
    tp: int = 1,
    pp: int = 1,
    block_size: int | None = None,
    max_num_batched_tokens: int | None = None,
    context_parallel: int = 1,
    encoder_tokens: int | None = None,
) -> int:
    """Bytes of keys and values of `batch` sequences of `tokens` each, on one GPU; constant states are apart.

    Args:
        tokens: prompt + generated tokens in the cache of one sequence.
        kv_dtype: see `parse_cache_dtype`.
        tp: GPUs that share the heads; below one head a GPU the heads are replicated, a latent always is.
        pp: pipeline stages; the figure is that of the fullest stage.
        block_size: round up to whole blocks, as a paged cache does.
        max_num_batched_tokens: with `block_size`: the bound vLLM admits a request by, where a windowed layer holds
            window − 1 + this budget, and one block more.
        context_parallel: GPUs that share the tokens of full attention (decode × prefill context parallel).
        encoder_tokens: length of the encoder's output; None: the model's fixed one, else 0.

    Raises:
        PromptlintError: an unknown dtype, or heads that cannot be shared out over `tp`.

    >>> from promptlint_core.kv.geometry import Layer
    >>> seven_b = Geometry("7B", (Layer((AttentionCache(32, 128, 128),)),) * 32)
    >>> kv_bytes(seven_b, 4096) == 2 * 2**30
    True
    """
    check_parallel(geometry, tp, pp)
    if context_parallel < 1:
        raise PromptlintError("the context parallel size counts from 1")
    dtype = parse_cache_dtype(kv_dtype, geometry.element_bytes)
    encoder = encoder_tokens if encoder_tokens is not None else (geometry.encoder_tokens or 0)

    def sequence_bytes(cache: AttentionCache, quantised: bool) -> Fraction:
        own = ceil(tokens / context_parallel) if cache.span is Span.FULL else tokens
        if block_size:
            stored = blocks_of(cache, own, block_size, max_num_batched_tokens, encoder) * block_size
            stored //= cache.compress_ratio
        else:
            stored = cache.stored_tokens(own, encoder)
        if not quantised:
            return stored * dtype.unquantised_slot_bytes(cache, tp)
        residual = min(stored, dtype.residual_tokens)
        whole = residual * dtype.unquantised_slot_bytes(cache, tp) if residual else 0
        return (stored - residual) * dtype.slot_bytes(cache, tp) + whole

    def stage_bytes(counted: Counter[tuple[AttentionCache, bool]]) -> int:
        return ceil(
            sum((n * sequence_bytes(cache, quantised) for (cache, quantised), n in counted.items()), Fraction(0))
        )

    return batch * max(stage_bytes(counted) for counted in _counted_stages(geometry, dtype, pp))


def kv_bytes_per_token(geometry: Geometry, *, kv_dtype: str = "auto", tp: int = 1, pp: int = 1) -> int:
    """Bytes that one more token takes on one GPU while every layer still grows (below the shortest window).

    Cross attention is left out: it does not grow with the decoder. Compressed layers count their share.
    """
    return _rate(geometry, kv_dtype, tp, pp, windows_grow=True)


def marginal_bytes_per_token(geometry: Geometry, *, kv_dtype: str = "auto", tp: int = 1, pp: int = 1) -> int:
    """Bytes that one more token takes beyond the longest window, where only full-attention layers grow."""
    return _rate(geometry, kv_dtype, tp, pp, windows_grow=False)


def state_bytes(
    geometry: Geometry, *, batch: int = 1, tp: int = 1, pp: int = 1, speculative_tokens: int = 0, states: int = 1
) -> int:
    """Bytes of the constant states of recurrent and linear layers of `batch` sequences on one GPU.

    Args:
        states: copies kept per sequence (vLLM keeps 2 in mamba mode `align`).
    """
    check_parallel(geometry, tp, pp)
    stages = (
        sum(
            layer.state.bytes_per_sequence(tp=tp, speculative_tokens=speculative_tokens)
            for layer in stage
            if layer.state is not None
        )
        for stage in geometry.stages(pp)
    )
    return batch * states * max(stages)


def blocks_of(
    cache: AttentionCache,
    tokens: int,
    block_size: int,
    max_num_batched_tokens: int | None = None,
    encoder_tokens: int = 0,
) -> int:
    """Blocks that one sequence takes in one layer.

    Without a budget a windowed layer is counted at its window; with one, by vLLM's admission rule: sliding
    ceil(min(window − 1 + budget, tokens) ÷ block) + 1, chunked ceil(min(chunk + budget, tokens) ÷ block).
    """
    window, budget = cache.window_tokens, max_num_batched_tokens
    match cache.span:
        case Span.CROSS:
            return ceil(encoder_tokens / block_size)
        case Span.SLIDING if window is not None and budget is not None:
            return ceil(min(window - 1 + budget, tokens) / block_size) + 1
        case Span.CHUNKED if window is not None and budget is not None:
            return ceil(min(window + budget, tokens) / block_size)
        case Span.SLIDING | Span.CHUNKED if window is not None:
            return ceil(min(window, tokens) / block_size)
        case _:
            return ceil(tokens / block_size)


def check_parallel(geometry: Geometry, tp: int, pp: int) -> None:
    """Refuse a split that no engine can make.

    Raises:
        PromptlintError: what does not divide.
    """
    if tp < 1 or pp < 1:
        raise PromptlintError("tensor and pipeline parallel sizes count from 1")
    if pp > max(1, len(geometry.layers)):
        raise PromptlintError(f"{pp} pipeline stages for {len(geometry.layers)} layers: a stage would be empty")
    for cache in geometry.counted_attention():
        heads = cache.kv_heads
        if heads < 1:
            raise PromptlintError(f"an attention layer of {geometry.name} has no KV heads")
        if not cache.latent and max(heads, tp) % min(heads, tp):
            raise PromptlintError(f"{heads} KV heads cannot be shared out over tensor parallel {tp}")


def _rate(geometry: Geometry, kv_dtype: str, tp: int, pp: int, *, windows_grow: bool) -> int:
    check_parallel(geometry, tp, pp)
    dtype = parse_cache_dtype(kv_dtype, geometry.element_bytes)

    def grows(cache: AttentionCache) -> bool:
        return cache.span is Span.FULL or (windows_grow and cache.span is not Span.CROSS)

    def rate(cache: AttentionCache, quantised: bool) -> Fraction:
        slot = dtype.slot_bytes(cache, tp) if quantised else dtype.unquantised_slot_bytes(cache, tp)
        return slot / cache.compress_ratio

    stages = (
        sum((n * rate(cache, quantised) for (cache, quantised), n in counted.items() if grows(cache)), Fraction(0))
        for counted in _counted_stages(geometry, dtype, pp)
    )
    return ceil(max(stages))


def _counted_stages(geometry: Geometry, dtype: CacheDtype, pp: int) -> Iterator[Counter[tuple[AttentionCache, bool]]]:
    """Per pipeline stage: how many layers keep each shape, and whether quantised.

    A dtype with boundary layers leaves the first and last attention layers of a dense model alone.
    """
    boundary = 0 if geometry.is_hybrid else dtype.boundary_layers
    attention = [index for index, layer in enumerate(geometry.layers) if layer.attention]
    whole = {*attention[:boundary], *attention[len(attention) - boundary :]} if boundary else set[int]()
    first = 0
    for stage in geometry.stages(pp):
        yield _counted(stage, first, whole)
        first += len(stage)


def _counted(stage: Sequence[Layer], first: int, whole: set[int]) -> Counter[tuple[AttentionCache, bool]]:
    counted: Counter[tuple[AttentionCache, bool]] = Counter()
    for index, layer in enumerate(stage, first):
        counted.update((cache, index not in whole) for cache in layer.attention)
    return counted
