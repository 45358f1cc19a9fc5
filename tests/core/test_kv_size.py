"""Laws of the size of a KV cache, and what its dtypes really take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptlint_core.errors import PromptlintError
from promptlint_core.kv import (
    AttentionCache,
    geometry_of,
    known_models,
    kv_bytes,
    kv_bytes_per_token,
    llama_cpp_context,
    llama_cpp_memory,
    marginal_bytes_per_token,
    parse_cache_dtype,
    state_bytes,
)

HEADS = AttentionCache(8, 128, 128)
LATENT = AttentionCache(1, 576, 0, latent=True)
SLOT_BYTES = {
    "auto": (HEADS, 4096),
    "bf16": (HEADS, 4096),
    "fp32": (HEADS, 8192),
    "fp8_e5m2": (HEADS, 2048),
    "int8_per_token_head": (HEADS, 2048 + 64),
    "nvfp4": (HEADS, 1152),
    "turboquant_k8v4": (HEADS, 8 * 196),
    "turboquant_4bit_nc": (HEADS, 8 * 134),
    "turboquant_k3v4_nc": (HEADS, 8 * 118),
    "turboquant_3bit_nc": (HEADS, 8 * 102),
    "q8_0": (HEADS, 2176),
    "q4_0": (HEADS, 1152),
    "q4_1": (HEADS, 1280),
    "q5_0": (HEADS, 1408),
    "q5_1": (HEADS, 1536),
    "iq4_nl": (HEADS, 1152),
    "mxfp4": (HEADS, 1088),
    "q8_0/q4_0": (HEADS, 1088 + 576),
    "int4": (HEADS, 1024 + 128),
    "int4-g32-r0": (HEADS, 1024 + 256),
    "kivi2": (HEADS, 512 + 256),
    "fp8_ds_mla": (LATENT, 656),
    "fp8": (LATENT, 576),
}


@pytest.mark.parametrize(("name", "expected"), list(SLOT_BYTES.items()), ids=SLOT_BYTES)
def test_bytes_of_one_slot(name: str, expected: tuple[AttentionCache, int]) -> None:
    cache, slot_bytes = expected

    assert slot_bytes == parse_cache_dtype(name).slot_bytes(cache)


@pytest.mark.parametrize("name", ["fp7", "", "q3_0", "int5", "bf16/fp7", "turboquant_k8v4/q4_0"])
def test_an_unknown_dtype_gives_a_sentence(name: str) -> None:
    with pytest.raises(PromptlintError):
        parse_cache_dtype(name)


def test_the_layout_of_deepseek_is_refused_elsewhere() -> None:
    with pytest.raises(PromptlintError, match="latent"):
        kv_bytes(geometry_of("Llama-3.1-8B"), 1, kv_dtype="fp8_ds_mla")


@given(st.integers(1, 200_000), st.sampled_from(["Llama-3.1-8B", "Gemma-3-27b-it", "DeepSeek-V3", "Qwen3.5-27B"]))
def test_paging_adds_less_than_one_block_a_layer(tokens: int, model: str) -> None:
    geometry = geometry_of(model)
    exact, paged = kv_bytes(geometry, tokens), kv_bytes(geometry, tokens, block_size=16)

    assert exact <= paged < exact + 16 * kv_bytes_per_token(geometry)


@given(
    st.integers(0, 100_000), st.integers(1, 64), st.sampled_from(["Gemma-2-9b", "gpt-oss-20b", "Llama-4-Scout-17B-16E"])
)
def test_a_longer_sequence_never_takes_less_and_a_batch_is_a_multiple(tokens: int, batch: int, model: str) -> None:
    geometry = geometry_of(model)
    one = kv_bytes(geometry, tokens)
    growth = kv_bytes(geometry, tokens + 1) - one

    assert marginal_bytes_per_token(geometry) <= growth <= kv_bytes_per_token(geometry)
    assert kv_bytes(geometry, tokens, batch=batch) == batch * one


def test_the_seed_of_the_project() -> None:
    """7B (32 layers, hidden size 4096) in fp16."""
    seven = geometry_of("7B")

    assert kv_bytes(seven, 4096) == 2 << 30
    assert kv_bytes(seven, 131_072) == 64 << 30
    assert kv_bytes(seven, 131_072, batch=8) == 512 << 30
    assert seven.weights_bytes == 14_000_000_000


def test_heads_are_shared_out_then_replicated() -> None:
    geometry = geometry_of("Qwen3-235B-A22B")  # 4 KV heads
    per_gpu = [kv_bytes(geometry, 1024, tp=tp) for tp in (1, 2, 4, 8)]

    assert per_gpu[0] == 2 * per_gpu[1] == 4 * per_gpu[2]
    assert per_gpu[3] == per_gpu[2]


def test_tensor_parallel_does_not_shrink_a_latent() -> None:
    geometry = geometry_of("DeepSeek-R1")

    assert kv_bytes(geometry, 1024, tp=8) == kv_bytes(geometry, 1024)


@pytest.mark.parametrize(("tp", "pp"), [(3, 1), (0, 1), (1, 0), (1, 33), (6, 1)])
def test_a_split_that_no_engine_makes_gives_a_sentence(tp: int, pp: int) -> None:
    with pytest.raises(PromptlintError):
        kv_bytes(geometry_of("Llama-3.1-8B"), 1, tp=tp, pp=pp)


@pytest.mark.parametrize("pp", range(1, 9))
def test_pipeline_stages_hold_all_layers_once(pp: int) -> None:
    for model in ("Llama-3.1-405B", "DeepSeek-V3", "Gemma-3-27b-it"):
        geometry = geometry_of(model)
        stages = geometry.stages(pp)

        assert sum(stages, ()) == geometry.layers
        assert max(map(len, stages)) - min(map(len, stages)) <= 1


def test_context_parallel_shares_full_attention_only() -> None:
    uniform, mixed = geometry_of("Llama-3.1-8B"), geometry_of("Mistral-7B-v0.1")

    assert kv_bytes(uniform, 1001, context_parallel=2) == kv_bytes(uniform, 501)
    assert kv_bytes(mixed, 1001, context_parallel=2) == kv_bytes(mixed, 1001)


def test_speculation_adds_rows_of_convolution_only() -> None:
    geometry = geometry_of("Qwen3.5-27B")

    assert state_bytes(geometry, speculative_tokens=1) - state_bytes(geometry) == 48 * 10_240 * 2
    assert state_bytes(geometry, states=2) == 2 * state_bytes(geometry)


def test_llama_cpp_pads_the_context_and_keeps_f32_states() -> None:
    """llama.cpp prints 5.625 + 144 MiB of state for Qwen3.5-27B."""
    memory = llama_cpp_memory(geometry_of("Qwen3.5-27B"), 1000)

    assert memory.full_bytes == 1024 * 65_536
    assert memory.state_bytes == int(149.625 * (1 << 20))


@given(st.integers(1 << 20, 1 << 36), st.sampled_from(["Llama-3.1-8B", "Gemma-3-27b-it"]))
def test_the_largest_context_fits_and_the_next_does_not(memory_bytes: int, model: str) -> None:
    geometry = geometry_of(model)
    context = llama_cpp_context(geometry, memory_bytes)

    assert context == 0 or llama_cpp_memory(geometry, context).total_bytes <= memory_bytes
    assert llama_cpp_memory(geometry, context + 256).total_bytes > memory_bytes


@pytest.mark.parametrize("model", known_models())
def test_no_model_of_the_table_shrinks_with_its_length(model: str) -> None:
    try:
        geometry = geometry_of(model)
    except PromptlintError as error:
        assert "not known completely" in str(error)  # noqa: PT017 -- either the row is complete or it says so
        return
    sizes = [kv_bytes(geometry, tokens) for tokens in (0, 1, 100, 10_000, 100_000)]

    assert sizes == sorted(sizes)
