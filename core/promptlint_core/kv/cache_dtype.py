"""Bytes that an element type of the KV cache really takes, scales and block padding included.

Sources: vLLM 0.21 `kv_cache_interface` and TurboQuantConfig; llama.cpp block types; transformers `QuantizedCache`;
KIVI. One fp16 scale and one zero a group: seen in transformers with Quanto, inferred for HQQ and KIVI.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from rapidfuzz import process

from promptlint_core.errors import PromptlintError
from promptlint_core.kv.geometry import AttentionCache

_PLAIN_BYTES = {
    "fp32": 4, "float32": 4, "f32": 4, "float": 4,
    "fp16": 2, "float16": 2, "f16": 2, "bf16": 2, "bfloat16": 2, "half": 2, "16-bit": 2,
    "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1, "fp8_inc": 1, "int8": 1,
}  # fmt: skip

_LLAMA_CPP_BLOCKS = {
    # type: (values a block, bytes a block)
    "q8_0": (32, 34),
    "q4_0": (32, 18),
    "q4_1": (32, 20),
    "q5_0": (32, 22),
    "q5_1": (32, 24),
    "iq4_nl": (32, 18),
    "mxfp4": (32, 17),
}

_TURBOQUANT = {
    # name: (bits of a key, or 8 for an fp8 key without scales; bits of a value)
    "turboquant_k8v4": (8, 4),
    "turboquant_4bit_nc": (4, 4),
    "turboquant_k3v4_nc": (3, 4),
    "turboquant_3bit_nc": (3, 3),
}

_SCALE_BYTES = 4  # vLLM: one fp32 per token and head, for K and for V
_GROUP_SCALE_AND_ZERO_BYTES = 4  # two fp16 per group
_DS_MLA_SLOT_BYTES = {
    576: 656,  # DeepSeek V3.2: 512 fp8 + 4 fp32 scales + 64 bf16 rope values
    512: 584,  # DeepSeek V4: 448 fp8 + 64 bf16 + 8 scales
}
_DS_INDEX_KEY_BYTES = 132  # 128 fp8 + one fp32 scale
_BOUNDARY_LAYERS = 2

_GROUPED = re.compile(r"(?P<scheme>quanto|hqq|kivi|int)(?P<bits>[12348])(?:-g(?P<group>\d+))?(?:-r(?P<residual>\d+))?")

KNOWN_NAMES = (
    "auto", *_PLAIN_BYTES, "int8_per_token_head", "fp8_per_token_head", "int4_per_token_head", "nvfp4", "fp8_ds_mla",
    *_TURBOQUANT, *_LLAMA_CPP_BLOCKS, "int4", "int2", "quanto4", "quanto2", "hqq8", "hqq4", "kivi4", "kivi2",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CacheDtype:
    """How keys and values are stored.

    `K/V` names two types (`q8_0/q4_0`); `int4-g64-r128` is a grouped type with its group size and the count of newest
    tokens that stay at full precision.
    """

    name: str
    k: str
    v: str
    element_bytes: int
    """Bytes of the model's own dtype, for `auto` and for what stays unquantised."""

    @property
    def residual_tokens(self) -> int:
        """Newest tokens that a grouped type keeps at full precision."""
        match = _GROUPED.fullmatch(self.k)
        return _residual(match) if match else 0

    @property
    def boundary_layers(self) -> int:
        """Attention layers at each end of a dense model that stay at the model's dtype."""
        return _BOUNDARY_LAYERS if self.k in _TURBOQUANT else 0

    def slot_bytes(self, cache: AttentionCache, tp: int = 1) -> Fraction:
        """Bytes of one stored token in one layer on one of `tp` GPUs."""
        heads = cache.kv_heads_on_gpu(tp)
        if self.k == "fp8_ds_mla":
            if not cache.latent or cache.k_dim not in _DS_MLA_SLOT_BYTES:
                raise PromptlintError("fp8_ds_mla is the layout of DeepSeek's latent attention; this model has another")
            return Fraction(_DS_MLA_SLOT_BYTES[cache.k_dim] + (_DS_INDEX_KEY_BYTES if cache.index_dim else 0))
        if self.k in _TURBOQUANT:
            return Fraction(heads * _turboquant_slot_bytes(self.k, cache.k_dim))
        slot = heads * (self._vector_bytes(self.k, cache.k_dim) + self._vector_bytes(self.v, cache.v_dim))
        return slot + self._index_bytes(cache.index_dim)

    def unquantised_slot_bytes(self, cache: AttentionCache, tp: int = 1) -> Fraction:
        """The same slot at the model's own dtype."""
        elements = cache.kv_heads_on_gpu(tp) * (cache.k_dim + cache.v_dim) + cache.index_dim
        return Fraction(elements * self.element_bytes)

    def _vector_bytes(self, name: str, dim: int) -> Fraction:
        if dim == 0:
            return Fraction(0)
        if name == "auto":
            return Fraction(dim * self.element_bytes)
        if name in _PLAIN_BYTES:
            return Fraction(dim * _PLAIN_BYTES[name])
        if name in _LLAMA_CPP_BLOCKS:
            values, block_bytes = _LLAMA_CPP_BLOCKS[name]
            return Fraction(dim * block_bytes, values)
        if name == "nvfp4":
            return Fraction(dim, 2) + Fraction(dim, 16)
        if name.endswith("_per_token_head"):
            return Fraction(dim, 2 if name.startswith("int4") else 1) + _SCALE_BYTES
        if match := _GROUPED.fullmatch(name):
            scales = Fraction(dim * _GROUP_SCALE_AND_ZERO_BYTES, _group(match))
            return Fraction(dim * int(match["bits"]), 8) + scales
        raise PromptlintError(_unknown(name))

    def _index_bytes(self, dim: int) -> Fraction:
        """vLLM keeps the indexer's key in fp8 with a scale as soon as the cache is quantised."""
        if dim == 0:
            return Fraction(0)
        return Fraction(dim * self.element_bytes if self.k in ("auto", *_SIXTEEN_BITS_UP) else dim + _SCALE_BYTES)


_SIXTEEN_BITS_UP = tuple(name for name, size in _PLAIN_BYTES.items() if size >= 2)


def parse_cache_dtype(name: str, element_bytes: int = 2) -> CacheDtype:
    """Read the name of a cache dtype as vLLM, SGLang, llama.cpp, transformers or KIVI write it.

    Args:
        name: `auto`, `fp8`, `q8_0`, `int4-g64-r128`, `kivi2` …, or `K/V` for two different types.
        element_bytes: bytes of an element of the model's own dtype.

    Raises:
        PromptlintError: the name is not known; the sentence offers the nearest one.

    >>> parse_cache_dtype("nvfp4").slot_bytes(AttentionCache(8, 128, 128))
    Fraction(1152, 1)
    """
    k, separator, v = name.strip().lower().partition("/")
    v = v if separator else k
    for part in (k, v):
        if part not in KNOWN_NAMES and not _GROUPED.fullmatch(part):
            raise PromptlintError(_unknown(part))
    combined = {*_TURBOQUANT, "fp8_ds_mla"} & {k, v}
    if k != v and combined:
        raise PromptlintError(f"{combined.pop()} stores keys and values together and cannot be combined with {k}/{v}")
    return CacheDtype(name, k, v, element_bytes)


def _unknown(name: str) -> str:
    nearest = process.extractOne(name, KNOWN_NAMES)
    hint = f"; did you mean {nearest[0]}?" if nearest and nearest[1] >= 60 else ""
    examples = "auto, fp8, int8_per_token_head, nvfp4, q8_0, int4, q8_0/q4_0"
    return f"unknown KV cache dtype {name!r}{hint} (for example {examples})"


def _group(match: re.Match[str]) -> int:
    return max(1, int(match["group"] or (32 if match["scheme"] == "kivi" else 64)))


def _residual(match: re.Match[str]) -> int:
    if match["residual"] is not None:
        return int(match["residual"])
    return 32 if match["scheme"] == "kivi" else 128


def _turboquant_slot_bytes(name: str, head_dim: int) -> int:
    """Key + value of one head and token, rounded up to an even number."""
    key_bits, value_bits = _TURBOQUANT[name]
    key = head_dim if key_bits == 8 else -(-head_dim * key_bits // 8) + 2
    value = -(-head_dim * value_bits // 8) + 4
    return (key + value + 1) // 2 * 2
