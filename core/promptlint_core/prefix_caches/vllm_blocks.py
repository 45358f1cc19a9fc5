"""vLLM V1: a pool of fixed-size blocks, found by chained hash, freed into one least-recently-used queue.

Rules of vLLM 0.21 (`block_pool`, `kv_cache_manager`, `single_type_kv_cache_manager`); one later change of the free
order is behind `version`.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from promptlint_core.prefix_caches.block_hashes import cap_at_last_token

BLOCK_SIZE = 16
_MOST_FREED = 5_000
UNHASHED_FIRST_SINCE = (0, 22)
"""From the release after 0.21 on, freed blocks without a hash go to the head of the queue, hashed ones to its tail."""


class BlockPool:
    """Physical blocks with reference counts, hashes and the queue of free ones.

    Block 0 is the null block and never handed out, so a pool of n blocks holds n - 1. A hash may belong to several
    blocks (two requests that computed the same block at once); the first one is read.
    """

    __slots__ = (
        "_blocks_of", "_first", "_free", "_hash_of", "_references", "_unhashed_first", "_unused", "_uses",
        "evictions", "size",
    )  # fmt: skip

    def __init__(self, blocks: int, *, version: tuple[int, ...] = (0, 21)) -> None:
        self.size = blocks
        self.evictions = 0
        """Blocks whose content was dropped for another."""
        # The queue of free blocks is these three in a row. Blocks that were never handed out are a number only: a proxy
        # holds a pool for every model that it meets, and most of them stay nearly empty.
        self._first: OrderedDict[int, None] = OrderedDict()
        self._unused = 1
        self._free: OrderedDict[int, None] = OrderedDict()
        self._hash_of: dict[int, Hashable] = {}
        # One number where one block holds a content, as nearly always: a table for each would be most of the memory.
        self._blocks_of: dict[Hashable, int | dict[int, None]] = {}
        self._references = array("l", [0])
        self._uses = array("l", [0])
        self._unhashed_first = version >= UNHASHED_FIRST_SINCE

    @property
    def free_blocks(self) -> int:
        return len(self._first) + self.size - self._unused + len(self._free)

    @property
    def used_share(self) -> float:
        """Blocks held by running requests ÷ usable blocks, as `vllm:kv_cache_usage_perc` counts it."""
        return 1 - self.free_blocks / (self.size - 1)

    def free_order(self) -> list[int]:
        """Free blocks, the next one to be handed out first."""
        return [*self._first, *range(self._unused, self.size), *self._free]

    def find(self, block_hash: Hashable) -> int | None:
        """The block that holds this content, free or in use."""
        blocks = self._blocks_of.get(block_hash)
        return next(iter(blocks)) if isinstance(blocks, dict) else blocks

    def is_free(self, block: int) -> bool:
        return block in self._free or block in self._first or block >= self._unused

    def touch(self, blocks: Sequence[int]) -> None:
        """Hold blocks that were hit: free ones leave the queue."""
        references, free = self._references, self._free
        for block in blocks:
            held = references[block]
            if held == 0 and free.pop(block, 0) == 0:
                del self._first[block]
            references[block] = held + 1

    def take(self, count: int) -> list[int]:
        """Hand out the `count` blocks that were freed longest ago; their old content is lost only now."""
        taken = []
        for _ in range(count):
            block = self._pop()
            if block in self._hash_of:
                self.forget(block)
                self.evictions += 1
            self._references[block] = 1
            self._uses[block] += 1
            taken.append(block)
        return taken

    def _pop(self) -> int:
        if self._first:
            return self._first.popitem(last=False)[0]
        if self._unused < self.size:
            self._unused += 1
            self._references.append(0)
            self._uses.append(0)
            return self._unused - 1
        return self._free.popitem(last=False)[0]

    def use(self, block: int) -> int:
        """How often a block was handed out: tells whether it still holds what it held."""
        return self._uses[block] if block < self._unused else 0

    def remember(self, block: int, block_hash: Hashable) -> None:
        """Enter a full block into the map under its hash."""
        self._hash_of[block] = block_hash
        blocks = self._blocks_of.get(block_hash)
        if blocks is None:
            self._blocks_of[block_hash] = block
        elif isinstance(blocks, dict):
            blocks[block] = None
        else:
            self._blocks_of[block_hash] = {blocks: None, block: None}

    @property
    def known_blocks(self) -> int:
        """Blocks whose content is known: what the memory of this object grows with."""
        return len(self._hash_of)

    def has_hash(self, block: int) -> bool:
        return block in self._hash_of

    def forget(self, block: int) -> None:
        """Drop a block's hash: its content cannot be found any more."""
        block_hash = self._hash_of.pop(block)
        blocks = self._blocks_of[block_hash]
        if isinstance(blocks, dict):
            del blocks[block]
        if not isinstance(blocks, dict) or not blocks:
            del self._blocks_of[block_hash]

    def release(self, blocks: Sequence[int]) -> None:
        """Let go of a request's blocks, given in prompt order: the tail is freed first and evicted first."""
        references, free = self._references, self._free
        unhashed = []
        for block in reversed(blocks):
            references[block] -= 1
            if references[block]:
                continue
            free[block] = None
            if self._unhashed_first and block not in self._hash_of:
                unhashed.append(block)
        for block in reversed(unhashed):
            del free[block]
            self._first[block] = None
            self._first.move_to_end(block, last=False)


@dataclass(slots=True)
class _Held:
    blocks: list[int]
    hashes: list[Hashable]
    tokens: int


@dataclass(slots=True)
class VllmBlocks:
    """Prefix cache of one vLLM engine: full attention, one KV group."""

    blocks: int
    block_size: int = BLOCK_SIZE
    version: tuple[int, ...] = (0, 21)
    query_tokens: int = 0
    """What `vllm:prefix_cache_queries` counts."""
    hit_tokens: int = 0
    """What `vllm:prefix_cache_hits` counts."""
    pool: BlockPool = field(init=False)
    _held: dict[Hashable, _Held] = field(default_factory=dict, init=False)
    _freed: OrderedDict[Hashable, tuple[int, list[int], list[int]]] = field(default_factory=OrderedDict, init=False)
    """Of finished requests: (full blocks of the prompt, the blocks behind them, how often each was handed out)."""

    def __post_init__(self) -> None:
        self.pool = BlockPool(self.blocks, version=self.version)

    def lookup(self, hashes: Sequence[Hashable], tokens: int) -> list[int]:
        """Blocks of the longest cached prefix, at most up to the token before the last."""
        most = cap_at_last_token(tokens, tokens, self.block_size) // self.block_size
        found = []
        for block_hash in hashes[:most]:
            block = self.pool.find(block_hash)
            if block is None:
                break
            found.append(block)
        return found

    def start(self, request: Hashable, hashes: Sequence[Hashable], tokens: int, *, read: bool = True) -> int | None:
        """Look a prompt up and allocate it whole; returns the hit in tokens, None when the pool has no room now.

        Args:
            request: names the request until `finish`.
            hashes: of the prompt's full blocks.
            tokens: length of the prompt.
            read: False for requests that skip the look-up (prompt log-probabilities); they still write.
        """
        found = self.lookup(hashes, tokens) if read else []
        self.query_tokens += tokens if read else 0
        needed = -(-tokens // self.block_size) - len(found)
        if needed > self.pool.free_blocks - sum(self.pool.is_free(block) for block in found):
            return None
        self.pool.touch(found)
        held = _Held([*found, *self.pool.take(needed)], list(hashes), tokens)
        self._remember(held, len(found))
        self._held[request] = held
        hit = len(found) * self.block_size
        self.hit_tokens += hit
        return hit

    def grow(self, request: Hashable, tokens: int, hashes: Sequence[Hashable] = ()) -> bool:
        """Make room for generated tokens; False when the pool has none left or the request holds no blocks.

        Args:
            request: as given to `start`.
            tokens: computed positions now; the token sampled last is not computed yet.
            hashes: of the newly full blocks, where the generated tokens are known.
        """
        held = self._held.get(request)
        if held is None:
            return False
        needed = -(-tokens // self.block_size) - len(held.blocks)
        if needed > self.pool.free_blocks:
            return False
        before = len(held.hashes)
        held.blocks += self.pool.take(max(0, needed))
        held.tokens = max(held.tokens, tokens)
        held.hashes += hashes
        self._remember(held, before)
        return True

    def _remember(self, held: _Held, start: int) -> None:
        for index in range(start, min(len(held.hashes), held.tokens // self.block_size)):
            self.pool.remember(held.blocks[index], held.hashes[index])

    def finish(self, request: Hashable) -> None:
        """Free the blocks of a finished or preempted request; they can be hit until they are reused."""
        held = self._held.pop(request, None)
        if held is not None:
            self.pool.release(held.blocks)
            full = min(len(held.hashes), held.tokens // self.block_size)
            behind = held.blocks[full:]
            self._freed[request] = full, behind, [self.pool.use(block) for block in behind]
            while len(self._freed) > _MOST_FREED:
                self._freed.popitem(last=False)

    def recognize(self, request: Hashable, hashes: Sequence[Hashable]) -> None:
        """The tokens generated by a finished request have become known: its blocks can be found by their hashes.

        `hashes` cover the request's full blocks from the first on; blocks reused since are left alone.
        """
        full, blocks, uses = self._freed.get(request, (0, [], []))
        for block, use, block_hash in zip(blocks, uses, hashes[full:], strict=False):
            if self.pool.use(block) == use and not self.pool.has_hash(block):
                self.pool.remember(block, block_hash)

    def reset(self) -> bool:
        """Drop everything; refused while a request holds blocks."""
        if self._held:
            return False
        self.pool = BlockPool(self.blocks, version=self.version)
        return True


@dataclass(frozen=True, slots=True)
class Group:
    """Layers of one kind that share block tables."""

    name: str
    window_tokens: int | None = None
    """None: full attention."""


def hybrid_hit_tokens(
    pool: BlockPool, hashes: Sequence[Hashable], tokens: int, groups: Sequence[Group], block_size: int
) -> int:
    """The hit that all groups of a hybrid model agree on, in tokens.

    Full attention scans from the left to the first miss; a sliding window needs only the last ceil((w - 1) / block)
    blocks before the boundary. Blocks are entered under (group name, hash).
    """
    length = cap_at_last_token(tokens, tokens, block_size) // block_size
    length = min(length, len(hashes))
    while True:
        before = length
        for group in groups:
            length = _group_hit(pool, [(group.name, h) for h in hashes[:length]], group, block_size)
        if length == before:
            return length * block_size


def _group_hit(pool: BlockPool, keys: Sequence[Hashable], group: Group, block_size: int) -> int:
    present = [pool.find(key) is not None for key in keys]
    if group.window_tokens is None:
        return present.index(False) if False in present else len(present)
    needed = -(-(group.window_tokens - 1) // block_size)
    run = 0
    for index in range(len(present) - 1, -1, -1):
        run = run + 1 if present[index] else 0
        if run == needed:
            return index + needed
    return run  # a run that reaches the first block is whole: nothing lies before it


def mamba_hit_blocks(states: Sequence[bool]) -> int:
    """Hit of a recurrent layer: the last block end at which a state is kept (mode `align` keeps few, `all` every one).

    >>> mamba_hit_blocks([False, False, True]), mamba_hit_blocks([False, False])
    (3, 0)
    """
    return next((index + 1 for index in range(len(states) - 1, -1, -1) if states[index]), 0)
