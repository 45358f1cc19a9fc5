"""What a GPU leaves for the cache, in the words of each engine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptlint_core.errors import PromptlintError
from promptlint_core.kv import geometry_of, paged_layout, pool
from promptlint_core.kv.gpus import gpu_of
from promptlint_core.kv.pool import Settings, default_settings, estimate_activation

GIB = 1 << 30
LLAMA = geometry_of("Llama-3.1-8B")


@pytest.mark.parametrize(
    ("model", "logged_gib", "tp"),
    [("gpt-oss-20b", 7.38, 1), ("Llama-3.3-70B-Instruct", 4.84, 2), ("Qwen3-0.6B", 5.56, 1), ("Qwen3-32B", 5.64, 2)],
)
def test_the_activation_of_logged_starts_is_estimated_within_five_percent(
    model: str, logged_gib: float, tp: int
) -> None:
    settings = Settings(1024, 8192)

    assert estimate_activation(geometry_of(model), settings, tp=tp) / GIB == pytest.approx(logged_gib, rel=0.05)


@given(st.floats(0.05, 1.0), st.sampled_from(["Llama-3.1-8B", "Gemma-3-4b-it", "Qwen3-8B"]))
def test_the_parts_add_up_to_the_share(utilization: float, model: str) -> None:
    found = pool("H100", geometry_of(model), utilization)
    taken = found.weights_bytes + found.activation_bytes + found.other_bytes

    assert found.kv_pool_bytes == max(0, int(found.memory_bytes * utilization) - taken)


def test_what_does_not_fit_is_told() -> None:
    found = pool("L4", geometry_of("Llama-3.1-70B"))

    assert found.kv_pool_bytes == 0
    assert found.tokens == 0
    assert any("nothing is left" in note for note in found.notes)
    assert found.requests(100, 100) == 0


@given(st.integers(1, 20_000), st.integers(1, 4000), st.integers(0, 20_000))
def test_a_shared_prefix_never_costs_a_request_and_never_overfills_the_pool(
    prompt: int, output: int, shared: int
) -> None:
    found = pool("H100", LLAMA)
    alone, sharing = found.requests(prompt, output), found.requests(prompt, output, shared)
    length, common = prompt + output - 1, min(shared, prompt - 1) // 16

    assert sharing >= alone
    assert sharing * (-(-length // 16) - common) + common <= found.blocks - 1


def test_one_block_is_the_null_block() -> None:
    layout = paged_layout(LLAMA)
    found = pool("H100", LLAMA, kv_pool_bytes=10 * layout.bytes_per_block)

    assert found.blocks == 10
    assert found.requests(16, 1) == 9
    assert found.requests(17, 1) == 4


def test_a_request_never_writes_its_last_token() -> None:
    found = pool("H100", LLAMA, kv_pool_bytes=3 * paged_layout(LLAMA).bytes_per_block)

    assert found.requests(16, 1) == 2  # 16 positions: one block
    assert found.requests(16, 2) == 1


def test_groups_of_a_mixed_model() -> None:
    """Gemma 3 27B: 10 full and 52 sliding layers make 1 + 6 groups of 10, the last of them padded."""
    layout = paged_layout(geometry_of("Gemma-3-27b-it"))

    assert layout.group_size == 10
    assert [group.groups for group in layout.groups] == [6, 1]


def test_nearly_equal_counts_make_groups_of_the_larger() -> None:
    layout = paged_layout(geometry_of("gpt-oss-20b"))

    assert layout.group_size == 12
    assert layout.group_count == 2


def test_data_parallel_replicas_add_up() -> None:
    one, eight = pool("H100", LLAMA), pool("H100", LLAMA, dp=8)

    assert eight.requests(1000, 100) == 8 * one.requests(1000, 100)
    assert eight.kv_pool_bytes == one.kv_pool_bytes


def test_the_stage_with_most_layers_is_the_tightest() -> None:
    whole, halves = paged_layout(LLAMA), paged_layout(LLAMA, pp=2)

    assert halves.bytes_per_block * 2 == whole.bytes_per_block


@pytest.mark.parametrize("engine", ["vllm", "sglang", "llamacpp"])
def test_every_engine_holds_more_in_fewer_bits(engine: str) -> None:
    plain, small = pool("L4", LLAMA, engine=engine), pool("L4", LLAMA, engine=engine, kv_dtype="q8_0")

    assert 0 < plain.tokens < small.tokens


@pytest.mark.parametrize(
    ("gpu", "requests", "budget"),
    [("H100", 1024, 8192), ("B200", 1024, 16_384), ("A100-80GB", 256, 2048), ("L4", 256, 2048)],
)
def test_default_limits_of_vllm(gpu: str, requests: int, budget: int) -> None:
    assert Settings(requests, budget) == default_settings(gpu_of(gpu))


@pytest.mark.parametrize("utilization", [0, -0.1, 1.01, 92])
def test_a_share_outside_the_gpu_gives_a_sentence(utilization: float) -> None:
    with pytest.raises(PromptlintError, match="between 0 and 1"):
        pool("H100", LLAMA, utilization)


def test_unknown_weights_give_a_sentence() -> None:
    with pytest.raises(PromptlintError, match="weights of Command-R\\+ are not known"):
        pool("H100", geometry_of("Command-R+"))
