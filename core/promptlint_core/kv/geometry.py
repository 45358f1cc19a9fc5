"""The shape of a model's cache: what each layer keeps of every token, and what it keeps once per sequence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum


class Span(StrEnum):
    """Which tokens of a sequence a layer keeps."""

    FULL = "full"
    SLIDING = "sliding"
    """The newest `window_tokens`."""
    CHUNKED = "chunked"
    """At most one chunk of `window_tokens`; old chunks are dropped."""
    CROSS = "cross"
    """The tokens of the encoder, written once."""


@dataclass(frozen=True, slots=True)
class AttentionCache:
    """What one attention layer keeps of one token."""

    kv_heads: int
    k_dim: int
    """Width of a key per head, elements."""
    v_dim: int
    """Width of a value per head, elements; 0 where only one vector is stored (a latent)."""
    span: Span = Span.FULL
    window_tokens: int | None = None
    """Window or chunk; None for full and cross attention."""
    latent: bool = False
    """One compressed vector for all heads (MLA): the same on every GPU of a tensor-parallel group."""
    index_dim: int = 0
    """Width of the key that a sparse-attention indexer keeps beside it, per stored token; 0: none."""
    compress_ratio: int = 1
    """Tokens that share one stored entry (DeepSeek V4: 4 or 128)."""

    @property
    def elements_per_token(self) -> int:
        return self.kv_heads * (self.k_dim + self.v_dim)

    def kv_heads_on_gpu(self, tp: int) -> int:
        """Heads stored on each of `tp` GPUs: shared out, replicated below one head a GPU."""
        return self.kv_heads if self.latent else max(1, self.kv_heads // tp)

    def stored_tokens(self, tokens: int, encoder_tokens: int = 0) -> int:
        """Entries kept for a sequence of `tokens`."""
        if self.span is Span.CROSS:
            return encoder_tokens
        if self.window_tokens is not None and self.span is not Span.FULL:
            tokens = min(tokens, self.window_tokens)
        return tokens // self.compress_ratio


@dataclass(frozen=True, slots=True)
class StateCache:
    """What a recurrent or linear layer keeps, once per sequence whatever its length."""

    kind: str
    """`mamba1`, `mamba2`, `gated-delta-net`, `kda`, `lightning`, `short-conv` or `rg-lru`."""
    conv_width: int
    conv_rows: int
    """Convolution kernel − 1; speculative decoding adds one row a speculated token."""
    recurrent_elements: int
    conv_element_bytes: int = 2
    recurrent_element_bytes: int = 2

    def bytes_per_sequence(self, *, tp: int = 1, speculative_tokens: int = 0) -> int:
        """Bytes of one sequence's state in this layer on one of `tp` GPUs."""
        conv = (self.conv_rows + speculative_tokens) * (self.conv_width // tp) if self.conv_rows else 0
        return conv * self.conv_element_bytes + self.recurrent_elements // tp * self.recurrent_element_bytes


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of the model, as far as its cache goes. Both empty: feed-forward, or it reads another layer's KV."""

    attention: tuple[AttentionCache, ...] = ()
    state: StateCache | None = None


@dataclass(frozen=True, slots=True)
class Parameters:
    """Counted weights. Totals include embeddings; `active` counts what one token passes through."""

    total: int
    active: int
    embedding: int = 0
    """Input embedding, a table look-up: part of both counts, no arithmetic."""
    output_head: int = 0
    """Elements of the output head that each generated token is multiplied with (also when tied)."""
    routed_experts: int = 0
    """All weights of all routed experts of all layers; 0: a dense model."""
    experts: int = 0
    experts_per_token: int = 0
    tied: bool = False
    """The output head is the embedding: the total counts it once."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """A model as its KV cache sees it: one `Layer` per layer, in order."""

    name: str
    layers: tuple[Layer, ...]
    element_bytes: int = 2
    """Bytes of an element of the model's own dtype; what `auto` stores."""
    draft_layers: tuple[Layer, ...] = ()
    """Layers of the built-in draft (MTP); they hold KV only while speculative decoding is on."""
    encoder_tokens: int | None = None
    """Fixed length of the encoder's output (Whisper: 1,500); None: it depends on the input, or no encoder."""
    max_tokens: int | None = None
    hidden: int | None = None
    heads: int | None = None
    head_dim: int | None = None
    vocab: int | None = None
    intermediate: int | None = None
    parameters: Parameters | None = None
    weights_bytes: int | None = None
    """Read from the weight files where they were given, else counted; None: not known."""
    attention: str = ""
    """The kind for people: `GQA`, `MLA`, `sliding 52 + full 10` …"""
    source: str = ""
    notes: tuple[str, ...] = ()

    @property
    def is_hybrid(self) -> bool:
        """True when some layers keep a constant state instead of, or beside, KV."""
        return any(layer.state is not None for layer in self.layers)

    @property
    def has_cross_attention(self) -> bool:
        return any(cache.span is Span.CROSS for layer in self.layers for cache in layer.attention)

    @property
    def kv_layers(self) -> int:
        """Layers that store keys or values of their own."""
        return sum(1 for layer in self.layers if layer.attention)

    @property
    def longest_window_tokens(self) -> int | None:
        """From this length on only full-attention layers grow; None: every layer grows without end."""
        windows = [
            cache.window_tokens
            for layer in self.layers
            for cache in layer.attention
            if cache.window_tokens is not None and cache.span in (Span.SLIDING, Span.CHUNKED)
        ]
        return max(windows, default=None)

    def with_draft(self, layers: int | None = None) -> Geometry:
        """The same model with its draft layers holding KV too (all, or the first `layers` of them)."""
        return replace(self, layers=self.layers + self.draft_layers[:layers], draft_layers=())

    def counted_attention(self) -> Counter[AttentionCache]:
        """How many layers keep each shape of attention cache."""
        return Counter(cache for layer in self.layers for cache in layer.attention)

    def stages(self, pp: int) -> tuple[tuple[Layer, ...], ...]:
        """The layers of each of `pp` pipeline stages, split as vLLM splits them.

        Evenly; what is left over goes one each to the last stages but the very last (it also holds the output head).
        """
        base, left_over = divmod(len(self.layers), pp)
        sizes = [base] * pp
        for index in range(2, left_over + 2):
            sizes[-min(index, pp)] += 1
        ends = [sum(sizes[: stage + 1]) for stage in range(pp)]
        return tuple(self.layers[end - size : end] for end, size in zip(ends, sizes, strict=True))
