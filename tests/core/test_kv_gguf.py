"""GGUF headers, written byte by byte: what they say of the cache, and what a damaged one says to the user."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptlint_core.errors import PromptlintError
from promptlint_core.kv import geometry_of, kv_bytes, kv_bytes_per_token, state_bytes

U32, STRING, ARRAY, BOOL = 4, 8, 9, 7


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(item: object) -> bytes:
    """The kind and the bytes of one value."""
    if isinstance(item, bool):
        return struct.pack("<IB", BOOL, item)
    if isinstance(item, int):
        return struct.pack("<II", U32, item)
    if isinstance(item, str):
        return struct.pack("<I", STRING) + string(item)
    assert isinstance(item, list)
    kinds = {int: U32, bool: BOOL, str: STRING}
    kind = kinds[type(item[0])]
    body = b"".join(value(part)[4:] for part in item)
    return struct.pack("<IIQ", ARRAY, kind, len(item)) + body


def gguf(metadata: dict[str, object], *, version: int = 3, tensors: bytes = b"\0" * 4096) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, 0, len(metadata))
    return head + b"".join(string(key) + value(item) for key, item in metadata.items()) + tensors


LLAMA = {
    "general.architecture": "llama",
    "general.name": "Tiny",
    "llama.block_count": 32,
    "llama.embedding_length": 4096,
    "llama.attention.head_count": 32,
    "llama.attention.head_count_kv": 8,
    "llama.context_length": 8192,
    "tokenizer.ggml.tokens": [f"t{index}" for index in range(5000)],
}
HEADERS = {
    "grouped heads": (LLAMA, 131_072),
    "a stated key length": (LLAMA | {"llama.attention.key_length": 64, "llama.attention.value_length": 64}, 65_536),
    "one count of KV heads a layer, 0 without attention": (
        {
            "general.architecture": "deci", "deci.block_count": 4, "deci.embedding_length": 512,
            "deci.attention.head_count": [8, 8, 0, 8], "deci.attention.head_count_kv": [2, 2, 0, 4],
            "deci.feed_forward_length": [64, 64, 64, 64],
        },
        (2 + 2 + 4) * 64 * 2 * 2,
    ),
    "a latent": (
        {
            "general.architecture": "deepseek2", "deepseek2.block_count": 61, "deepseek2.embedding_length": 7168,
            "deepseek2.attention.head_count": 128, "deepseek2.attention.head_count_kv": 1,
            "deepseek2.attention.kv_lora_rank": 512, "deepseek2.attention.key_length": 576,
            "deepseek2.attention.value_length": 512, "deepseek2.rope.dimension_count": 64,
        },
        70_272,
    ),
    "draft blocks are not layers": (
        {
            "general.architecture": "glm4moe", "glm4moe.block_count": 47, "glm4moe.nextn_predict_layers": 1,
            "glm4moe.embedding_length": 4096, "glm4moe.attention.head_count": 96,
            "glm4moe.attention.head_count_kv": 8, "glm4moe.attention.key_length": 128,
            "glm4moe.attention.value_length": 128,
        },
        46 * 4096,
    ),
}  # fmt: skip


def write(folder: Path, data: bytes) -> str:
    path = folder / "model.gguf"
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize(("metadata", "expected"), HEADERS.values(), ids=HEADERS)
def test_bytes_per_token_from_a_header(tmp_path: Path, metadata: dict, expected: int) -> None:
    assert expected == kv_bytes_per_token(geometry_of(write(tmp_path, gguf(metadata))))


def test_windows_follow_the_pattern_or_the_family(tmp_path: Path) -> None:
    gemma = {
        "general.architecture": "gemma3", "gemma3.block_count": 12, "gemma3.embedding_length": 64,
        "gemma3.attention.head_count": 4, "gemma3.attention.head_count_kv": 2, "gemma3.attention.key_length": 32,
        "gemma3.attention.value_length": 32, "gemma3.attention.sliding_window": 512,
    }  # fmt: skip
    by_family = geometry_of(write(tmp_path, gguf(gemma)))
    stated = gemma | {"gemma3.attention.sliding_window_pattern": [True] * 11 + [False]}
    by_pattern = geometry_of(write(tmp_path, gguf(stated)))

    assert kv_bytes(by_family, 4096) == (2 * 4096 + 10 * 512) * 256
    assert kv_bytes(by_pattern, 4096) == (4096 + 11 * 512) * 256


def test_a_hybrid_has_states(tmp_path: Path) -> None:
    """llama.cpp's keys of a gated delta net: keys in `group_count` heads, values in `time_step_rank` heads."""
    qwen = {
        "general.architecture": "qwen35", "qwen35.block_count": 64, "qwen35.embedding_length": 5120,
        "qwen35.attention.head_count": 24, "qwen35.attention.head_count_kv": 4, "qwen35.attention.key_length": 256,
        "qwen35.attention.value_length": 256, "qwen35.full_attention_interval": 4, "qwen35.ssm.conv_kernel": 4,
        "qwen35.ssm.state_size": 128, "qwen35.ssm.group_count": 16, "qwen35.ssm.time_step_rank": 48,
        "qwen35.ssm.inner_size": 6144,
    }  # fmt: skip
    geometry = geometry_of(write(tmp_path, gguf(qwen)))

    assert kv_bytes_per_token(geometry) == 65_536
    assert state_bytes(geometry) == 153_944_064


def test_the_tensors_are_the_weights(tmp_path: Path) -> None:
    geometry = geometry_of(write(tmp_path, gguf(LLAMA, tensors=b"\0" * 123_456)))

    assert geometry.weights_bytes == 123_456
    assert geometry.name == "Tiny"


DAMAGED = {
    "cut off in the head": gguf(LLAMA)[:20],
    "cut off in a string": gguf(LLAMA)[:40],
    "an old version": gguf(LLAMA, version=1),
    "a huge count of keys": b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 40),
    "a huge string": b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 50),
    "an unknown kind of value": b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + string("a") + struct.pack("<I", 99),
    "a huge array": b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + string("a") + struct.pack("<IIQ", ARRAY, U32, 1 << 40),
    "arrays of arrays without end": b"GGUF"
    + struct.pack("<IQQ", 3, 0, 1)
    + string("a")
    + struct.pack("<I", ARRAY)
    + struct.pack("<IQ", ARRAY, 1) * 5000,
    "no architecture": gguf({"general.name": "x"}),
    "no layers": gguf({"general.architecture": "llama"}),
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_header_gives_a_sentence_with_the_name(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(PromptlintError, match=r"model\.gguf: "):
        geometry_of(write(tmp_path, data))


@given(st.binary(max_size=200))
def test_no_bytes_make_the_reader_crash(tmp_path_factory: pytest.TempPathFactory, tail: bytes) -> None:
    folder = tmp_path_factory.mktemp("gguf")
    with pytest.raises(PromptlintError):
        geometry_of(write(folder, b"GGUF" + struct.pack("<IQQ", 3, 0, 3) + tail))
