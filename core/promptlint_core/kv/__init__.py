"""KV memory of real models: what a token costs, what a request costs, and what a GPU holds."""

from __future__ import annotations

from promptlint_core.kv.cache_dtype import CacheDtype, parse_cache_dtype
from promptlint_core.kv.config import geometry_from_config
from promptlint_core.kv.geometry import AttentionCache, Geometry, Layer, Parameters, Span, StateCache
from promptlint_core.kv.gpus import Gpu, find_gpu, gpu_of, known_gpus
from promptlint_core.kv.llama_cpp import llama_cpp_context, llama_cpp_memory
from promptlint_core.kv.model_table import find_geometry, geometry_of, known_models
from promptlint_core.kv.paging import PagedLayout, paged_layout
from promptlint_core.kv.pool import Pool, Settings, default_settings, pool
from promptlint_core.kv.sglang import sglang_cell_bytes, sglang_mem_fraction
from promptlint_core.kv.size import kv_bytes, kv_bytes_per_token, marginal_bytes_per_token, state_bytes

__all__ = [
    "AttentionCache",
    "CacheDtype",
    "Geometry",
    "Gpu",
    "Layer",
    "PagedLayout",
    "Parameters",
    "Pool",
    "Settings",
    "Span",
    "StateCache",
    "default_settings",
    "find_geometry",
    "find_gpu",
    "geometry_from_config",
    "geometry_of",
    "gpu_of",
    "known_gpus",
    "known_models",
    "kv_bytes",
    "kv_bytes_per_token",
    "llama_cpp_context",
    "llama_cpp_memory",
    "marginal_bytes_per_token",
    "paged_layout",
    "parse_cache_dtype",
    "pool",
    "sglang_cell_bytes",
    "sglang_mem_fraction",
    "state_bytes",
]
