"""Bytes of the cache objects that transformers really makes, against ours, for each kind of attention.

Tiny random models on the CPU, in an environment of their own (`make test-engines`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest

pytestmark = pytest.mark.engine
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from promptlint_core.kv import geometry_from_config, kv_bytes, state_bytes  # noqa: E402

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
TOKENS = 40
TINY = {
    "vocab_size": 97,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "max_position_embeddings": 256,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
GPT2 = {"n_embd": 64, "n_head": 8, "n_layer": 4, "n_positions": 256}
MLA = {
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "q_lora_rank": 16,
    "num_key_value_heads": 8,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "moe_intermediate_size": 32,
    "first_k_dense_replace": 1,
}
INDEXER = {**MLA, "index_head_dim": 16, "index_n_heads": 2, "index_topk": 64}
GQA = {"num_key_value_heads": 2}
DELTA = {
    **GQA,
    "head_dim": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
MAMBA2 = {**GQA, "mamba_n_heads": 16, "mamba_d_head": 8, "mamba_n_groups": 2, "mamba_d_state": 4}
LINEAR = "linear_attention"
KINDS = {
    "multi-head attention": ("llama", {}),
    "grouped-query attention": ("llama", GQA),
    "multi-query attention": ("gpt_bigcode", {**GPT2, "multi_query": True}),
    "falcon without the new decoder has one head": ("falcon", {"multi_query": True, "new_decoder_architecture": False}),
    "GPT-2 field names": ("gpt2", GPT2),
    "stated head_dim": ("qwen3", {**GQA, "head_dim": 32}),
    "keys wider than values": (
        "mimo_v2_flash",
        {
            **GQA, "head_dim": 24, "v_head_dim": 16, "swa_head_dim": 24, "swa_v_head_dim": 16,
            "swa_num_attention_heads": 8, "swa_num_key_value_heads": 4, "sliding_window": 16,
            "hybrid_layer_pattern": [0, 1, 1, 1], "n_routed_experts": 4, "num_experts_per_tok": 2,
            "moe_intermediate_size": 16, "moe_layer_freq": [0, 1, 1, 1], "n_group": 1, "topk_group": 1,
        },
    ),
    "all layers sliding": ("mistral", {**GQA, "head_dim": 8, "sliding_window": 16}),
    "a window that is turned off": ("qwen2", {**GQA, "sliding_window": 16, "use_sliding_window": False}),
    "sliding from a layer on": (
        "qwen2",
        {**GQA, "sliding_window": 16, "use_sliding_window": True, "max_window_layers": 2},
    ),
    "Gemma 2 alternates": ("gemma2", {**GQA, "head_dim": 16, "sliding_window": 16}),
    "Gemma 3 five to one": ("gemma3_text", {**GQA, "num_hidden_layers": 7, "head_dim": 16, "sliding_window": 16}),
    "Gemma 3n shares across layers": (
        "gemma3n_text",
        {
            **GQA, "num_hidden_layers": 10, "head_dim": 16, "sliding_window": 16, "num_kv_shared_layers": 4,
            "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 97, "laurel_rank": 4,
            "altup_num_inputs": 2,
        },
    ),
    "Gemma 4 full layers have a shape of their own": (
        "gemma4_text",
        {
            **GQA, "num_hidden_layers": 6, "head_dim": 16, "global_head_dim": 32, "num_global_key_value_heads": 1,
            "attention_k_eq_v": True, "sliding_window": 16, "hidden_size_per_layer_input": 0,
        },
    ),
    "Gemma 4 without shared K and V keeps its heads": (
        "gemma4_text",
        {
            **GQA, "num_hidden_layers": 6, "head_dim": 16, "global_head_dim": 32, "num_global_key_value_heads": 1,
            "sliding_window": 16, "hidden_size_per_layer_input": 0,
        },
    ),
    "Cohere 2 three to one": ("cohere2", {**GQA, "sliding_window": 16}),
    "OLMo 3 three to one": ("olmo3", {**GQA, "sliding_window": 16}),
    "EXAONE 4 pattern": ("exaone4", {**GQA, "sliding_window": 16, "sliding_window_pattern": 4}),
    "gpt-oss starts sliding": (
        "gpt_oss",
        {**GQA, "head_dim": 16, "sliding_window": 16, "num_local_experts": 4, "num_experts_per_tok": 2},
    ),
    "Phi 3 slides": ("phi3", {**GQA, "sliding_window": 16}),
    "StarCoder 2 slides": ("starcoder2", {**GQA, "sliding_window": 16}),
    "Llama 4 in chunks": (
        "llama4_text",
        {**GQA, "head_dim": 8, "attention_chunk_size": 16, "num_local_experts": 2, "intermediate_size_mlp": 64},
    ),
    "cla_share_factor without use_cla": (
        "hunyuan_v1_dense",
        {**GQA, "head_dim": 8, "use_cla": False, "cla_share_factor": 2},
    ),
    "MLA": ("deepseek_v3", MLA),
    "MLA with an indexer": ("deepseek_v32", INDEXER),
    "MLA with an indexer on some layers": (
        "glm_moe_dsa",
        {**INDEXER, "indexer_types": ["full", "full", "shared", "full"]},
    ),
    "gated delta net": ("qwen3_next", {**DELTA, **EXPERTS, "shared_expert_intermediate_size": 16}),
    "gated delta net, dense": ("qwen3_5_text", DELTA),
    "KDA beside MLA": (
        "kimi_linear",
        {
            "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8,
            "num_key_value_heads": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16,
            "linear_num_heads": 2, "linear_head_dim": 8, "layer_types": [LINEAR, LINEAR, LINEAR, "full_attention"],
        },
    ),
    "lightning attention": (
        "minimax",
        {
            **GQA, "head_dim": 8, "num_local_experts": 2, "num_experts_per_tok": 1,
            "layer_types": [LINEAR, LINEAR, "full_attention", LINEAR],
        },
    ),
    "Mamba alone": ("mamba", {"state_size": 4, "use_mambapy": False}),
    "Mamba 2 alone": ("mamba2", {"state_size": 4, "num_heads": 16, "head_dim": 8, "n_groups": 2}),
    "Mamba beside attention (Jamba)": (
        "jamba",
        {
            **GQA, "attn_layer_period": 2, "attn_layer_offset": 1, "num_experts": 2, "mamba_d_state": 4,
            "use_mamba_kernels": False,
        },
    ),
    "Mamba beside shared attention (Zamba)": (
        "zamba",
        {
            "num_hidden_layers": 12, "attn_layer_period": 6, "attn_layer_offset": 4, "mamba_d_state": 4,
            "n_mamba_heads": 2, "use_mamba_kernels": False, "num_key_value_heads": 8,
        },
    ),
    "Mamba 2 beside shared attention (Zamba 2)": (
        "zamba2",
        {
            "layers_block_type": ["mamba", "hybrid", "mamba", "hybrid"], "n_mamba_heads": 16, "mamba_ngroups": 2,
            "mamba_d_state": 4, "use_mem_rope": False, "num_key_value_heads": 8, "use_mamba_kernels": False,
        },
    ),
    "Mamba 2 beside attention (Bamba)": ("bamba", {**MAMBA2, "attn_layer_indices": [1]}),
    "Mamba 2 beside attention (Granite 4)": (
        "granitemoehybrid",
        {
            **MAMBA2, "layer_types": ["mamba", "attention", "mamba", "mamba"], "num_local_experts": 2,
            "num_experts_per_tok": 1, "shared_intermediate_size": 16,
        },
    ),
    "Mamba 2 and feed-forward layers (Nemotron-H)": (
        "nemotron_h",
        {
            **GQA, "head_dim": 16, "hybrid_override_pattern": "M-*M", "mamba_num_heads": 8, "mamba_head_dim": 8,
            "n_groups": 2, "ssm_state_size": 4, "conv_kernel": 4, "use_mamba_kernels": False,
        },
    ),
    "Mamba 2 and attention in one layer (Falcon-H1)": ("falcon_h1", {**MAMBA2, "mamba_d_ssm": 128}),
    "short convolutions (LFM 2)": (
        "lfm2",
        {**GQA, "conv_L_cache": 3, "layer_types": ["conv", "full_attention", "conv", "conv"]},
    ),
}  # fmt: skip


def tensors_in(owner: object, seen: set[int], depth: int = 0) -> Iterator[torch.Tensor]:
    """Every tensor that an object holds, once; scalars (window counters) are left out."""
    if depth > 20 or id(owner) in seen:
        return
    seen.add(id(owner))
    if isinstance(owner, torch.Tensor):
        if owner.dim() > 1:
            yield owner
    elif isinstance(owner, list | tuple):
        for item in owner:
            yield from tensors_in(item, seen, depth + 1)
    elif isinstance(owner, dict):
        for item in owner.values():
            yield from tensors_in(item, seen, depth + 1)
    elif hasattr(owner, "__dict__"):
        yield from tensors_in(vars(owner), seen, depth + 1)


def real_bytes(cache: object) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors_in(cache, set()))


def ours(config: dict, **options: int) -> int:
    """Our bytes, as transformers counts: a dynamic window keeps one token less between steps (the next one comes),
    and a convolution keeps its whole kernel (one row more than vLLM's)."""
    config = {**config, "dtype": "float32"}
    for field in ("sliding_window", "attention_chunk_size"):
        if config.get(field):
            config[field] -= 1
    geometry = geometry_from_config(config)
    return kv_bytes(geometry, TOKENS, **options) + state_bytes(geometry, speculative_tokens=1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_the_cache_of_a_real_model_has_the_bytes_we_compute(kind: str) -> None:
    model_type, fields = KINDS[kind]
    config = transformers.AutoConfig.for_model(model_type, **{**TINY, **fields})
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="eager")
    with torch.no_grad():
        output = model.eval()(input_ids=torch.randint(3, 96, (1, TOKENS)), use_cache=True)
    cached = output.past_key_values if getattr(output, "past_key_values", None) is not None else output.cache_params

    as_saved = json.loads(config.to_json_string(use_diff=False))
    as_written = {**TINY, **fields, "model_type": model_type}

    assert real_bytes(cached) == ours(as_saved)
    assert real_bytes(cached) == ours(as_written)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("window", [16, 64])
def test_a_static_cache_has_whole_windows(window: int) -> None:
    fields = {**TINY, **GQA, "head_dim": 16, "num_hidden_layers": 7, "sliding_window": window}
    config = transformers.AutoConfig.for_model("gemma3_text", **fields)
    cache = transformers.StaticCache(config=config, max_cache_len=TOKENS)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="eager")
    with torch.no_grad():
        model.eval()(input_ids=torch.randint(3, 96, (1, 8)), past_key_values=cache, use_cache=True)
    geometry = geometry_from_config({**fields, "model_type": "gemma3_text", "dtype": "float32"})

    assert real_bytes(cache) == kv_bytes(geometry, TOKENS)


@pytest.mark.filterwarnings("ignore")
def test_an_encoder_decoder_keeps_the_encoder_once() -> None:
    fields = {
        "d_model": 64, "d_kv": 8, "d_ff": 96, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 8,
        "vocab_size": 97, "decoder_start_token_id": 0,
    }  # fmt: skip
    config = transformers.T5Config(**fields)
    model = transformers.AutoModelForSeq2SeqLM.from_config(config, dtype=torch.float32)
    encoder, decoder = torch.randint(3, 96, (1, 23)), torch.randint(3, 96, (1, TOKENS))
    with torch.no_grad():
        output = model.eval()(input_ids=encoder, decoder_input_ids=decoder, use_cache=True)
    geometry = geometry_from_config({**fields, "model_type": "t5", "dtype": "float32"})

    assert real_bytes(output.past_key_values) == kv_bytes(geometry, TOKENS, encoder_tokens=23)


@pytest.mark.filterwarnings("ignore")
def test_whisper_always_keeps_its_full_encoder() -> None:
    fields = {
        "d_model": 64, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 8,
        "decoder_attention_heads": 8, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "vocab_size": 97,
        "num_mel_bins": 8, "max_source_positions": 50, "max_target_positions": 64, "pad_token_id": 0,
        "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1,
    }  # fmt: skip
    config = transformers.WhisperConfig(**fields)
    model = transformers.WhisperForConditionalGeneration(config).eval()
    with torch.no_grad():
        output = model(
            input_features=torch.randn(1, 8, 100), decoder_input_ids=torch.randint(3, 96, (1, TOKENS)), use_cache=True
        )
    geometry = geometry_from_config({**fields, "model_type": "whisper", "dtype": "float32"})

    assert geometry.encoder_tokens == 50
    assert real_bytes(output.past_key_values) == kv_bytes(geometry, TOKENS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("bits", [2, 4])
def test_a_quantised_cache_has_an_fp16_scale_and_zero_per_group(bits: int) -> None:
    """After a prompt all of it is quantised; the full-precision tail grows with what is generated."""
    pytest.importorskip("optimum.quanto")
    fields = {**TINY, "hidden_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64}
    fields["max_position_embeddings"] = 1024
    config = transformers.AutoConfig.for_model("llama", **fields)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float16, attn_implementation="eager")
    cache = transformers.QuantizedCache("quanto", config, nbits=bits, q_group_size=64, residual_length=128)
    with torch.no_grad():
        model.eval()(input_ids=torch.randint(3, 96, (1, 384)), past_key_values=cache, use_cache=True)
    stored = [
        part
        for layer in cache.layers
        for quantised in (layer._quantized_keys, layer._quantized_values)
        for part in (quantised._data._data, quantised._scale, quantised._shift)
    ]
    geometry = geometry_from_config({**fields, "model_type": "llama", "dtype": "float16"})

    real = sum(part.numel() * part.element_size() for part in stored)
    assert real == kv_bytes(geometry, 384, kv_dtype=f"int{bits}-g64-r0")
