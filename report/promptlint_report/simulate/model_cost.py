"""What a model costs a GPU per token: operations and bytes, from its geometry (`kv` facts, section roofline)."""

from __future__ import annotations

from dataclasses import dataclass

from promptlint_core.errors import PromptlintError
from promptlint_core.kv import Geometry, Span, kv_bytes_per_token, marginal_bytes_per_token


@dataclass(frozen=True, slots=True)
class ModelCost:
    """Per GPU of a tensor-parallel group; tokens of one engine step go through all of it."""

    linear_flops: float
    """Per token: 2 × active weights but embedding and output head."""
    head_flops: float
    """Per sampled token: 2 × vocabulary × hidden."""
    attention_flops: float
    """Per pair of new and visible token over the full-attention layers: 4 × heads × head width each."""
    window_flops: float
    """Per pair over the windowed layers."""
    window_tokens: int
    """0: no windowed layers."""
    dense_bytes: float
    """Weights that every step reads."""
    routed_bytes: float
    """Weights of all routed experts on this GPU."""
    experts: int
    experts_per_token: int
    kv_bytes_per_token: float
    """Below the window; what one stored token takes."""
    full_kv_bytes_per_token: float
    """Of the full-attention layers alone."""
    routed_flops: float
    """Part of `linear_flops` that routed experts do."""
    hidden_bytes: float
    """Of one token's hidden state: what parallel GPUs exchange."""
    layers: int

    def distinct_experts_share(self, tokens: int) -> float:
        """Expected share of experts that so many tokens touch: 1 − (1 − k/E)^tokens."""
        if not self.experts:
            return 0.0
        return 1.0 - (1.0 - self.experts_per_token / self.experts) ** tokens


def model_cost(
    geometry: Geometry,
    *,
    kv_dtype: str = "auto",
    tp: int = 1,
    expert_parallel: int = 1,
    weight_bytes: float | None = None,
) -> ModelCost:
    """Cost of a model on each of `tp` GPUs.

    Args:
        geometry: with counted parameters.
        kv_dtype: of the cache.
        tp: GPUs that share every layer.
        expert_parallel: GPUs that the routed experts are spread over beyond that (data-parallel ranks).
        weight_bytes: of all weights; None: as the geometry tells.

    Raises:
        PromptlintError: the weights of the model are not known.
    """
    parameters = geometry.parameters
    if parameters is None:
        raise PromptlintError(f"the weights of {geometry.name} cannot be counted from what is known of it")
    total_bytes = weight_bytes or geometry.weights_bytes or parameters.total * geometry.element_bytes
    per_weight = total_bytes / parameters.total
    heads, head_dim = geometry.heads or 0, geometry.head_dim or 0
    window = geometry.longest_window_tokens or 0
    spans = [cache.span for layer in geometry.layers for cache in layer.attention if cache.span is not Span.CROSS]
    full = sum(span is Span.FULL for span in spans)
    pair_flops = 4.0 * heads * head_dim / tp
    routed = parameters.routed_experts * per_weight / tp / expert_parallel
    input_table = 0 if parameters.tied else parameters.embedding
    head = parameters.output_head
    active = max(0, parameters.active - input_table - head)
    return ModelCost(
        linear_flops=2.0 * active / tp,
        head_flops=2.0 * head / tp,
        attention_flops=pair_flops * full,
        window_flops=pair_flops * (len(spans) - full),
        window_tokens=window,
        dense_bytes=(parameters.total - parameters.routed_experts - input_table) * per_weight / tp,
        routed_bytes=routed,
        experts=parameters.experts,
        experts_per_token=parameters.experts_per_token,
        kv_bytes_per_token=float(kv_bytes_per_token(geometry, kv_dtype=kv_dtype, tp=tp)),
        full_kv_bytes_per_token=float(marginal_bytes_per_token(geometry, kv_dtype=kv_dtype, tp=tp)),
        routed_flops=2.0 * parameters.routed_experts * parameters.experts_per_token / max(1, parameters.experts) / tp,
        hidden_bytes=float((geometry.hidden or 0) * geometry.element_bytes),
        layers=len(geometry.layers),
    )
