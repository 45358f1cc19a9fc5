"""The constant state of recurrent and linear-attention layers, from a model's config.

Shapes as vLLM 0.21 and transformers 5 allocate them; elements per layer and sequence.
"""

from __future__ import annotations

from promptlint_core.errors import PromptlintError
from promptlint_core.kv.fields import Fields
from promptlint_core.kv.geometry import StateCache

_ELEMENT_BYTES = {"float32": 4, "fp32": 4, "float16": 2, "bfloat16": 2, "half": 2}


def state_of(fields: Fields, element_bytes: int) -> StateCache:
    """The state of one recurrent layer.

    Raises:
        PromptlintError: the config has none of the known state shapes.
    """
    if "linear_num_value_heads" in fields:
        return _gated_delta_net(fields, element_bytes)
    if "linear_attn_config" in fields or fields.model_type == "kimi_linear":
        return _kda(fields, element_bytes)
    if fields.model_type in ("minimax", "minimax_text_01") or "attn_type_list" in fields:
        return _lightning(fields, element_bytes)
    if "conv_L_cache" in fields:
        return StateCache("short-conv", fields.need("hidden_size"), fields.need("conv_L_cache") - 1, 0, element_bytes)
    if "conv1d_width" in fields:
        width = fields.positive("lru_width") or fields.need("hidden_size")
        return StateCache("rg-lru", width, fields.need("conv1d_width") - 1, width, element_bytes, element_bytes)
    if fields.positive("mamba_num_heads", "mamba_n_heads", "mamba_headdim", "mamba_ngroups") or (
        fields.model_type == "mamba2"
    ):
        return _mamba2(fields, element_bytes)
    if "mamba_d_state" in fields or "state_size" in fields:
        return _mamba1(fields, element_bytes)
    raise PromptlintError("the model's config has recurrent layers of a kind whose state is not known here")


def _recurrent_bytes(fields: Fields, default: int) -> int:
    stated = fields.text("mamba_ssm_cache_dtype", "mamba_ssm_dtype")
    return _ELEMENT_BYTES.get(stated or "", default)


def _mamba1(fields: Fields, element_bytes: int) -> StateCache:
    expand = fields.positive("mamba_expand", "expand") or 2
    inner = expand * fields.need("hidden_size")
    if fields.model_type in ("mamba", "falcon_mamba"):
        inner = fields.positive("intermediate_size") or inner
    kernel = fields.positive("mamba_d_conv", "conv_kernel") or 4
    state = fields.need("mamba_d_state", "state_size")
    return StateCache(
        "mamba1", inner, kernel - 1, inner * state, element_bytes, _recurrent_bytes(fields, element_bytes)
    )


def _mamba2(fields: Fields, element_bytes: int) -> StateCache:
    """Conv: heads × head_dim + 2 × groups × state; recurrent: heads × head_dim × state."""
    plain = fields.model_type == "mamba2"
    heads = fields.need("mamba_num_heads", "mamba_n_heads", "n_mamba_heads", *(["num_heads"] if plain else []))
    inner = (fields.positive("mamba_expand", "expand") or 2) * fields.need("hidden_size")
    stated = fields.values.get("mamba_d_head")
    head_dim = _share(inner, heads) if stated == "auto" else None
    if head_dim is None:
        names = ("mamba_head_dim", "mamba_d_head", "mamba_headdim", *(["head_dim"] if plain else []))
        head_dim = fields.positive(*names) or _share(inner, heads)
    groups = fields.positive("n_groups", "mamba_n_groups", "mamba_ngroups") or 1
    state = fields.need("ssm_state_size", "mamba_d_state", "state_size")
    kernel = fields.positive("conv_kernel", "mamba_d_conv") or 4
    width = heads * head_dim + 2 * groups * state
    recurrent = heads * head_dim * state
    return StateCache("mamba2", width, kernel - 1, recurrent, element_bytes, _recurrent_bytes(fields, element_bytes))


def _gated_delta_net(fields: Fields, element_bytes: int) -> StateCache:
    """Conv: 2 × key heads × key_dim + value heads × value_dim; recurrent: value heads × value_dim × key_dim, fp32."""
    key_heads, key_dim = fields.need("linear_num_key_heads"), fields.need("linear_key_head_dim")
    value_heads, value_dim = fields.need("linear_num_value_heads"), fields.need("linear_value_head_dim")
    kernel = fields.positive("linear_conv_kernel_dim") or 4
    width = 2 * key_heads * key_dim + value_heads * value_dim
    recurrent = value_heads * value_dim * key_dim
    return StateCache("gated-delta-net", width, kernel - 1, recurrent, element_bytes, _recurrent_bytes(fields, 4))


def _kda(fields: Fields, element_bytes: int) -> StateCache:
    """Kimi delta attention: three convolutions, recurrent heads × head_dim × head_dim in fp32."""
    inner = fields.part("linear_attn_config")
    heads = inner.positive("num_heads") or fields.need("linear_num_heads")
    head_dim = inner.positive("head_dim") or fields.need("linear_head_dim")
    kernel = inner.positive("short_conv_kernel_size") or fields.positive("linear_conv_kernel_dim") or 4
    recurrent = heads * head_dim * head_dim
    return StateCache("kda", 3 * heads * head_dim, kernel - 1, recurrent, element_bytes, _recurrent_bytes(fields, 4))


def _lightning(fields: Fields, element_bytes: int) -> StateCache:
    heads = fields.need("num_attention_heads")
    head_dim = fields.positive("head_dim") or _share(fields.need("hidden_size"), heads)
    return StateCache("lightning", 0, 0, heads * head_dim * head_dim, element_bytes, element_bytes)


def _share(elements: int, heads: int) -> int:
    if elements < heads:
        raise PromptlintError(f"the model's config is damaged: {elements:,} elements of state for {heads:,} heads")
    return elements // heads
