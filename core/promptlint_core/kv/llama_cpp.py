"""llama.cpp's accounting: all cells of the context are allocated at the start."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from promptlint_core.kv.cache_dtype import parse_cache_dtype
from promptlint_core.kv.geometry import Geometry, Span

__all__ = ["LlamaCppMemory", "llama_cpp_context", "llama_cpp_memory"]

_CELL_MULTIPLE = 256
_LARGEST_CONTEXT = 1 << 27


@dataclass(frozen=True, slots=True)
class LlamaCppMemory:
    full_bytes: int
    windowed_bytes: int
    state_bytes: int

    @property
    def total_bytes(self) -> int:
        return self.full_bytes + self.windowed_bytes + self.state_bytes


def llama_cpp_memory(
    geometry: Geometry, context_tokens: int, *, kv_dtype: str = "auto", sequences: int = 1, ubatch_tokens: int = 512
) -> LlamaCppMemory:
    """Bytes that llama.cpp allocates for a context.

    Cells are padded to 256. Windowed layers hold pad(min(context, window × sequences + ubatch)) and are never
    quantised; recurrent states are f32, one a sequence.
    """
    dtype = parse_cache_dtype("f16" if kv_dtype == "auto" else kv_dtype, geometry.element_bytes)
    plain = parse_cache_dtype("f16", geometry.element_bytes)
    cells = _padded(context_tokens)
    full = windowed = Fraction(0)
    for cache, layers in geometry.counted_attention().items():
        if cache.span in (Span.SLIDING, Span.CHUNKED) and cache.window_tokens is not None:
            own = _padded(min(cells, cache.window_tokens * sequences + ubatch_tokens))
            windowed += layers * own * plain.slot_bytes(cache)
        elif cache.span is Span.CROSS:
            full += layers * _padded(geometry.encoder_tokens or 0) * dtype.slot_bytes(cache)
        else:
            full += layers * (cells // cache.compress_ratio) * dtype.slot_bytes(cache)
    states = sum(
        replace(layer.state, conv_element_bytes=4, recurrent_element_bytes=4).bytes_per_sequence()
        for layer in geometry.layers
        if layer.state is not None
    )
    return LlamaCppMemory(ceil(full), ceil(windowed), states * sequences)


def llama_cpp_context(geometry: Geometry, memory_bytes: int, *, kv_dtype: str = "auto") -> int:
    """The largest context, in tokens, whose cache fits into `memory_bytes`."""
    low, high = 0, _LARGEST_CONTEXT // _CELL_MULTIPLE
    while low < high:
        middle = (low + high + 1) // 2
        if llama_cpp_memory(geometry, middle * _CELL_MULTIPLE, kv_dtype=kv_dtype).total_bytes <= memory_bytes:
            low = middle
        else:
            high = middle - 1
    return low * _CELL_MULTIPLE


def _padded(tokens: int) -> int:
    return ceil(tokens / _CELL_MULTIPLE) * _CELL_MULTIPLE
