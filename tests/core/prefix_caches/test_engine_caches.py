"""Engines: vLLM blocks, SGLang radix tree, llama.cpp slots. Vectors from vLLM's and SGLang's own tests and code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptlint_core.prefix_caches.block_hashes import chain, common_prefix
from promptlint_core.prefix_caches.llamacpp_slots import LlamaCppSlots
from promptlint_core.prefix_caches.sglang_radix import RadixCache
from promptlint_core.prefix_caches.vllm_blocks import (
    BlockPool,
    Group,
    VllmBlocks,
    hybrid_hit_tokens,
    mamba_hit_blocks,
)

NEWER = (0, 22)
SHARED = tuple(range(48))


def own(start: int, count: int) -> tuple[int, ...]:
    return tuple(range(1000 * start, 1000 * start + count))


class Engine:
    """A vLLM cache that is told token ids."""

    def __init__(self, blocks: int = 1000, version: tuple[int, ...] = (0, 21)) -> None:
        self.cache = VllmBlocks(blocks, 16, version)

    def start(self, name: str, tokens: Sequence[int], extra_keys: Sequence[str] = ()) -> int | None:
        return self.cache.start(name, chain(tokens, 16, extra_keys=extra_keys), len(tokens))

    def blocks(self, name: str) -> list[int]:
        return self.cache._held[name].blocks

    def order(self) -> list[int]:
        return self.cache.pool.free_order()


def shared_head_while_running(version: tuple[int, ...]) -> tuple[object, ...]:
    engine = Engine(11, version)
    a = engine.start("A", SHARED + own(1, 7))
    a_blocks = list(engine.blocks("A"))
    b = engine.start("B", SHARED + own(2, 5))
    free = engine.cache.pool.free_blocks
    b_blocks = list(engine.blocks("B"))
    engine.cache.finish("A")
    engine.cache.finish("B")
    return a, a_blocks, b, b_blocks, free, engine.order()


def head_evicted_last() -> tuple[object, ...]:
    engine = Engine(11, NEWER)
    engine.start("A", SHARED + own(1, 7))
    engine.cache.finish("A")
    hit = engine.start("C", SHARED + own(3, 6))
    engine.cache.finish("C")
    order = engine.order()
    engine.start("D", own(4, 160))
    return hit, engine.blocks("D") == order, order[-1]


def two_lengths_freed(version: tuple[int, ...]) -> tuple[object, ...]:
    engine = Engine(11, version)
    engine.start("E", own(5, 87))
    engine.start("F", own(6, 48))
    engine.cache.finish("E")
    engine.cache.finish("F")
    order = engine.order()
    hit = engine.start("G", own(5, 35))
    return order, hit, engine.blocks("G")[-1]


def twice(tokens: int) -> int | None:
    engine = Engine()
    engine.start("1", own(1, tokens))
    engine.cache.finish("1")
    return engine.start("2", own(1, tokens))


def partly_shared() -> int | None:
    engine = Engine()
    engine.start("A", own(1, 40))
    return engine.start("B", own(1, 20) + own(2, 30))


def other_salt() -> int | None:
    engine = Engine()
    engine.start("A", own(1, 100), ("salt a",))
    return engine.start("B", own(1, 100), ("salt b",))


def first_token_differs() -> int | None:
    engine = Engine()
    engine.start("A", own(1, 100))
    return engine.start("B", (7, *own(1, 100)[1:]))


def second_turn() -> int | None:
    engine = Engine()
    turn = own(1, 40)
    engine.cache.start("1", chain(turn[:30], 16), 30)
    assert engine.cache.grow("1", 39, chain(turn, 16)[1:])
    engine.cache.finish("1")
    return engine.start("2", turn + own(2, 20))


def without_lookup() -> tuple[int | None, int | None]:
    engine = Engine()
    hashes = chain(own(1, 64), 16)
    engine.cache.start("1", hashes, 64, read=False)
    return engine.cache.query_tokens, engine.start("2", own(1, 64))


def same_step_twice() -> int:
    """Two requests that compute one block at once keep two copies; either is found."""
    pool = BlockPool(11)
    one, two = pool.take(2)
    pool.remember(one, "h")
    pool.remember(two, "h")
    pool.forget(one)
    found = pool.find("h")
    return -1 if found is None else found - two


def hybrid(*evicted: tuple[str, int]) -> int:
    groups = (Group("full"), Group("window 1", 32), Group("window 2", 32))
    pool = BlockPool(40)
    hashes = chain(own(1, 55), 16)
    for group in groups:
        for index, (block, block_hash) in enumerate(zip(pool.take(3), hashes, strict=True)):
            if (group.name, index) not in evicted and ("all", index) not in evicted:
                pool.remember(block, (group.name, block_hash))
    return hybrid_hit_tokens(pool, hashes, 55, groups, 16)


@dataclass(frozen=True)
class Vector:
    name: str
    run: Callable[[], object]
    expected: object


VLLM = (
    Vector(
        "a running request's head is shared, tail blocks are freed first (newer than 0.21)",
        lambda: shared_head_while_running(NEWER),
        (0, [1, 2, 3, 4], 48, [1, 2, 3, 5], 5, [5, 4, 6, 7, 8, 9, 10, 3, 2, 1]),
    ),
    Vector(
        "the same in 0.21",
        lambda: shared_head_while_running((0, 21)),
        (0, [1, 2, 3, 4], 48, [1, 2, 3, 5], 5, [6, 7, 8, 9, 10, 4, 5, 3, 2, 1]),
    ),
    Vector("a request that needs every block takes the shared head last", head_evicted_last, (48, True, 1)),
    Vector(
        "unhashed blocks go first (newer)",
        lambda: two_lengths_freed(NEWER),
        ([6, 10, 5, 4, 3, 2, 1, 9, 8, 7], 32, 6),
    ),
    Vector(
        "unhashed blocks keep their turn (0.21)",
        lambda: two_lengths_freed((0, 21)),
        ([10, 6, 5, 4, 3, 2, 1, 9, 8, 7], 32, 10),
    ),
    Vector("a prompt of whole blocks recomputes its last block", lambda: twice(48), 32),
    Vector("one token more and all whole blocks are read", lambda: twice(49), 48),
    Vector("a partly shared block is not read", partly_shared, 16),
    Vector("another salt or adapter shares nothing", other_salt, 0),
    Vector("a change of the first token loses everything", first_token_differs, 0),
    Vector("generated tokens are read but for the last", second_turn, 32),
    Vector("a request without look-up still writes", without_lookup, (0, 48)),
    Vector("a block computed twice survives the loss of one copy", same_step_twice, 0),
    Vector("hybrid: three blocks", hybrid, 48),
    Vector("hybrid: a window does not need its first block", lambda: hybrid(("window 1", 0)), 48),
    Vector("hybrid: full attention needs its first block", lambda: hybrid(("full", 0)), 0),
    Vector("hybrid: the third block gone everywhere", lambda: hybrid(("all", 2)), 32),
    Vector("recurrent: a state at the boundary only", lambda: mamba_hit_blocks([False, True, False]), 2),
    Vector("recurrent: shared blocks without a state", lambda: mamba_hit_blocks([False, False]), 0),
)


def tree(*prompts: Sequence[int]) -> RadixCache:
    cache = RadixCache()
    for prompt in prompts:
        cache.insert(prompt)
    return cache


def under_key(key: str | None) -> int:
    cache = RadixCache()
    cache.insert([1, 2, 3], "key1")
    return cache.match([1, 2, 3], key)


def paged() -> tuple[int, int]:
    cache = RadixCache(page_size=4)
    cache.insert(list(range(10)))
    return cache.total_tokens, cache.match(list(range(7)))


def evicted(locked: bool) -> tuple[int, int]:
    cache = tree([1, 2, 3, 4], [1, 2, 5, 6])
    if locked:
        cache.lock([1, 2, 3, 4])
    cache.match([1, 2, 5, 6])
    cache.evict(1)
    return cache.match([1, 2, 3, 4]), cache.match([1, 2, 5, 6])


SGLANG = (
    Vector("an inserted prompt is counted", lambda: tree([1, 2, 3]).total_tokens, 3),
    Vector("it matches whole", lambda: tree([1, 2, 3]).match([1, 2, 3]), 3),
    Vector("a prefix of it matches", lambda: tree([1, 2, 3]).match([1, 2]), 2),
    Vector("its own key finds it", lambda: under_key("key1"), 3),
    Vector("another key does not", lambda: under_key("key2"), 0),
    Vector("no key does not", lambda: under_key(None), 0),
    Vector("disjoint prompts add up", lambda: tree([1, 2, 3], [4, 5]).total_tokens, 5),
    Vector("47 shared tokens are 47", lambda: tree(range(60)).match([*range(47), 99]), 47),
    Vector("pages cut a prompt", paged, (8, 4)),
    Vector("the leaf used longest ago goes", lambda: evicted(False), (2, 4)),
    Vector("the leaf of a running request stays", lambda: evicted(True), (4, 2)),
)


def slots(count: int, *asks: tuple[str, Sequence[int]], saved: int | None = None) -> list[int | None]:
    server = LlamaCppSlots(count, saved_tokens=saved)
    hits = []
    for name, prompt in asks:
        hits.append(server.start(name, prompt))
        server.finish(name)
    return hits


LLAMACPP = (
    Vector("the last token is computed anew", lambda: slots(1, ("a", range(50)), ("b", range(50))), [0, 49]),
    Vector("any common token counts", lambda: slots(1, ("a", range(50)), ("b", [*range(20), 99])), [0, 20]),
    Vector(
        "one slot, two conversations: the second drives the first out, without the RAM cache",
        lambda: slots(1, ("a", own(1, 90)), ("b", own(2, 90)), ("c", own(1, 90)), saved=0),
        [0, 0, 0],
    ),
    Vector(
        "the RAM cache brings it back",
        lambda: slots(1, ("a", own(1, 90)), ("b", own(2, 90)), ("c", own(1, 90))),
        [0, 0, 89],
    ),
    Vector(
        "two slots keep two conversations",
        lambda: slots(2, ("a", own(1, 90)), ("b", own(2, 90)), ("c", own(1, 90)), ("d", own(2, 90)), saved=0),
        [0, 0, 89, 89],
    ),
    Vector(
        "too little in common is no reason to take a slot",
        lambda: slots(2, ("a", own(1, 100)), ("b", [*own(1, 5), *own(2, 95)]), ("c", own(1, 100)), saved=0),
        [0, 0, 99],
    ),
)


@pytest.mark.parametrize("vector", VLLM + SGLANG + LLAMACPP, ids=lambda vector: vector.name)
def test_engine_gives_back(vector: Vector) -> None:
    assert vector.expected == vector.run()


def test_a_busy_server_has_no_slot_to_give() -> None:
    server = LlamaCppSlots(1)
    server.start("a", range(10))

    assert server.start("b", range(10)) is None


def test_generated_tokens_extend_the_slot() -> None:
    server = LlamaCppSlots(1)
    server.start("a", range(10))
    server.finish("a", [10, 11, 12])

    assert server.start("b", range(20)) == 12


def test_a_pool_without_room_makes_a_request_wait() -> None:
    engine = Engine(5)
    engine.start("A", own(1, 64))

    assert engine.start("B", own(2, 16)) is None
    assert not engine.cache.grow("A", 65)

    engine.cache.finish("A")

    assert engine.start("B", own(2, 16)) == 0


def test_reset_is_refused_while_a_request_runs() -> None:
    engine = Engine()
    engine.start("A", own(1, 64))

    assert not engine.cache.reset()

    engine.cache.finish("A")

    assert engine.cache.reset()
    assert engine.start("B", own(1, 64)) == 0


def test_a_recognized_answer_is_not_read_from_reused_blocks() -> None:
    engine = Engine(6)
    turn = own(1, 64)
    engine.cache.start("1", chain(turn[:30], 16), 30)
    engine.cache.grow("1", 63)
    engine.cache.finish("1")
    engine.start("2", own(2, 80))  # takes every block
    engine.cache.finish("2")
    engine.cache.recognize("1", chain(turn, 16))

    assert engine.start("3", turn + own(3, 1)) == 0


PROMPTS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=70), min_size=1, max_size=25)


@given(prompts=PROMPTS, blocks=st.integers(2, 12), finish=st.lists(st.booleans(), min_size=25, max_size=25))
def test_the_pool_never_loses_or_doubles_a_block(prompts: list[list[int]], blocks: int, finish: list[bool]) -> None:
    """Every block is free or held; a hit never exceeds what a cache without limit would give."""
    cache = VllmBlocks(blocks, 4)
    seen: list[list[int]] = []
    for index, (prompt, done) in enumerate(zip(prompts, finish, strict=False)):
        hit = cache.start(index, chain(prompt, 4), len(prompt))
        if hit is not None:
            best = max((common_prefix(prompt, other) for other in seen), default=0)
            assert hit <= min(best, len(prompt) - 1) // 4 * 4
            seen.append(prompt)
            if done:
                cache.finish(index)
        held = {block for request in cache._held.values() for block in request.blocks}
        free = cache.pool.free_order()
        assert len(free) == len(set(free))
        assert held.isdisjoint(free)
        assert held | set(free) == set(range(1, blocks))


@given(prompts=PROMPTS, capacity=st.integers(8, 120))
def test_the_tree_matches_exactly_what_was_inserted(prompts: list[list[int]], capacity: int) -> None:
    tree_, bounded, seen = RadixCache(), RadixCache(capacity), []
    for prompt in prompts:
        assert tree_.match(prompt) == max((common_prefix(prompt, other) for other in seen), default=0)
        assert bounded.match(prompt) <= tree_.match(prompt)
        tree_.insert(prompt)
        bounded.insert(prompt)
        seen.append(prompt)
        assert bounded.total_tokens <= capacity
