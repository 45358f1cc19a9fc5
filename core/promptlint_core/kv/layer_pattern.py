"""Which layer of a model does what: from explicit lists in its config, else from the rule of its family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from promptlint_core.errors import PromptlintError
from promptlint_core.kv.fields import Fields


class Role(StrEnum):
    FULL = "full"
    SLIDING = "sliding"
    CHUNKED = "chunked"
    STATE = "state"
    STATE_AND_FULL = "state and full"
    """A recurrent and an attention part side by side (Falcon-H1) or in turn (Zamba2)."""
    COMPRESSED_4 = "compressed 4"
    """DeepSeek V4: a window, and one entry for every 4 tokens with an indexer."""
    COMPRESSED_128 = "compressed 128"
    NOTHING = "nothing"
    """Feed-forward, or attention removed."""


_NAMES = {
    "full_attention": Role.FULL,
    "attention": Role.FULL,
    "indexed_attention": Role.FULL,
    "deepseek_sparse_attention": Role.FULL,
    "full": Role.FULL,
    "global": Role.FULL,
    "sliding_attention": Role.SLIDING,
    "sliding_window_attention": Role.SLIDING,
    "sliding": Role.SLIDING,
    "local": Role.SLIDING,
    "chunked_attention": Role.CHUNKED,
    "linear_attention": Role.STATE,
    "mamba": Role.STATE,
    "mamba2": Role.STATE,
    "conv": Role.STATE,
    "recurrent": Role.STATE,
    "hybrid": Role.STATE_AND_FULL,
    "compressed_sparse_attention": Role.COMPRESSED_4,
    "heavily_compressed_attention": Role.COMPRESSED_128,
    "moe": Role.NOTHING,
    "mlp": Role.NOTHING,
    "no_op": Role.NOTHING,
}

_NEMOTRON_LETTERS = {"M": Role.STATE, "*": Role.FULL, "-": Role.NOTHING, "E": Role.NOTHING}
_COMPRESS_RATIOS = {0: Role.SLIDING, 4: Role.COMPRESSED_4, 128: Role.COMPRESSED_128}


def layer_roles(fields: Fields, layers: int) -> tuple[Role, ...]:
    """One role per layer.

    Raises:
        PromptlintError: a list in the config names an unknown kind of layer or has another length.
    """
    roles = _explicit(fields, layers) or _by_family(fields, layers) or _by_window(fields, layers)
    if len(roles) != layers:
        raise PromptlintError(
            f"the model's config is damaged: {len(roles)} entries in its list of layers for {layers} layers"
        )
    window = fields.integer("sliding_window", "attention_window_size")
    if not window or not fields.flag("use_sliding_window", default=True):
        roles = tuple(Role.FULL if role is Role.SLIDING else role for role in roles)
    if not fields.integer("attention_chunk_size"):
        roles = tuple(Role.FULL if role is Role.CHUNKED else role for role in roles)
    return roles


def nemotron_roles(pattern: str) -> tuple[Role, ...]:
    """Read a `hybrid_override_pattern`: M mamba, * attention, - and E feed-forward."""
    try:
        return tuple(_NEMOTRON_LETTERS[letter] for letter in pattern)
    except KeyError as error:
        raise PromptlintError(f"the model's config is damaged: {error} in hybrid_override_pattern") from None


def _explicit(fields: Fields, layers: int) -> tuple[Role, ...] | None:
    if pattern := fields.text("hybrid_override_pattern"):
        return nemotron_roles(pattern)
    if ratios := fields.items("compress_ratios"):
        return tuple(_looked_up(_COMPRESS_RATIOS, ratio) for ratio in ratios[:layers])
    if names := fields.items("layer_types", "layers_block_type"):
        return tuple(_looked_up(_NAMES, name) for name in names)
    if kinds := fields.items("attn_type_list"):  # MiniMax-Text-01: 0 lightning, 1 softmax
        return tuple(_looked_up({0: Role.STATE, 1: Role.FULL}, kind) for kind in kinds)
    if kinds := fields.items("hybrid_layer_pattern"):  # MiMo-V2
        return tuple(_looked_up({0: Role.FULL, 1: Role.SLIDING}, kind) for kind in kinds)
    if kinds := fields.items("block_types"):  # RecurrentGemma: repeated, attention is always local
        local = {"recurrent": Role.STATE, "attention": Role.SLIDING}
        return tuple(_looked_up(local, kinds[index % len(kinds)]) for index in range(layers))
    if indices := fields.items("attn_layer_indices", "full_attn_idxs"):
        return tuple(Role.FULL if index in indices else Role.STATE for index in range(layers))
    if full := fields.part("linear_attn_config").items("full_attn_layers"):  # counts from 1
        return tuple(Role.FULL if index + 1 in full else Role.STATE for index in range(layers))
    if blocks := fields.items("block_configs"):
        return tuple(_nas_role(block) for block in blocks)
    return None


def _looked_up(table: Mapping[Any, Role], name: object) -> Role:
    try:
        return table[name]
    except (KeyError, TypeError):
        raise PromptlintError(f"the model's config names a kind of layer that is not known here: {name!r}") from None


def _nas_role(block: object) -> Role:
    """Nemotron-NAS: a block whose attention is `no_op` or replaced by a linear map stores nothing."""
    attention = Fields(block if isinstance(block, Mapping) else {}).part("attention")
    removed = attention.flag("no_op") or attention.flag("replace_with_linear")
    return Role.NOTHING if removed else Role.FULL


def _every(period: int, layers: int, slow: Role, other: Role) -> tuple[Role, ...]:
    """Layer i is `slow` when (i + 1) is a multiple of `period`."""
    return tuple(slow if (index + 1) % period == 0 else other for index in range(layers))


def _windowed(default_period: int, *, last_full: bool = False) -> Callable[[Fields, int], tuple[Role, ...]]:
    def roles(fields: Fields, layers: int) -> tuple[Role, ...]:
        period = fields.positive("sliding_window_pattern", "_sliding_window_pattern") or default_period
        found = _every(period, layers, Role.FULL, Role.SLIDING)
        return (*found[:-1], Role.FULL) if last_full else found

    return roles


def _exaone(fields: Fields, layers: int) -> tuple[Role, ...]:
    letters = fields.text("sliding_window_pattern")
    if letters:
        return tuple(Role.SLIDING if letters[index % len(letters)] == "L" else Role.FULL for index in range(layers))
    return _windowed(4)(fields, layers)


def _alternating(first: Role, second: Role) -> Callable[[Fields, int], tuple[Role, ...]]:
    def roles(fields: Fields, layers: int) -> tuple[Role, ...]:
        del fields
        return tuple(second if index % 2 else first for index in range(layers))

    return roles


def _llama4(fields: Fields, layers: int) -> tuple[Role, ...]:
    if rope := fields.items("no_rope_layers"):  # 1: RoPE and chunked, 0: full without RoPE
        return tuple(Role.CHUNKED if has_rope else Role.FULL for has_rope in rope)
    return _every(fields.positive("no_rope_layer_interval") or 4, layers, Role.FULL, Role.CHUNKED)


def _qwen_hybrid(fields: Fields, layers: int) -> tuple[Role, ...]:
    return _every(fields.positive("full_attention_interval") or 4, layers, Role.FULL, Role.STATE)


def _jamba(fields: Fields, layers: int) -> tuple[Role, ...]:
    period = fields.positive("attn_layer_period") or 8
    offset = fields.integer("attn_layer_offset")
    offset = 4 if offset is None else offset
    return tuple(Role.FULL if index % period == offset else Role.STATE for index in range(layers))


def _zamba(fields: Fields, layers: int) -> tuple[Role, ...]:
    """Every layer has a state; some have a shared attention block ahead of it."""
    period, offset = fields.positive("attn_layer_period") or 6, fields.integer("attn_layer_offset")
    offset = 4 if offset is None else offset
    return tuple(Role.STATE_AND_FULL if index % period == offset else Role.STATE for index in range(layers))


def _zamba2(fields: Fields, layers: int) -> tuple[Role, ...]:
    hybrid = fields.items("hybrid_layer_ids")
    if hybrid is None:
        raise PromptlintError("the model's config has neither layers_block_type nor hybrid_layer_ids")
    return tuple(Role.STATE_AND_FULL if index in hybrid else Role.STATE for index in range(layers))


def _same(role: Role) -> Callable[[Fields, int], tuple[Role, ...]]:
    return lambda _fields, layers: (role,) * layers


def _kimi_linear(fields: Fields, layers: int) -> tuple[Role, ...]:
    """The last layer is MLA too, whatever the period."""
    del fields
    return (*_every(4, layers, Role.FULL, Role.STATE)[:-1], Role.FULL)


_FAMILIES: Mapping[str, Callable[[Fields, int], tuple[Role, ...]]] = MappingProxyType(
    {
        "gemma2": _alternating(Role.SLIDING, Role.FULL),
        "gemma3": _windowed(6),
        "gemma3_text": _windowed(6),
        "gemma3n": _windowed(5),
        "gemma3n_text": _windowed(5),
        "gemma4": _windowed(6, last_full=True),
        "gemma4_text": _windowed(6, last_full=True),
        "cohere2": _windowed(4),
        "olmo3": _windowed(4),
        "exaone4": _exaone,
        "gpt_oss": _alternating(Role.SLIDING, Role.FULL),
        "llama4": _llama4,
        "llama4_text": _llama4,
        "qwen3_next": _qwen_hybrid,
        "qwen3_5": _qwen_hybrid,
        "qwen3_5_text": _qwen_hybrid,
        "qwen3_5_moe": _qwen_hybrid,
        "qwen3_5_moe_text": _qwen_hybrid,
        "kimi_linear": _kimi_linear,
        "jamba": _jamba,
        "zamba": _zamba,
        "zamba2": _zamba2,
        "falcon_h1": _same(Role.STATE_AND_FULL),
        "mamba": _same(Role.STATE),
        "mamba2": _same(Role.STATE),
        "falcon_mamba": _same(Role.STATE),
        "codestral_mamba": _same(Role.STATE),
    }
)


def _by_family(fields: Fields, layers: int) -> tuple[Role, ...] | None:
    rule = _FAMILIES.get(fields.model_type)
    return rule(fields, layers) if rule else None


def _by_window(fields: Fields, layers: int) -> tuple[Role, ...]:
    """A window without a family: a stated period, Qwen2's count of full layers ahead, else all layers slide."""
    if fields.integer("attention_chunk_size"):
        return _llama4(fields, layers)
    if not fields.integer("sliding_window"):
        return (Role.FULL,) * layers
    if isinstance(fields.values.get("sliding_window_pattern"), int):
        return _windowed(6)(fields, layers)
    if "max_window_layers" in fields:
        first = fields.integer("max_window_layers") or 0
        return tuple(Role.SLIDING if index >= first else Role.FULL for index in range(layers))
    return (Role.SLIDING,) * layers
