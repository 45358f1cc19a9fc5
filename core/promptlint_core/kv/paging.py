"""How vLLM lays a model's cache out in blocks: groups of layers that share one page size.

Modelled on vLLM 0.21 (`kv_cache_utils`); the arithmetic is checked against public start-up logs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from promptlint_core.errors import PromptlintError
from promptlint_core.kv.cache_dtype import CacheDtype, parse_cache_dtype
from promptlint_core.kv.geometry import AttentionCache, Geometry, Layer, Span, StateCache
from promptlint_core.kv.size import blocks_of, check_parallel

__all__ = ["PageGroup", "PagedLayout", "paged_layout"]

_LATENT_ALIGNMENT = 64
_ALIGNMENT = 16
_NEARLY_EQUAL = Fraction(3, 2)
_MAMBA_STATES = {"none": 1, "align": 2}


@dataclass(frozen=True, slots=True)
class PageGroup:
    """Layers of one kind; the allocator hands them out in `groups` groups of equal size, the last one padded."""

    cache: AttentionCache | StateCache
    layers: int
    groups: int
    block_size: int
    """Tokens a block of this group holds."""

    @property
    def span(self) -> str:
        return "state" if isinstance(self.cache, StateCache) else str(self.cache.span)

    def blocks_per_request(self, tokens: int, budget: int, states: int, encoder_tokens: int) -> int:
        """Blocks one request of `tokens` takes in one of these groups."""
        if isinstance(self.cache, StateCache):
            return states
        return blocks_of(self.cache, tokens, self.block_size, budget, encoder_tokens)

    def shareable_blocks(self, prefix_tokens: int) -> int:
        """Full blocks of a common prefix that are stored once, whoever uses them."""
        if isinstance(self.cache, StateCache) or self.cache.span is not Span.FULL:
            return 0
        return prefix_tokens // self.block_size


@dataclass(frozen=True, slots=True)
class PagedLayout:
    groups: tuple[PageGroup, ...]
    bytes_per_block: int
    """Bytes of one block id: the pages of all layers that it stands for."""
    group_size: int
    block_size: int
    """Of full attention."""
    states_per_request: int

    @property
    def group_count(self) -> int:
        return sum(group.groups for group in self.groups)

    def blocks(self, pool_bytes: int) -> int:
        return max(0, pool_bytes) // self.bytes_per_block

    def blocks_per_request(self, tokens: int, *, max_num_batched_tokens: int, encoder_tokens: int = 0) -> int:
        """Blocks that a request of `tokens` takes in all groups together."""
        return sum(
            group.groups
            * group.blocks_per_request(tokens, max_num_batched_tokens, self.states_per_request, encoder_tokens)
            for group in self.groups
        )

    def shareable_blocks(self, prefix_tokens: int) -> int:
        return sum(group.groups * group.shareable_blocks(prefix_tokens) for group in self.groups)

    def tokens_before_0_21(self, pool_bytes: int) -> int:
        """`GPU KV cache size` as vLLM up to 0.20 prints it: blocks ÷ groups × block size; too small for hybrids."""
        return self.blocks(pool_bytes) // self.group_count * self.block_size


def paged_layout(
    geometry: Geometry,
    *,
    kv_dtype: str = "auto",
    tp: int = 1,
    pp: int = 1,
    block_size: int = 16,
    mamba_mode: str = "none",
    speculative_tokens: int = 0,
    alignment: int | None = None,
) -> PagedLayout:
    """Lay out the tightest pipeline stage.

    A group has as many layers as the rarest kind, or as the most common one when that is less than 1.5 times as many.
    All groups share one page size: the block of the cheaper kind is raised; with recurrent layers the attention block
    is raised until it holds a whole state.

    Args:
        block_size: tokens of one attention block, from 1.
        mamba_mode: `none` keeps one state a request, `align` two.
        alignment: multiple that a raised attention block keeps to; None: 16, or 64 with latent attention.

    Raises:
        PromptlintError: an unknown dtype, a split that no engine makes, or a model that keeps nothing.
    """
    check_parallel(geometry, tp, pp)
    if block_size < 1:
        raise PromptlintError(f"a block holds at least one token, not {block_size}")
    dtype = parse_cache_dtype(kv_dtype, geometry.element_bytes)
    states = _MAMBA_STATES.get(mamba_mode, 1) + speculative_tokens
    layouts = [
        _stage_layout(_pages(stage, dtype, tp, speculative_tokens), block_size, states, alignment)
        for stage in geometry.stages(pp)
        if any(layer.attention or layer.state for layer in stage)
    ]
    tightest = max(layouts, key=lambda layout: layout.bytes_per_block, default=None)
    if tightest is None or not tightest.bytes_per_block:
        raise PromptlintError(
            f"{geometry.name} keeps neither keys and values nor a state: there are no blocks to count"
        )
    return tightest


@dataclass(frozen=True, slots=True)
class _Pages:
    attention: Counter[AttentionCache]
    slot_bytes: dict[AttentionCache, Fraction]
    """Per token and layer; compressed layers count their share."""
    states: Counter[StateCache]
    state_bytes: dict[StateCache, int]


def _pages(stage: Sequence[Layer], dtype: CacheDtype, tp: int, speculative_tokens: int) -> _Pages:
    attention = Counter(cache for layer in stage for cache in layer.attention)
    states = Counter(layer.state for layer in stage if layer.state is not None)
    return _Pages(
        attention,
        {cache: dtype.slot_bytes(cache, tp) / cache.compress_ratio for cache in attention},
        states,
        {state: state.bytes_per_sequence(tp=tp, speculative_tokens=speculative_tokens) for state in states},
    )


def _stage_layout(pages: _Pages, block_size: int, states: int, alignment: int | None) -> PagedLayout:
    spans = {cache.span for cache in pages.attention}
    if not pages.states and spans == {Span.FULL}:
        return _uniform(pages, block_size)
    block = _raised_block(pages, block_size, alignment)
    page = max(
        [int(block * slot) for slot in pages.slot_bytes.values()] or list(pages.state_bytes.values()),
    )
    counts = [*pages.attention.values(), *pages.states.values()]
    fewest, most = min(counts), max(counts)
    group_size = most if most < _NEARLY_EQUAL * fewest else fewest
    groups = [
        PageGroup(cache, number, ceil(number / group_size), max(block, int(page / pages.slot_bytes[cache])))
        for cache, number in pages.attention.items()
    ]
    groups += [PageGroup(state, number, ceil(number / group_size), block) for state, number in pages.states.items()]
    full = next((group.block_size for group in groups if group.span == Span.FULL), block)
    return PagedLayout(tuple(groups), page * group_size, group_size, full, states)


def _uniform(pages: _Pages, block_size: int) -> PagedLayout:
    """Full attention alone: one group; layers of different shape each have pages of their own size."""
    layers = sum(pages.attention.values())
    whole = sum(
        (number * block_size * pages.slot_bytes[cache] for cache, number in pages.attention.items()), Fraction(0)
    )
    first = next(iter(pages.attention))
    return PagedLayout((PageGroup(first, layers, 1, block_size),), ceil(whole), layers, block_size, 0)


def _raised_block(pages: _Pages, block_size: int, alignment: int | None) -> int:
    """Attention block that holds a whole recurrent state: a × ceil(state ÷ (a × bytes per token and layer))."""
    if not pages.states or not pages.attention:
        return block_size
    state = max(pages.state_bytes.values())
    slot = max(pages.slot_bytes.values())
    if state <= block_size * slot:
        return block_size
    latent = any(cache.latent for cache in pages.attention)
    step = alignment or (_LATENT_ALIGNMENT if latent else _ALIGNMENT)
    return step * ceil(state / (step * slot))
