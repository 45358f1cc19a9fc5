"""The header of a GGUF file: its metadata as a config, the bytes of its tensors as weights. Tensors are never read."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from promptlint_core.errors import PromptlintError
from promptlint_core.kv.config import geometry_from_config
from promptlint_core.kv.geometry import Geometry

__all__ = ["geometry_from_gguf", "gguf_config", "read_gguf_metadata"]

_NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 10: "<Q", 11: "<q", 12: "<d"}
_BOOL, _STRING, _ARRAY = 7, 8, 9
_LONGEST_STRING = 1 << 27
_MOST_KEYS = 1 << 16
_MOST_ITEMS = 1 << 24
_KEPT_ITEMS = 1 << 12
"""Longer arrays (the vocabulary) are skipped over, only their length is kept."""

_DEEPEST_ARRAY = 8

_ARCHITECTURES = {
    # llama.cpp's name: the model_type whose layer rule it follows
    "gemma2": "gemma2",
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "gpt-oss": "gpt_oss",
    "cohere2": "cohere2",
    "llama4": "llama4_text",
    "qwen3next": "qwen3_next",
    "qwen35": "qwen3_5_text",
    "qwen35moe": "qwen3_5_moe_text",
    "deepseek2": "deepseek_v3",
    "jamba": "jamba",
    "granitehybrid": "granitemoehybrid",
    "nemotron_h": "nemotron_h",
    "falcon-h1": "falcon_h1",
    "mamba": "mamba",
    "mamba2": "mamba2",
    "lfm2": "lfm2",
    "kimi-linear": "kimi_linear",
    "olmo2": "olmo2",
    "exaone4": "exaone4",
}
_FIELDS = {
    "block_count": "num_hidden_layers",
    "embedding_length": "hidden_size",
    "attention.head_count": "num_attention_heads",
    "attention.key_length": "head_dim",
    "attention.value_length": "v_head_dim",
    "attention.sliding_window": "sliding_window",
    "attention.chunk_size": "attention_chunk_size",
    "attention.shared_kv_layers": "num_kv_shared_layers",
    "attention.kv_lora_rank": "kv_lora_rank",
    "attention.q_lora_rank": "q_lora_rank",
    "attention.indexer.key_length": "index_head_dim",
    "context_length": "max_position_embeddings",
    "feed_forward_length": "intermediate_size",
    "vocab_size": "vocab_size",
    "full_attention_interval": "full_attention_interval",
    "expert_count": "num_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_feed_forward_length": "moe_intermediate_size",
    "nextn_predict_layers": "num_nextn_predict_layers",
    "shortconv.l_cache": "conv_L_cache",
}


def geometry_from_gguf(path: Path) -> Geometry:
    """The geometry of a GGUF file; `weights_bytes` is the size of its tensors (all parts of a split file).

    Raises:
        PromptlintError: not GGUF, cut off, or without the keys that a language model has.
    """
    try:
        with path.open("rb") as file:
            metadata, header_bytes = read_gguf_metadata(file)
        parts = _parts(path, metadata)
        weights = sum(part.stat().st_size for part in parts) - header_bytes
        name = metadata.get("general.name")
        geometry = geometry_from_config(gguf_config(metadata), name=str(name or path.stem), source=str(path))
    except OSError as error:
        raise PromptlintError(f"{path}: cannot be read: {error.strerror}") from None
    except PromptlintError as error:
        raise PromptlintError(f"{path}: {error}") from None
    return replace(geometry, weights_bytes=max(0, weights), element_bytes=2)


def read_gguf_metadata(file: BinaryIO) -> tuple[dict[str, object], int]:
    """(metadata, bytes up to the end of it). Raises PromptlintError when the file is cut off or not GGUF 2 or 3."""
    if file.read(4) != b"GGUF":
        raise PromptlintError("not a GGUF file")
    version = _number(file, 4)
    if version not in (2, 3):
        raise PromptlintError(f"GGUF version {version} is not known here (2 and 3 are)")
    _number(file, 10)
    keys = _number(file, 10)
    if keys > _MOST_KEYS:
        raise PromptlintError(f"damaged GGUF header: {keys:,} keys")
    metadata: dict[str, object] = {}
    for _ in range(int(keys)):
        key = _string(file)
        metadata[key] = _value(file, int(_number(file, 4)))
    return metadata, file.tell()


def gguf_config(metadata: Mapping[str, object]) -> dict[str, object]:
    """GGUF metadata under Hugging Face names, so that one reader serves both."""
    architecture = metadata.get("general.architecture")
    if not isinstance(architecture, str):
        raise PromptlintError("the GGUF header has no general.architecture")
    own = {key.removeprefix(f"{architecture}."): value for key, value in metadata.items()}
    config: dict[str, object] = {field: own[key] for key, field in _FIELDS.items() if key in own}
    config["model_type"] = _ARCHITECTURES.get(architecture, architecture.replace("-", "_"))
    if "vocab_size" not in config:
        config["vocab_size"] = metadata.get("tokenizer.ggml.tokens.length")
    layers, draft = config.get("num_hidden_layers"), config.get("num_nextn_predict_layers")
    if isinstance(layers, int) and isinstance(draft, int) and layers > draft:
        config["num_hidden_layers"] = layers - draft  # block_count includes the draft
    _add_kv_heads(config, own)
    _add_latent(config, own)
    _add_windows(config, own)
    _add_states(config, own)
    return config


def _add_kv_heads(config: dict[str, object], own: Mapping[str, object]) -> None:
    """One number, or one a layer where 0 means no attention in that layer."""
    heads, kv_heads = own.get("attention.head_count"), own.get("attention.head_count_kv")
    if isinstance(heads, list):
        config["num_attention_heads"] = max((head for head in heads if isinstance(head, int)), default=0)
    if not isinstance(kv_heads, list):
        config["num_key_value_heads"] = kv_heads
        return
    counts = [head for head in kv_heads if isinstance(head, int)]
    config["num_key_value_heads"] = counts
    if 0 in counts:
        feed_forward = own.get("feed_forward_length")
        widths: Sequence[object] = feed_forward if isinstance(feed_forward, list) else [0] * len(counts)
        has_states = "ssm.conv_kernel" in own or "shortconv.l_cache" in own
        config["layer_types"] = [
            "full_attention" if count else "mamba" if has_states and not width else "mlp"
            for count, width in zip(counts, widths, strict=False)
        ]
    if isinstance(own.get("feed_forward_length"), list):
        config["intermediate_size"] = None


def _add_latent(config: dict[str, object], own: Mapping[str, object]) -> None:
    if "attention.kv_lora_rank" in own:
        config["qk_rope_head_dim"] = own.get("rope.dimension_count")
        config["v_head_dim"] = own.get("attention.value_length_mla") or own.get("attention.value_length")


def _add_windows(config: dict[str, object], own: Mapping[str, object]) -> None:
    pattern = own.get("attention.sliding_window_pattern")
    if isinstance(pattern, list) and pattern:
        config["layer_types"] = ["sliding_attention" if windowed else "full_attention" for windowed in pattern]
    elif isinstance(pattern, int) and not isinstance(pattern, bool):
        config["sliding_window_pattern"] = pattern
    for key, field in (("attention.key_length_swa", "swa_head_dim"), ("attention.value_length_swa", "swa_v_head_dim")):
        if key in own:
            config[field] = own[key]


def _add_states(config: dict[str, object], own: Mapping[str, object]) -> None:
    kernel, state = own.get("ssm.conv_kernel"), own.get("ssm.state_size")
    inner, groups, rank = own.get("ssm.inner_size"), own.get("ssm.group_count"), own.get("ssm.time_step_rank")
    if not isinstance(kernel, int) or not isinstance(state, int) or not isinstance(inner, int):
        return
    if "full_attention_interval" in own or str(config["model_type"]).startswith("qwen3"):
        # gated delta net: heads of `state_size`, keys in `group_count` heads, values in `time_step_rank` heads
        config |= {
            "linear_num_key_heads": groups,
            "linear_key_head_dim": state,
            "linear_num_value_heads": rank,
            "linear_value_head_dim": inner // rank if isinstance(rank, int) and rank else state,
            "linear_conv_kernel_dim": kernel,
        }
    elif isinstance(groups, int) and groups:
        heads = rank if isinstance(rank, int) and rank else 1
        config |= {
            "mamba_num_heads": heads,
            "mamba_head_dim": inner // heads,
            "n_groups": groups,
            "ssm_state_size": state,
            "conv_kernel": kernel,
        }
    else:
        hidden = config.get("hidden_size")
        expand = inner // hidden if isinstance(hidden, int) and hidden else 2
        config |= {"mamba_expand": expand, "mamba_d_state": state, "mamba_d_conv": kernel}


def _parts(path: Path, metadata: Mapping[str, object]) -> list[Path]:
    """All files of a split model (`name-00001-of-00003.gguf`)."""
    count = metadata.get("split.count")
    stem, separator, rest = path.name.partition("-00001-of-")
    if not isinstance(count, int) or not separator:
        return [path]
    found = [path.with_name(f"{stem}-{part:05d}-of-{rest}") for part in range(1, min(count, 10_000) + 1)]
    return [part for part in found if part.is_file()]


def _exactly(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise PromptlintError("the GGUF header is cut off")
    return data


def _number(file: BinaryIO, kind: int) -> int | float:
    layout = _NUMBERS[kind]
    value: int | float = struct.unpack(layout, _exactly(file, struct.calcsize(layout)))[0]
    return value


def _string(file: BinaryIO) -> str:
    size = int(_number(file, 10))
    if size > _LONGEST_STRING:
        raise PromptlintError(f"damaged GGUF header: a string of {size:,} bytes")
    return _exactly(file, size).decode("utf-8", errors="replace")


def _value(file: BinaryIO, kind: int, depth: int = 0) -> object:
    if kind in _NUMBERS:
        return _number(file, kind)
    if kind == _BOOL:
        return _exactly(file, 1) != b"\0"
    if kind == _STRING:
        return _string(file)
    if kind != _ARRAY:
        raise PromptlintError(f"damaged GGUF header: value of unknown kind {kind}")
    if depth == _DEEPEST_ARRAY:
        raise PromptlintError("damaged GGUF header: arrays of arrays without end")
    item, count = int(_number(file, 4)), int(_number(file, 10))
    if count > _MOST_ITEMS:
        raise PromptlintError(f"damaged GGUF header: an array of {count:,} items")
    if count <= _KEPT_ITEMS:
        return [_value(file, item, depth + 1) for _ in range(count)]
    if item in _NUMBERS:
        _exactly(file, count * struct.calcsize(_NUMBERS[item]))
    else:
        for _ in range(count):
            _value(file, item, depth + 1)
    return count
