"""Block traces (the Mooncake form): requests as lists of block hashes, and what a pool of some size gives back of them.

One JSON object a line: `timestamp` (ms), `input_length`, `output_length`, `hash_ids` with ceil(input ÷ 512) ids; equal
id, equal prefix up to and including that block; the last block is usually a partial one and counts as it is published.
Replay rule: count the leading ids that are cached, then touch or insert all ids of the request, then evict.
"""

from __future__ import annotations

import gzip
import heapq
import json
import math
import re
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TextIO

from promptlint_core.errors import PromptlintError

BLOCK_TOKENS = 512
DEFAULT_CAPACITIES: tuple[int | None, ...] = (None, 100_000, 50_000, 30_000, 10_000, 5_859, 3_000, 1_000)
"""Blocks; None: infinite."""
_MOST_TOKENS = 1 << 40


class Policy(StrEnum):
    """Which block goes when the pool is full."""

    LRU = "lru"
    """Least recently used; blocks of a request in prompt order, so its head is the oldest."""
    TAIL_FIRST = "tail-first"
    """The same with the blocks in reverse order, as vLLM frees them: the tail goes before the head."""
    LFU = "lfu"
    """Fewest uses, then least recent."""
    LENGTH_AWARE = "length-aware"
    """Fewest uses, then the later position in its prompt, then least recent."""


@dataclass(frozen=True, slots=True)
class BlockRequest:
    """One line of a trace."""

    at_s: float
    prompt_tokens: int
    output_tokens: int
    blocks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class HitRow:
    """Simulated hits of one policy and capacity."""

    capacity_blocks: int | None
    """None: infinite."""
    policy: str
    hit_blocks: int
    blocks: int
    hit_tokens: int
    prompt_tokens: int
    block_hit_rate: float
    token_hit_rate: float
    mean_request_hit_rate: float
    """Mean over the requests of hit blocks ÷ blocks."""


@dataclass(frozen=True, slots=True)
class HitTables:
    """What `hit_tables` returns."""

    trace: str
    requests: int
    distinct_blocks: int
    block_tokens: int
    rows: tuple[HitRow, ...]


def _open(path: Path) -> TextIO:
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rt", encoding="utf-8") if packed else path.open(encoding="utf-8")


def is_block_trace(path: Path) -> bool:
    """True when the first line of a (gzip) file is a JSON object with `hash_ids`."""
    try:
        with _open(path) as file:
            first = json.loads(file.readline(1 << 20))
    except (OSError, ValueError, EOFError, RecursionError, zlib.error):
        return False
    return isinstance(first, dict) and isinstance(first.get("hash_ids"), list) and "input_length" in first


def read_block_trace(path: Path) -> Iterator[BlockRequest]:
    """The requests of a trace in file order. Raises PromptlintError at a line that is none."""
    try:
        with _open(path) as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _request(path, number, line)
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise PromptlintError(f"{path} cannot be read: {error}") from error


def _request(path: Path, number: int, line: str) -> BlockRequest:
    try:
        row = json.loads(line)
        at_ms, blocks = float(row["timestamp"]), row["hash_ids"]
        if not math.isfinite(at_ms):
            raise ValueError(f"the time is {at_ms}")
        if not isinstance(blocks, list) or not all(isinstance(block, int | str) for block in blocks):
            raise ValueError("`hash_ids` is no list of numbers")
        prompt, output = _count(row["input_length"]), _count(row.get("output_length") or 0)
        return BlockRequest(at_ms / 1000.0, prompt, output, tuple(blocks))
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise PromptlintError(f"{path}:{number} is no line of a block trace: {error}") from error


def _count(value: str | float) -> int:
    number = int(value)
    if not 0 <= number <= _MOST_TOKENS:
        raise ValueError(f"{value} is no count of tokens")
    return number


class _Cache(Protocol):
    def __contains__(self, block: int) -> bool: ...

    def use(self, blocks: Sequence[int]) -> None: ...


class _Recency:
    """Least recently used; `tail_first` enters the blocks of a request in reverse."""

    def __init__(self, capacity: int | None, *, tail_first: bool) -> None:
        self._capacity = capacity
        self._tail_first = tail_first
        self._blocks: OrderedDict[int, None] = OrderedDict()

    def __contains__(self, block: int) -> bool:
        return block in self._blocks

    def use(self, blocks: Sequence[int]) -> None:
        for block in reversed(blocks) if self._tail_first else blocks:
            self._blocks[block] = None
            self._blocks.move_to_end(block)
        while self._capacity is not None and len(self._blocks) > self._capacity:
            self._blocks.popitem(last=False)


class _Ranked:
    """Evicts the smallest rank. A heap with one valid entry a block; older ones are dropped when they come up."""

    def __init__(self, capacity: int | None, *, by_position: bool) -> None:
        self._capacity = capacity
        self._by_position = by_position
        self._rank: dict[int, tuple[int, int, int]] = {}
        self._heap: list[tuple[tuple[int, int, int], int]] = []
        self._clock = 0

    def __contains__(self, block: int) -> bool:
        return block in self._rank

    def use(self, blocks: Sequence[int]) -> None:
        for position, block in enumerate(blocks):
            self._clock += 1
            count = self._rank[block][0] + 1 if block in self._rank else 1
            rank = (count, -position if self._by_position else 0, self._clock)
            self._rank[block] = rank
            if self._capacity is not None:
                heapq.heappush(self._heap, (rank, block))
        while self._capacity is not None and len(self._rank) > self._capacity:
            rank, block = heapq.heappop(self._heap)
            if self._rank.get(block) == rank:
                del self._rank[block]


def _cache(policy: Policy, capacity: int | None) -> _Cache:
    if policy in (Policy.LRU, Policy.TAIL_FIRST):
        return _Recency(capacity, tail_first=policy is Policy.TAIL_FIRST)
    return _Ranked(capacity, by_position=policy is Policy.LENGTH_AWARE)


def replay(
    requests: Sequence[BlockRequest], capacity: int | None, policy: Policy, block_tokens: int = BLOCK_TOKENS
) -> HitRow:
    """Send a trace through one pool.

    >>> twice = [BlockRequest(0.0, 1000, 1, (1, 2)), BlockRequest(1.0, 1000, 1, (1, 2))]
    >>> replay(twice, None, Policy.LRU).hit_tokens, replay(twice, 1, Policy.LRU).hit_tokens
    (1000, 0)
    """
    cache = _cache(policy, capacity)
    hit_blocks = blocks = hit_tokens = prompt_tokens = 0
    shares = 0.0
    for request in requests:
        hits = 0
        for block in request.blocks:
            if block not in cache:
                break
            hits += 1
        cache.use(request.blocks)
        hit_blocks += hits
        blocks += len(request.blocks)
        hit_tokens += min(block_tokens * hits, request.prompt_tokens)
        prompt_tokens += request.prompt_tokens
        shares += hits / len(request.blocks) if request.blocks else 0.0
    return HitRow(
        capacity,
        str(policy),
        hit_blocks,
        blocks,
        hit_tokens,
        prompt_tokens,
        hit_blocks / blocks if blocks else 0.0,
        hit_tokens / prompt_tokens if prompt_tokens else 0.0,
        shares / len(requests) if requests else 0.0,
    )


def hit_tables(
    path: Path,
    capacities: Sequence[int | None] | None = None,
    policies: Sequence[Policy] = tuple(Policy),
    *,
    block_tokens: int = BLOCK_TOKENS,
) -> HitTables:
    """Replay a block trace for every capacity and policy.

    Args:
        path: plain or gzip.
        capacities: in tokens; None: infinite. Without any: `DEFAULT_CAPACITIES` (which count blocks).
        policies: all of them by default.
        block_tokens: tokens per id; 512 in Mooncake's traces.

    Raises:
        PromptlintError: the file is no block trace, or a capacity is below one block.
    """
    requests = list(read_block_trace(path))
    if not requests:
        raise PromptlintError(f"{path} holds no request")
    blocks = DEFAULT_CAPACITIES if not capacities else [_blocks(tokens, block_tokens) for tokens in capacities]
    rows = tuple(replay(requests, capacity, policy, block_tokens) for capacity in blocks for policy in policies)
    distinct = len({block for request in requests for block in request.blocks})
    return HitTables(path.name, len(requests), distinct, block_tokens, rows)


_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


def parse_capacities(text: str) -> list[int | None]:
    """Pool sizes in tokens: `10k,100k,1M`, `infinite`. Raises PromptlintError for anything else.

    >>> parse_capacities("10k, infinite")
    [10000, None]
    """
    found: list[int | None] = []
    for part in text.split(","):
        word = part.strip().lower()
        if word in ("infinite", "inf"):
            found.append(None)
            continue
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)", word)
        tokens = int(float(match[1]) * _UNITS[match[2]]) if match else 0
        if tokens < 1:
            raise PromptlintError(f"{part.strip()!r} is no capacity in tokens: write 10k, 1M or infinite")
        found.append(tokens)
    return found


def _blocks(tokens: int | None, block_tokens: int) -> int | None:
    if tokens is None:
        return None
    if tokens < block_tokens:
        raise PromptlintError(f"a capacity of {tokens} tokens is less than one block of {block_tokens}")
    return tokens // block_tokens


def render_text(tables: HitTables) -> str:
    """The tables for people."""
    head = (
        f"{tables.trace}: {tables.requests:,} requests, {tables.distinct_blocks:,} distinct blocks of "
        f"{tables.block_tokens} tokens; simulated hit rates"
    )
    titles = f"{'capacity':>10} {'tokens':>14}  {'policy':<13} {'blocks':>7} {'tokens':>7} {'request mean':>13}"
    lines = [head, "", titles]
    for row in tables.rows:
        infinite = row.capacity_blocks is None
        capacity = "infinite" if infinite else f"{row.capacity_blocks:,}"
        tokens = "" if row.capacity_blocks is None else f"{row.capacity_blocks * tables.block_tokens:,}"
        lines.append(
            f"{capacity:>10} {tokens:>14}  {row.policy:<13} {row.block_hit_rate:>7.4f} {row.token_hit_rate:>7.4f} "
            f"{row.mean_request_hit_rate:>13.4f}"
        )
    return "\n".join(lines)


def render_json(tables: HitTables) -> str:
    """The tables as JSON with a version."""
    return json.dumps({"version": 1, "block_trace": asdict(tables)}, indent=2)
