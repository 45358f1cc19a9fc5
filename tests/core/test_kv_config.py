"""Configs of real families, with what public calculators get wrong, and configs that are damaged."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptlint_core.errors import PromptlintError
from promptlint_core.kv import (
    geometry_from_config,
    geometry_of,
    kv_bytes,
    kv_bytes_per_token,
    paged_layout,
    pool,
    state_bytes,
)

LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128_256,
    "intermediate_size": 14_336,
}
DEEPSEEK = {
    "model_type": "deepseek_v3",
    "num_hidden_layers": 61,
    "hidden_size": 7168,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "q_lora_rank": 1536,
    "vocab_size": 129_280,
    "intermediate_size": 18_432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "num_nextn_predict_layers": 1,
}

BYTES_PER_TOKEN = {
    "grouped heads": (LLAMA, 131_072),
    "a stated head_dim wins over hidden / heads": (LLAMA | {"head_dim": 64}, 65_536),
    "no count of KV heads means as many as query heads": (LLAMA | {"num_key_value_heads": None}, 524_288),
    "a latent ignores the KV heads and has no factor 2": (DEEPSEEK, 70_272),
    "falcon with multi_query has one head, not 71": (
        {
            "model_type": "falcon", "num_hidden_layers": 32, "hidden_size": 4544, "num_attention_heads": 71,
            "multi_query": True, "vocab_size": 65_024,
        },
        8192,
    ),
    "the new falcon decoder states its heads": (
        {
            "model_type": "falcon", "num_hidden_layers": 60, "hidden_size": 8192, "num_attention_heads": 128,
            "num_kv_heads": 8, "multi_query": True, "new_decoder_architecture": True, "vocab_size": 65_024,
        },
        122_880,
    ),
    "ChatGLM counts groups": (
        {
            "model_type": "chatglm", "num_layers": 28, "hidden_size": 4096, "num_attention_heads": 32,
            "multi_query_attention": True, "multi_query_group_num": 2, "kv_channels": 128,
        },
        28_672,
    ),
    "MPT nests its heads": (
        {"model_type": "mpt", "n_layers": 4, "d_model": 64, "n_heads": 8, "attn_config": {"kv_n_heads": 2}},
        4 * 2 * 2 * 8 * 2,
    ),
    "a multimodal config nests the decoder": ({"model_type": "llava", "text_config": LLAMA}, 131_072),
    "float32 doubles it": (LLAMA | {"torch_dtype": "torch.float32"}, 262_144),
}  # fmt: skip


@pytest.mark.parametrize(("config", "expected"), BYTES_PER_TOKEN.values(), ids=BYTES_PER_TOKEN)
def test_bytes_per_token(config: dict, expected: int) -> None:
    assert expected == kv_bytes_per_token(geometry_from_config(config))


ROLES = {
    "use_sliding_window false is full attention": (
        LLAMA | {"sliding_window": 4096, "use_sliding_window": False},
        32,
        0,
    ),
    "a window alone means all layers": (LLAMA | {"sliding_window": 4096}, 0, 32),
    "sliding_window null is full attention": (LLAMA | {"sliding_window": None}, 32, 0),
    "a pattern of six": (LLAMA | {"sliding_window": 1024, "sliding_window_pattern": 6}, 5, 27),
    "gemma2 starts sliding": (LLAMA | {"model_type": "gemma2", "sliding_window": 4096}, 16, 16),
    "cohere2 every fourth": (LLAMA | {"model_type": "cohere2", "sliding_window": 4096}, 8, 24),
    "llama4 every fourth without RoPE": (LLAMA | {"model_type": "llama4_text", "attention_chunk_size": 8192}, 8, 24),
    "explicit layer types win": (
        LLAMA | {"sliding_window": 128, "layer_types": ["full_attention"] * 31 + ["sliding_attention"]},
        31,
        1,
    ),
    "a window beyond the context never bites": (LLAMA | {"sliding_window": 262_144}, 0, 32),
}


@pytest.mark.parametrize(("config", "full", "windowed"), ROLES.values(), ids=ROLES)
def test_layers_that_grow_without_end(config: dict, full: int, windowed: int) -> None:
    geometry = geometry_from_config(config)
    window = geometry.longest_window_tokens or 0
    beyond = kv_bytes(geometry, 300_000) - kv_bytes(geometry, 299_999)

    assert beyond == full * 4096
    assert (full + windowed) * 4096 * min(1000, window or 1000) == kv_bytes(geometry, min(1000, window or 1000))


def test_a_draft_layer_holds_kv_only_when_it_is_on() -> None:
    geometry = geometry_from_config(DEEPSEEK)

    assert kv_bytes(geometry, 4096) == 61 * 576 * 2 * 4096
    assert kv_bytes(geometry.with_draft(), 4096) == 62 * 576 * 2 * 4096


def test_parameters_are_counted_from_the_shape() -> None:
    dense, experts = geometry_from_config(LLAMA), geometry_from_config(DEEPSEEK)

    assert dense.parameters is not None
    assert experts.parameters is not None
    assert dense.parameters.total == 8_030_261_248
    assert dense.weights_bytes == 2 * 8_030_261_248
    assert experts.parameters.total == pytest.approx(671e9, rel=0.001)
    assert experts.parameters.active == pytest.approx(37.5e9, rel=0.005)


def test_quantised_weights_take_less() -> None:
    fp8 = geometry_from_config(LLAMA | {"quantization_config": {"quant_method": "fp8"}})
    awq = geometry_from_config(LLAMA | {"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}})

    assert fp8.weights_bytes == pytest.approx(9.08e9, rel=0.01)
    assert awq.weights_bytes == pytest.approx(5.73e9, rel=0.01)


@pytest.mark.parametrize(
    ("quantisation", "expected_gb"),
    [
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, 9.08),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, 6.03),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 128}}},
            },
            5.72,
        ),
        ({"quant_method": "unheard-of"}, 16.06),
    ],
)
def test_quantised_weights_by_groups(quantisation: dict, expected_gb: float) -> None:
    geometry = geometry_from_config(LLAMA | {"quantization_config": quantisation})

    assert geometry.weights_bytes == pytest.approx(expected_gb * 1e9, rel=0.01)


def test_a_state_does_not_grow() -> None:
    config = {
        "model_type": "qwen3_5_text", "num_hidden_layers": 64, "num_attention_heads": 24, "num_key_value_heads": 4,
        "head_dim": 256, "linear_num_key_heads": 16, "linear_key_head_dim": 128, "linear_num_value_heads": 48,
        "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
    }  # fmt: skip
    geometry = geometry_from_config(config)

    assert state_bytes(geometry) == 153_944_064
    assert kv_bytes(geometry, 1) == 65_536
    assert state_bytes(geometry, tp=2) == 153_944_064 // 2


DAMAGED = {
    "no layers": ({"hidden_size": 64, "num_attention_heads": 8}, "num_hidden_layers"),
    "no heads": ({"num_hidden_layers": 2, "hidden_size": 64}, "num_attention_heads"),
    "zero layers": (LLAMA | {"num_hidden_layers": 0}, "num_hidden_layers"),
    "a negative count": (LLAMA | {"num_key_value_heads": -8}, "num_key_value_heads is -8"),
    "a text for a number": (LLAMA | {"num_hidden_layers": "many"}, "num_hidden_layers is 'many'"),
    "a truth value for a number": (LLAMA | {"num_hidden_layers": True}, "num_hidden_layers is True"),
    "a million layers": (LLAMA | {"num_hidden_layers": 1_000_000}, "1,000,000 layers"),
    "a list of another length": (LLAMA | {"layer_types": ["full_attention"] * 3}, "3 entries"),
    "attention without heads": (LLAMA | {"num_key_value_heads": [0] * 32}, "0 KV heads"),
    "KV heads for other layers": (LLAMA | {"num_key_value_heads": [8, 8]}, "2 counts of KV heads"),
    "an unknown kind of layer": (LLAMA | {"layer_types": ["quantum_attention"] * 32}, "'quantum_attention'"),
    "an unhashable kind of layer": (LLAMA | {"layer_types": [{}] * 32}, "{}"),
    "an unknown letter": (LLAMA | {"hybrid_override_pattern": "M*Q"}, "hybrid_override_pattern"),
    "an unknown state": (LLAMA | {"layer_types": ["linear_attention"] * 32}, "not known here"),
    "more heads than elements": (LLAMA | {"hidden_size": 7}, "hidden_size 7 for 32 attention heads"),
    "more heads of a state than elements": (
        {"model_type": "mamba2", "num_hidden_layers": 2, "hidden_size": 3, "num_heads": 80, "state_size": 16},
        "6 elements of state for 80 heads",
    ),
    "attention without a count of heads": (
        LLAMA | {"num_attention_heads": None, "num_key_value_heads": None, "head_dim": 64},
        "num_attention_heads",
    ),
    "a million draft layers": (LLAMA | {"num_nextn_predict_layers": 1_000_000}, "1,000,000 draft layers"),
    "not a model at all": ({"name": "left-pad", "version": "1.0.0"}, "num_hidden_layers"),
    "empty": ({}, "num_hidden_layers"),
}


@pytest.mark.parametrize(("config", "said"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_config_gives_a_sentence(config: dict, said: str) -> None:
    with pytest.raises(PromptlintError) as caught:
        geometry_from_config(config)

    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "not JSON"),
        (b"[1, 2]", "is a JSON object"),
        (b"\xff\xfe\x00", "neither JSON text nor a GGUF file"),
        (b"[" * 100_000, "not JSON"),
        (b"", "not JSON"),
        (b'{"num_hidden_layers": 2}', "config.json"),
    ],
)
def test_a_damaged_file_gives_a_sentence_with_its_name(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)

    with pytest.raises(PromptlintError) as caught:
        geometry_of(str(path))

    assert said in str(caught.value)
    assert "config.json" in str(caught.value)


def test_a_folder_gives_the_real_size_of_its_weights(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    assert geometry_of(str(tmp_path)).weights_bytes == 2 * 8_030_261_248

    index = {"metadata": {"total_size": 16_060_522_496}, "weight_map": {}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert geometry_of(str(tmp_path)).weights_bytes == 16_060_522_496


def test_what_editors_and_tools_leave_in_a_folder_is_read_over(tmp_path: Path) -> None:
    """A byte order mark, a name that is no text, a total that is no number."""
    (tmp_path / "config.json").write_text(json.dumps(LLAMA | {"_name_or_path": ["x"]}), encoding="utf-8-sig")
    (tmp_path / "model.safetensors.index.json").write_text('{"metadata": {"total_size": 1e999}}')
    geometry = geometry_of(str(tmp_path))

    assert (geometry.name, geometry.weights_bytes) == (tmp_path.name, 2 * 8_030_261_248)


def test_a_folder_without_a_model_gives_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PromptlintError, match=r"neither a config\.json nor a \.gguf"):
        geometry_of(str(tmp_path))


MAMBA = {"model_type": "mamba", "num_hidden_layers": 4, "hidden_size": 64, "state_size": 16, "vocab_size": 100}
NOTHING = LLAMA | {"num_hidden_layers": 2, "layer_types": ["moe", "moe"]}
DELTA_NET = {
    "model_type": "qwen3_5_text", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "linear_num_key_heads": 2, "linear_key_head_dim": 8,
    "linear_num_value_heads": 4, "linear_value_head_dim": 8, "vocab_size": 100, "intermediate_size": 4,
}  # fmt: skip
ENCODER_DECODER = {"model_type": "t5", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4}


def test_a_model_of_states_alone_needs_no_count_of_heads() -> None:
    geometry = geometry_from_config(MAMBA)

    assert kv_bytes(geometry, 1000) == 0
    assert state_bytes(geometry) == 4 * (3 * 128 + 128 * 16) * 2
    assert pool("H100", geometry).max_concurrency > 1


def test_a_model_that_keeps_nothing_takes_nothing_and_fills_no_pool() -> None:
    geometry = geometry_from_config(NOTHING)

    assert kv_bytes(geometry, 1000, block_size=16) == kv_bytes_per_token(geometry) == state_bytes(geometry) == 0
    assert geometry.attention == "2 without a cache of their own"
    for engine in ("vllm", "sglang", "llamacpp"):
        with pytest.raises(PromptlintError, match="neither keys and values nor a state"):
            pool("H100", geometry, engine=engine)
    with pytest.raises(PromptlintError, match="neither keys and values nor a state"):
        paged_layout(geometry)


def test_a_cross_attention_alone_without_a_length_of_the_encoder_still_takes_a_block() -> None:
    geometry = geometry_from_config(ENCODER_DECODER | {"num_kv_shared_layers": 4, "vocab_size": 100})

    assert pool("H100", geometry, weights_bytes=0).held.blocks_per_request == 1


@pytest.mark.parametrize("bits", [-4, 0, True, 10**9, "4", None])
def test_a_width_that_no_weight_has_is_not_believed(bits: object) -> None:
    stated = {"quant_method": "awq", "bits": bits, "group_size": 128}
    geometry = geometry_from_config(LLAMA | {"quantization_config": stated})

    assert geometry.weights_bytes == pytest.approx(5.73e9, rel=0.01)  # as awq without a width: 4 bits


@pytest.mark.parametrize("wrong", [{"tp": 0}, {"pp": 0}, {"context_parallel": 0}])
def test_gpus_count_from_one(wrong: dict[str, int]) -> None:
    with pytest.raises(PromptlintError, match="from 1"):
        kv_bytes(geometry_from_config(LLAMA), 1000, **wrong)


def test_a_block_holds_a_token() -> None:
    with pytest.raises(PromptlintError, match="at least one token"):
        paged_layout(geometry_from_config(LLAMA), block_size=0)


MORE_FIELDS = (
    "sliding_window", "layer_types", "layers_block_type", "full_attention_interval", "head_dim", "v_head_dim",
    "quantization_config", "attention_chunk_size", "num_kv_shared_layers", "cla_share_factor", "index_head_dim",
    "index_topk_freq", "block_configs", "hybrid_override_pattern", "compress_ratios", "is_encoder_decoder",
    "max_position_embeddings", "linear_attn_config", "conv_L_cache", "conv1d_width", "mamba_d_state", "mamba_n_heads",
    "num_local_experts", "moe_layers", "attn_config", "per_layer_config", "text_config",
)  # fmt: skip
FAMILIES = (
    "llama", "gemma3", "gemma4", "qwen3_next", "mamba", "mamba2", "jamba", "zamba", "zamba2", "falcon", "falcon_h1",
    "kimi_linear", "minimax", "deepseek_v4", "gpt_oss", "exaone4", "llama4", "t5", "whisper", "nemotron_h", "lfm2",
)  # fmt: skip
VALUES = (
    None, 0, -1, 1, 2, 3, 16, 3.5, "x", "auto", "M*E-", [], [0], [1], [0, 1, 4, 128], {}, {"a": 1}, True, False,
    10**9, 10**30, float("nan"), float("inf"), [[]], ["full_attention", "mamba"], ["moe"] * 4,
    {"num_heads": 2, "head_dim": 4}, {"quant_method": "awq", "bits": -4, "group_size": 1},
)  # fmt: skip


@given(st.data())
def test_no_config_makes_the_reader_or_a_figure_crash(data: st.DataObject) -> None:
    """Any value in any field of any family gives figures or a sentence."""
    config = dict(data.draw(st.sampled_from([LLAMA, DEEPSEEK, MAMBA, DELTA_NET, ENCODER_DECODER])))
    config["model_type"] = data.draw(st.sampled_from([config["model_type"], *FAMILIES]))
    names = st.sampled_from([*config, *MORE_FIELDS])
    config |= data.draw(st.dictionaries(names, st.sampled_from(VALUES), max_size=4))
    tp, pp = data.draw(st.sampled_from([1, 2, 8])), data.draw(st.sampled_from([1, 2]))
    with contextlib.suppress(PromptlintError):
        geometry = geometry_from_config(config)
        kv_bytes(geometry.with_draft(), 1000, block_size=16, tp=tp, pp=pp)
        state_bytes(geometry, tp=tp, pp=pp)
        for engine in ("vllm", "sglang", "llamacpp"):
            with contextlib.suppress(PromptlintError):
                pool("H100", geometry, engine=engine, tp=tp, pp=pp, weights_bytes=0).requests(1000, 10, 500)
        assert paged_layout(geometry, tp=tp, pp=pp).tokens_before_0_21(1 << 30) >= 0
