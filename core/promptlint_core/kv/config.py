"""From a Hugging Face `config.json` to a geometry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from promptlint_core.errors import PromptlintError
from promptlint_core.kv.fields import Fields, language_fields
from promptlint_core.kv.geometry import AttentionCache, Geometry, Layer, Span
from promptlint_core.kv.layer_pattern import Role, layer_roles
from promptlint_core.kv.parameters import count_parameters, count_weights_bytes
from promptlint_core.kv.recurrent_state import state_of

_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers")
_HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads", "encoder_attention_heads")
_HIDDEN = ("hidden_size", "d_model", "n_embd", "dim", "model_dim")
_KV_HEADS = (
    "num_key_value_heads",
    "num_kv_heads",
    "n_head_kv",
    "multi_query_group_num",
    "num_query_groups",
    "n_kv_heads",
)
_HEAD_DIM = ("head_dim", "attention_head_dim", "d_kv", "kv_channels", "head_size")
_MAX_TOKENS = ("max_position_embeddings", "n_positions", "seq_length", "max_target_positions", "n_ctx", "max_seq_len")
_INTERMEDIATE = ("intermediate_size", "n_inner", "d_ff", "decoder_ffn_dim", "ffn_dim", "ffn_hidden_size")
_DRAFT = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules")
_FLOAT_BYTES = {"float32": 4, "fp32": 4, "float": 4, "float16": 2, "bfloat16": 2, "half": 2}
_FULL_ATTENTION_IN_DRAFT = ("qwen3_next", "qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text")
_DOUBLE_WIDTH = ("zamba", "zamba2")
"""Their shared attention reads the embedding beside the hidden state."""
_FALCON = ("falcon", "refinedweb", "refinedwebmodel")
_MOST_LAYERS = 10_000
_WHISPER_FRAMES = 1500


def geometry_from_config(config: Mapping[str, object], *, name: str = "", source: str = "") -> Geometry:
    """Read the cache shape, and where possible the parameter count, out of a `config.json`.

    An explicit `head_dim` wins over hidden ÷ heads; MLA (`kv_lora_rank`) ignores the count of KV heads; windows,
    chunks, sharing, recurrent layers, cross attention and draft layers follow the config, else the family's rule.

    Raises:
        PromptlintError: a needed field is missing, or a value is impossible.
    """
    fields = language_fields(config)
    encoder_decoder = _is_encoder_decoder(fields)
    count = _layer_count(fields, encoder_decoder=encoder_decoder)
    element_bytes = _FLOAT_BYTES.get((fields.text("dtype", "torch_dtype") or "").removeprefix("torch."), 2)
    shape = _Shape.read(fields, element_bytes)
    if len(shape.kv_heads) not in (1, count):
        raise PromptlintError(
            f"the model's config is damaged: {len(shape.kv_heads)} counts of KV heads for {count} layers"
        )
    roles = layer_roles(fields, count)
    layers = tuple(shape.layer(index, role) for index, role in enumerate(roles))
    layers = _shared(fields, layers, roles)
    encoder_tokens = None
    if encoder_decoder:
        layers = tuple(replace(layer, attention=(*layer.attention, shape.cross())) for layer in layers)
        encoder_tokens = fields.positive("max_source_positions")
        if encoder_tokens is None and fields.model_type == "whisper":
            encoder_tokens = _WHISPER_FRAMES
    parameters = count_parameters(fields, layers)
    return Geometry(
        name=name or fields.text("_name_or_path") or fields.model_type or "model",
        layers=layers,
        element_bytes=element_bytes,
        draft_layers=_draft(fields, shape, layers),
        encoder_tokens=encoder_tokens,
        max_tokens=fields.integer(*_MAX_TOKENS),
        hidden=shape.hidden,
        heads=shape.heads,
        head_dim=shape.head_dim,
        vocab=fields.integer("vocab_size", "padded_vocab_size"),
        intermediate=fields.integer(*_INTERMEDIATE),
        parameters=parameters,
        weights_bytes=count_weights_bytes(fields, parameters, element_bytes),
        attention=describe(layers, shape.heads),
        source=source,
        notes=tuple(_notes(fields, shape)),
    )


def describe(layers: Sequence[Layer], heads: int | None) -> str:
    """The kinds of cache, how many layers have each and what a token is there, for people.

    `GQA: 10 full 16×128 + 52 sliding (1,024) 16×128`.
    """
    counted = Counter(cache for layer in layers for cache in layer.attention)
    words = Counter({_words(cache): number for cache, number in counted.items()})
    states = Counter(f"{layer.state.kind} state" for layer in layers if layer.state is not None)
    empty = sum(1 for layer in layers if not layer.attention and layer.state is None)
    parts = [" + ".join(f"{number} {kind}" for kind, number in (words + states).items())] if words or states else []
    parts += [f"{empty} without a cache of their own"] if empty else []
    return _head_sharing(counted, heads) + ", ".join(parts)


def _words(cache: AttentionCache) -> str:
    span = f"{cache.span} ({cache.window_tokens:,})" if cache.window_tokens is not None else str(cache.span)
    if cache.compress_ratio > 1:
        span = f"1:{cache.compress_ratio} compressed"
    width = f"{cache.k_dim}" if cache.k_dim == cache.v_dim or not cache.v_dim else f"({cache.k_dim} + {cache.v_dim})"
    index = f" with a {cache.index_dim}-wide index" if cache.index_dim else ""
    return f"{span} {'latent ' if cache.latent else f'{cache.kv_heads}×'}{width}{index}"


def _head_sharing(counted: Counter[AttentionCache], heads: int | None) -> str:
    """`MHA: `, `GQA: `, `MQA: ` or `MLA: `, where one word fits the model."""
    if any(cache.latent for cache in counted):
        return "MLA: "
    most = max((cache.kv_heads for cache in counted), default=0)
    if not most or heads is None:
        return ""
    return "MHA: " if most >= heads else "MQA: " if most == 1 else "GQA: "


@dataclass(frozen=True, slots=True)
class _Shape:
    """The head counts and widths that the layers of one model share."""

    fields: Fields
    element_bytes: int
    hidden: int | None
    heads: int | None
    head_dim: int | None
    kv_heads: tuple[int, ...]
    """One entry, or one a layer."""
    v_dim: int | None

    @classmethod
    def read(cls, fields: Fields, element_bytes: int) -> _Shape:
        hidden, heads = fields.positive(*_HIDDEN), fields.positive(*_HEADS)
        head_dim = fields.positive(*_HEAD_DIM)
        if head_dim is None and hidden is not None and heads is not None:
            head_dim = hidden // heads * (2 if fields.model_type in _DOUBLE_WIDTH else 1) or None
        v_dim = fields.positive("v_head_dim") if "kv_lora_rank" not in fields else None
        return cls(fields, element_bytes, hidden, heads, head_dim, _kv_heads(fields, heads), v_dim)

    def layer(self, index: int, role: Role) -> Layer:
        match role:
            case Role.NOTHING:
                return Layer()
            case Role.STATE:
                return Layer(state=state_of(self.fields, self.element_bytes))
            case Role.STATE_AND_FULL:
                return Layer((self.attention(index, Role.FULL),), state_of(self.fields, self.element_bytes))
            case Role.COMPRESSED_4 | Role.COMPRESSED_128:
                return Layer(self._compressed(role))
            case _:
                return Layer((self.attention(index, role),))

    def attention(self, index: int, role: Role) -> AttentionCache:
        if "compress_ratios" in self.fields or self.fields.model_type == "deepseek_v4":
            return self._window_latent()
        if rank := self.fields.integer("kv_lora_rank"):
            rope = self.fields.integer("qk_rope_head_dim") or 0
            return AttentionCache(1, rank + rope, 0, latent=True, index_dim=self._index_dim(index))
        kv_heads, k_dim, v_dim = self._heads_and_widths(index, role)
        window = {
            Role.SLIDING: self.fields.integer("sliding_window", "attention_window_size"),
            Role.CHUNKED: self.fields.integer("attention_chunk_size"),
        }.get(role)
        span = {Role.SLIDING: Span.SLIDING, Role.CHUNKED: Span.CHUNKED}.get(role, Span.FULL)
        return AttentionCache(kv_heads, k_dim, v_dim, span, window, index_dim=self._index_dim(index))

    def cross(self) -> AttentionCache:
        kv_heads, k_dim, v_dim = self._heads_and_widths(0, Role.FULL)
        return AttentionCache(kv_heads, k_dim, v_dim, Span.CROSS)

    def draft_layer(self, fields: Fields, layers: Sequence[Layer]) -> Layer:
        """A draft layer keeps what a full-attention layer of the model keeps (of a hybrid too)."""
        if fields.model_type in _FULL_ATTENTION_IN_DRAFT or not any(layer.attention for layer in layers):
            return Layer((self.attention(0, Role.FULL),))
        full = [layer for layer in layers if any(cache.span is Span.FULL for cache in layer.attention)]
        return Layer(full[-1].attention) if full else next(layer for layer in layers if layer.attention)

    def _heads_and_widths(self, index: int, role: Role) -> tuple[int, int, int]:
        fields = self.fields
        kv_heads = self.kv_heads[min(index, len(self.kv_heads) - 1)]
        head_dim = self.head_dim
        v_dim = self.v_dim
        if role is Role.FULL and _has_global_shape(fields):
            head_dim = fields.positive("global_head_dim") or head_dim
            if fields.flag("attention_k_eq_v"):
                kv_heads = fields.positive("num_global_key_value_heads") or kv_heads
        if role is Role.SLIDING:
            kv_heads = fields.positive("swa_num_key_value_heads", "num_swa_key_value_heads") or kv_heads
            head_dim = fields.positive("swa_head_dim") or head_dim
            v_dim = fields.positive("swa_v_head_dim") or v_dim
        override = fields.part("per_layer_config").part(str(index))
        kv_heads = override.positive("num_key_value_heads") or kv_heads
        head_dim = override.positive("head_dim") or head_dim
        if head_dim is None:
            raise PromptlintError(self._no_head_dim())
        if kv_heads == 0 and self.heads is None:
            fields.need("num_attention_heads")
        if kv_heads == 0:
            raise PromptlintError("the model's config is damaged: an attention layer with 0 KV heads")
        return kv_heads, head_dim, v_dim or head_dim

    def _no_head_dim(self) -> str:
        if self.hidden is not None and self.heads is not None:
            return f"the model's config is damaged: hidden_size {self.hidden:,} for {self.heads:,} attention heads"
        return "the model's config has neither head_dim nor hidden_size with num_attention_heads"

    def _index_dim(self, index: int) -> int:
        """Width of the sparse indexer's key on this layer; some models run it on some layers only."""
        fields = self.fields
        width = fields.integer("index_head_dim") or 0
        if not width:
            return self._block_sparse_index_dim(index)
        if kinds := fields.items("indexer_types"):
            return width if index < len(kinds) and kinds[index] == "full" else 0
        if pattern := fields.text("index_topk_pattern"):
            return width if pattern[index : index + 1] == "F" else 0
        if frequency := fields.integer("index_topk_freq"):
            offset = fields.integer("index_skip_topk_offset")
            behind = index - (2 if offset is None else offset) + 1
            return width if max(behind, 0) % frequency == 0 else 0
        return width

    def _block_sparse_index_dim(self, index: int) -> int:
        """MiniMax-M3: some layers pick blocks by a small key of their own."""
        sparse = self.fields.part("sparse_attention_config")
        chosen = sparse.items("sparse_attention_freq")
        if chosen is None or index >= len(chosen) or not chosen[index]:
            return 0
        return sparse.integer("sparse_index_dim") or 0

    def _window_latent(self) -> AttentionCache:
        window = self.fields.positive("sliding_window")
        span = Span.SLIDING if window else Span.FULL
        return AttentionCache(1, self._latent_dim(), 0, span, window, latent=True)

    def _latent_dim(self) -> int:
        return self.fields.need("head_dim")

    def _compressed(self, role: Role) -> tuple[AttentionCache, ...]:
        ratio = 4 if role is Role.COMPRESSED_4 else 128
        index_dim = (self.fields.integer("index_head_dim") or 0) if ratio == 4 else 0
        shrunk = AttentionCache(1, self._latent_dim(), 0, latent=True, index_dim=index_dim, compress_ratio=ratio)
        return (self._window_latent(), shrunk)


def _has_global_shape(fields: Fields) -> bool:
    return "global_head_dim" in fields or "num_global_key_value_heads" in fields


def _layer_count(fields: Fields, *, encoder_decoder: bool) -> int:
    names = ("num_decoder_layers", "decoder_layers", *_LAYERS) if encoder_decoder else _LAYERS
    count = fields.positive(*names)
    if count is None:
        stated = fields.text("hybrid_override_pattern") or fields.items("layers_block_type", "layer_types")
        count = len(stated) if stated else fields.need(*names)
    if count > _MOST_LAYERS:
        raise PromptlintError(f"the model's config is damaged: {count:,} layers")
    return count


def _draft(fields: Fields, shape: _Shape, layers: Sequence[Layer]) -> tuple[Layer, ...]:
    count = fields.integer(*_DRAFT) or 0
    if count > _MOST_LAYERS:
        raise PromptlintError(f"the model's config is damaged: {count:,} draft layers")
    return (shape.draft_layer(fields, layers),) * count if count else ()


def _is_encoder_decoder(fields: Fields) -> bool:
    stated = fields.values.get("is_encoder_decoder")
    if isinstance(stated, bool):
        return stated
    return fields.model_type in ("t5", "mt5", "umt5", "whisper", "bart", "mbart", "pegasus", "marian", "m2m_100")


def _kv_heads(fields: Fields, heads: int | None) -> tuple[int, ...]:
    """KV heads of all layers, or one entry a layer.

    Absent means as many as query heads, or 1 where multi-query; 0 where neither is stated, as with recurrent models.
    """
    listed = fields.items(*_KV_HEADS)
    if listed is not None:
        return tuple(
            Fields({"num_key_value_heads": heads_here}).integer("num_key_value_heads") or 0 for heads_here in listed
        )
    if blocks := fields.items("block_configs"):
        return tuple(_nas_kv_heads(block, heads) for block in blocks)
    grouped = fields.model_type not in _FALCON or fields.flag("new_decoder_architecture")
    one_head = fields.model_type in (*_FALCON, "gpt_bigcode") and fields.flag("multi_query")
    if one_head and not fields.flag("new_decoder_architecture"):
        return (1,)
    if fields.flag("multi_query_attention"):
        return (fields.positive("multi_query_group_num") or 1,)
    stated = fields.part("attn_config").positive("kv_n_heads")
    if stated is None and grouped:
        stated = fields.positive(*_KV_HEADS)
    return (stated or fields.positive("num_kv_heads") or heads or 0,)


def _nas_kv_heads(block: object, heads: int | None) -> int:
    attention = Fields(block if isinstance(block, Mapping) else {}).part("attention")
    group = attention.positive("n_heads_in_group")
    if group and heads:
        return heads // group
    return attention.positive("num_key_value_heads") or heads or 1


def _shared(fields: Fields, layers: tuple[Layer, ...], roles: Sequence[Role]) -> tuple[Layer, ...]:
    """Take the KV away from layers that read another layer's."""
    del roles
    if shared := fields.integer("num_kv_shared_layers"):
        own = len(layers) - shared
        return tuple(layer if index < own else replace(layer, attention=()) for index, layer in enumerate(layers))
    factor = fields.integer("cla_share_factor") or 1
    if fields.flag("use_cla") and factor > 1:
        return tuple(
            layer if index % factor == 0 else replace(layer, attention=()) for index, layer in enumerate(layers)
        )
    return layers


def _notes(fields: Fields, shape: _Shape) -> Sequence[str]:
    notes = []
    if shape.hidden and shape.heads and shape.head_dim and "kv_lora_rank" not in fields:
        derived = shape.hidden // shape.heads
        if derived != shape.head_dim and not fields.items("layers_block_type"):
            notes.append(f"head_dim {shape.head_dim} is stated; hidden ÷ heads would give {derived}")
    if fields.integer("sliding_window") and not fields.flag("use_sliding_window", default=True):
        notes.append("sliding_window is set but use_sliding_window is false: full attention")
    if "kv_lora_rank" in fields:
        notes.append("MLA: one latent for all heads; tensor parallel does not shrink it")
    return notes
