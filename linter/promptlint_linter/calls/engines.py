"""Engines started in Python: their settings decide what the prefix cache can give back.

Read from vllm 0.33, sglang 0.5.23 and tensorrt-llm 1.0.
"""

from __future__ import annotations

from promptlint_linter.calls.shapes import CallShape


def _engines(names: str, provider: str) -> dict[str, CallShape]:
    return {name: CallShape(name, provider, "serving", tools=(), default="unknown") for name in names.split()}


ENGINES: dict[str, CallShape] = {
    **_engines("vllm.LLM vllm.EngineArgs vllm.AsyncEngineArgs vllm.AsyncLLMEngine", "vllm"),
    **_engines("sglang.Engine sglang.Runtime sglang.ServerArgs", "sglang"),
    **_engines("tensorrt_llm.LLM tensorrt_llm.KvCacheConfig", "tensorrt"),
}

ENGINE_SWITCHES = frozenset(
    (
        "enable_prefix_caching",
        "disable_radix_cache",
        "enable_block_reuse",
        "gpu_memory_utilization",
        "mem_fraction_static",
        "max_model_len",
        "max_num_seqs",
        "tensor_parallel_size",
        "pipeline_parallel_size",
        "kv_cache_dtype",
        "kv_cache_memory_bytes",
        "quantization",
        "block_size",
    )
)
"""Keyword arguments of an engine that decide over its KV cache."""
