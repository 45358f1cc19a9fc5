"""SGLang: a radix tree over token ids in pages, one tree per extra key; unlocked leaves go, least recently used first.

Rules of SGLang 0.5.23 (`radix_cache`). Any shared page counts: 47 shared tokens are 47 at page size 1.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Hashable, Sequence
from itertools import count

from promptlint_core.prefix_caches.block_hashes import common_prefix


class _Node:
    __slots__ = ("children", "last_access", "locks", "parent", "tokens")

    def __init__(self, tokens: array[int], parent: _Node | None, last_access: int) -> None:
        self.tokens = tokens
        self.parent = parent
        self.children: dict[Hashable, _Node] = {}
        self.last_access = last_access
        self.locks = 0


class RadixCache:
    """The tree. Capacity counts tokens; None is unlimited."""

    def __init__(self, capacity_tokens: int | None = None, page_size: int = 1) -> None:
        self.capacity_tokens = capacity_tokens
        self.page_size = page_size
        self.total_tokens = 0
        self.nodes = 0
        self._clock = count(1)
        self._root = _Node(array("I"), None, 0)

    def _edge(self, tokens: array[int], extra_key: str | None) -> Hashable:
        return (extra_key, *tokens[: self.page_size])

    def match(self, tokens: Sequence[int], extra_key: str | None = None) -> int:
        """Length of the longest cached prefix, in tokens, a multiple of the page; the scheduler passes n - 1 tokens."""
        return self._walk(self._paged(tokens), extra_key)[1]

    def _paged(self, tokens: Sequence[int]) -> array[int]:
        """Whole pages, as an array: sequences of different types never compare equal."""
        return array("I", tokens[: len(tokens) // self.page_size * self.page_size])

    def _walk(self, tokens: array[int], extra_key: str | None) -> tuple[_Node, int]:
        """Follow a prompt down the tree; a partial match splits its node."""
        node, matched, now = self._root, 0, next(self._clock)
        while matched < len(tokens):
            rest = tokens[matched:]
            child = node.children.get(self._edge(rest, extra_key))
            if child is None:
                break
            child.last_access = now
            shared = common_prefix(child.tokens, rest) // self.page_size * self.page_size
            if shared < len(child.tokens):
                child = self._split(child, shared, extra_key)
            node, matched = child, matched + shared
            if shared < min(len(child.tokens), len(rest)):
                break
        return node, matched

    def _split(self, child: _Node, at: int, extra_key: str | None) -> _Node:
        parent = child.parent
        assert parent is not None
        head = _Node(child.tokens[:at], parent, child.last_access)
        head.locks = child.locks
        self.nodes += 1
        parent.children[self._edge(head.tokens, extra_key)] = head
        child.tokens, child.parent = child.tokens[at:], head
        head.children[self._edge(child.tokens, extra_key)] = child
        return head

    def insert(self, tokens: Sequence[int], extra_key: str | None = None) -> int:
        """Enter a computed prompt (and its output); returns how much of it was there already."""
        tokens = self._paged(tokens)
        node, matched = self._walk(tokens, extra_key)
        rest = tokens[matched:]
        if len(rest):
            leaf = _Node(rest, node, node.last_access if node is not self._root else next(self._clock))
            node.children[self._edge(rest, extra_key)] = leaf
            self.total_tokens += len(rest)
            self.nodes += 1
        if self.capacity_tokens is not None:
            self.evict(self.total_tokens - self.capacity_tokens)
        return matched

    def lock(self, tokens: Sequence[int], extra_key: str | None = None, by: int = 1) -> None:
        """Protect the path of a running request; `by=-1` lets go."""
        node: _Node | None = self._walk(self._paged(tokens), extra_key)[0]
        while node is not None:
            node.locks = max(0, node.locks + by)
            node = node.parent

    def evict(self, tokens: int) -> int:
        """Remove whole unlocked leaves until at least so many tokens are free; returns what was freed."""
        if tokens <= 0:
            return 0
        heap = [(node.last_access, id(node), node) for node in self._leaves()]
        heapq.heapify(heap)
        freed = 0
        while heap and freed < tokens:
            _, _, node = heapq.heappop(heap)
            parent = node.parent
            assert parent is not None
            parent.children = {edge: child for edge, child in parent.children.items() if child is not node}
            freed += len(node.tokens)
            self.nodes -= 1
            if not parent.children and not parent.locks and parent is not self._root:
                heapq.heappush(heap, (parent.last_access, id(parent), parent))
        self.total_tokens -= freed
        return freed

    def _leaves(self) -> list[_Node]:
        leaves, stack = [], [self._root]
        while stack:
            node = stack.pop()
            stack.extend(node.children.values())
            if not node.children and not node.locks and node is not self._root:
                leaves.append(node)
        return leaves
