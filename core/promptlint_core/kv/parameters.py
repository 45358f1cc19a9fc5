"""Counting a decoder's weights from its config; None where the shape is not stated completely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from promptlint_core.kv.fields import Fields
from promptlint_core.kv.geometry import Geometry, Layer, Parameters, StateCache

_EXPERTS = ("num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts")
_EXPERTS_PER_TOKEN = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "top_k_experts", "moe_top_k")
_UNGATED = frozenset(
    ("gpt2", "gpt_neox", "opt", "bloom", "falcon", "phi", "starcoder2", "gpt_bigcode", "gptj", "codegen", "mpt",
     "nemotron", "nemotron_h", "whisper", "bart", "mbart")
)  # fmt: skip
_TIED_BY_DEFAULT = frozenset(
    ("gemma", "gemma2", "gemma3", "gemma3_text", "gemma3n", "gemma3n_text", "gemma4", "gemma4_text", "gpt2", "falcon",
     "starcoder2", "gpt_bigcode", "cohere", "cohere2", "bloom", "opt", "mamba", "zamba", "zamba2")
)  # fmt: skip
_QUANTISED_BITS = {
    # method: bits of a weight + bits of its share of the group's scales
    "fp8": Fraction(8),
    "fbgemm_fp8": Fraction(8),
    "awq": Fraction(4) + Fraction(20, 128),  # fp16 scale + 4-bit zero per 128
    "gptq": Fraction(4) + Fraction(20, 128),
    "mxfp4": Fraction(4) + Fraction(8, 32),
    "bitsandbytes": Fraction(4) + Fraction(32, 64),
}

_NVFP4_BITS = Fraction(4) + Fraction(8, 16)
_METHOD_OF_NAME = {"int8": "fp8", "w8a8": "fp8", "int4": "gptq", "w4a16": "gptq"}


def count_parameters(fields: Fields, layers: Sequence[Layer]) -> Parameters | None:
    """Parameters of a decoder-only language model, total and those one token passes through.

    Counts embeddings, projections, feed-forward, experts, routers, norms and recurrent layers; biases and vision parts
    are left out (below 1 %). None when the config lacks a needed width, or for an encoder-decoder.
    """
    hidden = fields.positive("hidden_size", "n_embd", "d_model")
    vocab = fields.positive("vocab_size", "padded_vocab_size")
    if hidden is None or vocab is None or not layers or fields.flag("is_encoder_decoder"):
        return None
    widths = _Widths.read(fields, hidden)
    if widths is None:
        return None
    tied = fields.flag("tie_word_embeddings", default=fields.model_type in _TIED_BY_DEFAULT)
    embedding = vocab * hidden
    dense = embedding * (1 if tied else 2) + hidden
    routed = 0
    for index, layer in enumerate(layers):
        fixed, experts = widths.layer(index, layer)
        dense += fixed
        routed += experts
    experts, chosen = widths.experts, widths.experts_per_token
    active = dense + (routed * chosen // experts if experts else 0)
    return Parameters(dense + routed, active, embedding, embedding, routed, experts, chosen, tied)


def count_weights_bytes(fields: Fields, parameters: Parameters | None, element_bytes: int) -> int | None:
    """Bytes of the weights at the config's dtype or quantisation; embeddings and head stay at 16 bit."""
    if parameters is None:
        return None
    bits = quantised_bits(fields.part("quantization_config").values)
    if bits is None:
        return parameters.total * element_bytes
    untied = parameters.embedding + (0 if fields.flag("tie_word_embeddings") else parameters.output_head)
    kept = min(untied, parameters.total)
    quantised = parameters.total - kept
    if fields.part("quantization_config").text("quant_method") == "mxfp4":  # gpt-oss: the experts alone
        quantised = parameters.routed_experts
        kept = parameters.total - quantised
    return kept * element_bytes + int(quantised * bits / 8)


def quantised_bits(config: Mapping[str, object]) -> Fraction | None:
    """Bits of one quantised weight with its share of scales; None: not quantised, or in a way not known here."""
    method = str(config.get("quant_method") or config.get("quant_algo") or "").lower()
    bits = _bits(config.get("bits"))
    group = config.get("group_size")
    if method in ("awq", "gptq") and bits is not None and isinstance(group, int) and group > 0:
        return Fraction(bits) + Fraction(16 + bits, group)
    if method == "bitsandbytes" and config.get("load_in_8bit"):
        return Fraction(8)
    if method in ("modelopt", "compressed-tensors"):
        return _bits_of_groups(config)
    if "nvfp4" in method:
        return _NVFP4_BITS
    return _QUANTISED_BITS.get(method)


def _bits_of_groups(config: Mapping[str, object]) -> Fraction | None:
    """ModelOpt and compressed-tensors state the width per group of layers; the first group speaks for all."""
    groups = config.get("config_groups")
    first = next(iter(groups.values()), None) if isinstance(groups, Mapping) else None
    weights = first.get("weights") if isinstance(first, Mapping) else None
    stated = weights if isinstance(weights, Mapping) else {}
    bits, group = _bits(stated.get("num_bits")), stated.get("group_size")
    named = f"{config.get('quant_algo')} {config.get('format')}".lower()
    if bits is None:
        return _NVFP4_BITS if "nvfp4" in named else Fraction(8) if "fp8" in named else None
    scale_bits = 8 if stated.get("type") == "float" else 16
    return Fraction(bits) + (Fraction(scale_bits, group) if isinstance(group, int) and group > 0 else 0)


def _bits(stated: object) -> int | None:
    """The width of a quantised weight; None where none that exists is stated."""
    return stated if isinstance(stated, int) and not isinstance(stated, bool) and 0 < stated <= 16 else None


def quantised_weights_bytes(geometry: Geometry, quantisation: str) -> int | None:
    """Bytes of a model's weights under another quantisation, by its name in a model's or flag's name.

    Embeddings and head stay at the model's dtype; an unknown quantisation changes nothing.
    """
    parameters = geometry.parameters
    bits = quantised_bits({"quant_method": _METHOD_OF_NAME.get(quantisation.lower(), quantisation)})
    if parameters is None or bits is None:
        return geometry.weights_bytes
    kept = min(parameters.embedding + parameters.output_head, parameters.total)
    return kept * geometry.element_bytes + int((parameters.total - kept) * bits / 8)


@dataclass(frozen=True, slots=True)
class _Widths:
    fields: Fields
    hidden: int
    heads: int
    head_dim: int
    intermediate: int | None
    experts: int
    experts_per_token: int
    expert_intermediate: int
    shared_intermediate: int
    matrices: int
    """3 for a gated feed-forward, 2 for a plain one."""

    @classmethod
    def read(cls, fields: Fields, hidden: int) -> _Widths | None:
        heads = fields.positive("num_attention_heads", "n_head", "n_heads") or 1
        intermediate = fields.positive("intermediate_size", "n_inner", "ffn_hidden_size", "ffn_dim")
        if intermediate is None and fields.model_type in ("gpt2", "falcon", "bloom", "gptj", "codegen", "gpt_bigcode"):
            intermediate = 4 * hidden
        experts = fields.integer(*_EXPERTS) or 0
        expert = fields.positive("moe_intermediate_size", "expert_intermediate_size") or intermediate
        recurrent_only = fields.model_type in ("mamba", "mamba2", "falcon_mamba")
        if expert is None and not recurrent_only:
            return None
        expert = expert or 0
        shared_width = fields.positive("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size")
        shared_count = fields.integer("n_shared_experts", "num_shared_experts") or 0
        shared = shared_width or fields.positive("shared_intermediate_size") or shared_count * expert
        if fields.model_type.startswith("llama4"):
            shared = expert
        return cls(
            fields,
            hidden,
            heads,
            fields.positive("head_dim", "attention_head_dim", "kv_channels") or max(1, hidden // heads),
            None if recurrent_only else intermediate,
            experts,
            fields.integer(*_EXPERTS_PER_TOKEN) or (1 if experts else 0),
            expert,
            shared,
            2 if fields.model_type in _UNGATED else 3,
        )

    def layer(self, index: int, layer: Layer) -> tuple[int, int]:
        """(weights every token passes, weights of the routed experts) of one layer."""
        fixed = 2 * self.hidden + self._mixer(layer)
        kind = self._alone(index)
        if kind is not None:
            if kind == "moe":
                return fixed + self._router_and_shared(), self._routed()
            return fixed + (self._feed_forward(self.intermediate or 0) if kind == "mlp" else 0), 0
        if self._is_sparse(index):
            return fixed + self._router_and_shared(), self._routed()
        dense = self.fields.positive("intermediate_size_mlp") or self.intermediate or 0
        return fixed + self._feed_forward(dense), 0

    def _alone(self, index: int) -> str | None:
        """Nemotron-H: a layer is a mixer, a feed-forward (`mlp`) or experts (`moe`) alone; None: other models."""
        if pattern := self.fields.text("hybrid_override_pattern"):
            return {"E": "moe", "-": "mlp"}.get(pattern[index : index + 1], "mixer")
        kinds = self.fields.items("layers_block_type", "layer_types") or ()
        if "moe" not in kinds and "mlp" not in kinds:
            return None
        return str(kinds[index]) if index < len(kinds) else "mixer"

    def _mixer(self, layer: Layer) -> int:
        weights = 0
        if layer.state is not None:
            weights += self._recurrent(layer.state)
        if layer.attention:
            weights += self._attention(layer)
        elif layer.state is None and self.fields.integer("num_kv_shared_layers"):
            weights += 2 * self.hidden * self.heads * self.head_dim  # a sharing layer keeps its queries and output
        return weights

    def _attention(self, layer: Layer) -> int:
        cache = layer.attention[0]
        fields = self.fields
        if not cache.latent:
            queries = self.hidden * self.heads * cache.k_dim
            gate = queries if fields.flag("attn_output_gate") or "linear_num_value_heads" in fields else 0
            output = self.hidden * self.heads * cache.v_dim
            return queries + gate + output + self.hidden * cache.elements_per_token
        nope, rope = fields.integer("qk_nope_head_dim") or 0, fields.integer("qk_rope_head_dim") or 0
        value = fields.integer("v_head_dim") or self.head_dim
        rank = fields.integer("kv_lora_rank") or 0
        query_rank = fields.integer("q_lora_rank")
        wide = self.heads * (nope + rope)
        queries = self.hidden * query_rank + query_rank * wide if query_rank else self.hidden * wide
        latent = self.hidden * cache.k_dim + rank * self.heads * (nope + value)
        return queries + latent + self.heads * value * self.hidden

    def _recurrent(self, state: StateCache) -> int:
        """In- and output projections and convolution of a recurrent layer."""
        width, hidden = state.conv_width, self.hidden
        match state.kind:
            case "gated-delta-net":
                values = self.fields.need("linear_num_value_heads") * self.fields.need("linear_value_head_dim")
                value_heads = self.fields.need("linear_num_value_heads")
                return hidden * (width + values + 2 * value_heads) + values * hidden + 4 * width
            case "mamba2":
                inner = state.recurrent_elements // self.fields.need("ssm_state_size", "mamba_d_state", "state_size")
                return hidden * (width + inner) + inner * hidden + 4 * width
            case "mamba1":
                rank, states = -(-hidden // 16), state.recurrent_elements // width
                return hidden * 2 * width + width * (rank + 2 * states) + rank * width + width * hidden
            case "kda":
                return hidden * width + 2 * hidden * width // 3 + 4 * width
            case "short-conv":
                return 4 * hidden * hidden
            case _:
                return 4 * hidden * self.heads * self.head_dim

    def _is_sparse(self, index: int) -> bool:
        fields = self.fields
        if not self.experts or self.experts == 1:
            return False
        if kinds := fields.items("mlp_layer_types"):
            return index < len(kinds) and kinds[index] not in ("dense", "mlp")
        if (chosen := fields.items("moe_layers")) is not None:
            return index in chosen
        if (dense := fields.items("mlp_only_layers")) is not None and index in dense:
            return False
        first_dense = fields.integer("first_k_dense_replace") or 0
        if index < first_dense:
            return False
        if fields.model_type == "jamba":
            period, offset = fields.positive("expert_layer_period") or 2, fields.integer("expert_layer_offset")
            return index % period == (1 if offset is None else offset)
        step = fields.positive("decoder_sparse_step", "interleave_moe_layer_step") or 1
        return (index + 1) % step == 0

    def _feed_forward(self, width: int) -> int:
        return self.matrices * self.hidden * width

    def _router_and_shared(self) -> int:
        dense_beside = self.intermediate if self.fields.flag("enable_moe_block") and self.intermediate else 0
        latent = self._latent()
        projections = 2 * self.hidden * latent if latent else 0
        return projections + self.hidden * self.experts + self._feed_forward(self.shared_intermediate + dense_beside)

    def _routed(self) -> int:
        """Experts read the hidden state, or a narrower latent of it."""
        return self.experts * self.matrices * (self._latent() or self.hidden) * self.expert_intermediate

    def _latent(self) -> int | None:
        return self.fields.positive("moe_latent_size", "routed_expert_hidden_size")
