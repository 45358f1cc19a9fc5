"""SGLang's accounting: a pool of single tokens, sized as a fraction of the GPU less the weights."""

from __future__ import annotations

from fractions import Fraction

from promptlint_core.kv.cache_dtype import parse_cache_dtype
from promptlint_core.kv.geometry import Geometry, Span

__all__ = ["SGLANG_PAGE_TOKENS", "sglang_cell_bytes", "sglang_mem_fraction"]

SGLANG_PAGE_TOKENS = 1
_MIB = 1 << 20
_GIB = 1 << 30
_WINDOWED_SHARE = Fraction(8, 10)  # swa_full_tokens_ratio: slots of windowed layers per slot of full ones
_CHUNKED_PREFILL = ((20, 2048), (60, 4096), (90, 8192))
_LARGEST_CHUNK = 16_384
_RESERVE_MIB_PER_CHUNK_TOKEN = 1.5
_RESERVE_MIB_PER_GRAPH_SLOT = 2


def sglang_cell_bytes(geometry: Geometry, *, kv_dtype: str = "auto", tp: int = 1, pp: int = 1) -> Fraction:
    """Bytes of one token slot on one GPU: Σ layers × heads × (key + value width) × bytes.

    Windowed layers of a mixed model have a pool of their own with 0.8 slots per slot of the full layers.
    """
    dtype = parse_cache_dtype(kv_dtype, geometry.element_bytes)
    mixed = len({cache.span for cache in geometry.counted_attention()}) > 1

    def share(span: Span) -> Fraction:
        return _WINDOWED_SHARE if mixed and span in (Span.SLIDING, Span.CHUNKED) else Fraction(1)

    return max(
        sum(
            (
                share(cache.span) * dtype.slot_bytes(cache, tp) / cache.compress_ratio
                for layer in stage
                for cache in layer.attention
                if cache.span is not Span.CROSS
            ),
            Fraction(0),
        )
        for stage in geometry.stages(pp)
    )


def sglang_mem_fraction(memory_bytes: int) -> float:
    """mem_fraction_static when it is not set: what a reserve for activations and CUDA graphs leaves.

    About 1.5 MiB a token of chunked_prefill_size and 2 MiB a slot of the largest CUDA-graph batch (units inferred).
    """
    memory_gib = memory_bytes / _GIB
    chunk = next((size for limit, size in _CHUNKED_PREFILL if memory_gib < limit), _LARGEST_CHUNK)
    graph_slots = 256 if memory_gib >= 60 else 32
    reserve = (chunk * _RESERVE_MIB_PER_CHUNK_TOKEN + graph_slots * _RESERVE_MIB_PER_GRAPH_SLOT) * _MIB
    return round(max(0.1, 1 - reserve / memory_bytes), 3)
