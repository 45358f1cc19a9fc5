"""Writes a random GGUF model of half a megabyte that llama.cpp loads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np

BYTE_TOKENS = 256


@dataclass(frozen=True)
class TinyModel:
    architecture: str = "llama"
    layers: int = 4
    hidden: int = 64
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 32
    feed_forward: int = 128
    vocabulary: int = 300
    window_tokens: int | None = None
    context_tokens: int = 4096


def write_tiny_gguf(path: Path, model: TinyModel) -> None:
    writer = gguf.GGUFWriter(str(path), model.architecture)
    _write_shape(writer, model)
    _write_vocabulary(writer, model.vocabulary)
    random = np.random.default_rng(0)

    def matrix(name: str, *shape: int) -> None:
        writer.add_tensor(f"{name}.weight", (random.standard_normal(shape) * 0.02).astype(np.float32))

    def ones(name: str, size: int) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(size, np.float32))

    matrix("token_embd", model.vocabulary, model.hidden)
    ones("output_norm", model.hidden)
    if model.architecture == "llama":
        matrix("output", model.vocabulary, model.hidden)
    for layer in range(model.layers):
        block = f"blk.{layer}"
        query, key = model.heads * model.head_dim, model.kv_heads * model.head_dim
        for name in ("attn_norm", "ffn_norm"):
            ones(f"{block}.{name}", model.hidden)
        matrix(f"{block}.attn_q", query, model.hidden)
        matrix(f"{block}.attn_k", key, model.hidden)
        matrix(f"{block}.attn_v", key, model.hidden)
        matrix(f"{block}.attn_output", model.hidden, query)
        matrix(f"{block}.ffn_gate", model.feed_forward, model.hidden)
        matrix(f"{block}.ffn_up", model.feed_forward, model.hidden)
        matrix(f"{block}.ffn_down", model.hidden, model.feed_forward)
        if model.architecture == "gemma3":
            for name, size in (("attn_q_norm", model.head_dim), ("attn_k_norm", model.head_dim)):
                ones(f"{block}.{name}", size)
            for name in ("post_attention_norm", "post_ffw_norm"):
                ones(f"{block}.{name}", model.hidden)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _write_shape(writer: gguf.GGUFWriter, model: TinyModel) -> None:
    writer.add_name("tiny")
    writer.add_context_length(model.context_tokens)
    writer.add_embedding_length(model.hidden)
    writer.add_block_count(model.layers)
    writer.add_feed_forward_length(model.feed_forward)
    writer.add_head_count(model.heads)
    writer.add_head_count_kv(model.kv_heads)
    writer.add_key_length(model.head_dim)
    writer.add_value_length(model.head_dim)
    writer.add_rope_dimension_count(model.head_dim)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(model.vocabulary)
    writer.add_file_type(0)
    if model.window_tokens:
        writer.add_sliding_window(model.window_tokens)


def _write_vocabulary(writer: gguf.GGUFWriter, size: int) -> None:
    special = ["<unk>", "<s>", "</s>"]
    words = size - len(special) - BYTE_TOKENS
    tokens = [*special, *(f"<0x{byte:02X}>" for byte in range(BYTE_TOKENS)), *(f"t{word}" for word in range(words))]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * size)
    writer.add_token_types([2, 3, 3] + [6] * BYTE_TOKENS + [1] * words)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
