"""DeepSeek: prefixes are kept on disk as whole units; a hit needs a complete unit.

Units stand at the end of a prompt, at the end of its answer, and where the service noticed that two requests share a
prefix: A+B then A+C misses, a third A+D can read A. Fixed intervals exist too, their size is unpublished since the
64 tokens of 2024. Source: api-docs.deepseek.com kv_cache.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Hashable, Sequence

from promptlint_core.prefix_caches.block_hashes import chain
from promptlint_core.prefix_caches.entries import Entries

GRAIN_TOKENS = 64
"""Common prefixes are compared and told in this grain."""
LIFE_S = 6 * 3600.0
"""Published as hours to days."""
_MOST_ENDS_PER_BLOCK = 8
_MOST_BLOCKS_WITH_ENDS = 20_000


class UnitCache:
    """Units of one account. `space` separates models and `user_id`s."""

    def __init__(self) -> None:
        self._seen = Entries()
        self._units = Entries()
        self._ends: OrderedDict[Hashable, list[tuple[array[int], float]]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._seen) + len(self._units) + len(self._ends)

    def read(self, space: Hashable, tokens: Sequence[int], at: float) -> int:
        """Length of the longest complete unit that starts this prompt, in tokens."""
        hashes = (0, *chain(tokens, GRAIN_TOKENS))
        best = 0
        for index, block_hash in enumerate(hashes):
            start = index * GRAIN_TOKENS
            if index and self._units.alive((space, block_hash), at):
                best = max(best, start)
            for tail, available_from in self._ends.get((space, block_hash), ()):
                if available_from <= at and array("I", tokens[start : start + len(tail)]) == tail:
                    best = max(best, start + len(tail))
        return best

    def write(self, space: Hashable, tokens: Sequence[int], at: float, *, available_from: float) -> None:
        """Keep the end of a prompt (or of prompt and answer) and the prefix it shares with an earlier one."""
        hashes = (0, *chain(tokens, GRAIN_TOKENS))
        shared = 0
        for index, block_hash in enumerate(hashes[1:], start=1):
            if shared == index - 1 and self._seen.alive((space, block_hash), at):
                shared = index
            self._seen.write((space, block_hash), at, LIFE_S, available_from=available_from)
        if shared:
            self._units.write((space, hashes[shared]), at, LIFE_S, available_from=available_from)
        key = (space, hashes[-1])
        tail = array("I", tokens[(len(hashes) - 1) * GRAIN_TOKENS :])
        if not tail:
            self._units.write(key, at, LIFE_S, available_from=available_from)
            return
        ends = self._ends.setdefault(key, [])
        if all(known != tail for known, _ in ends):
            ends.append((tail, available_from))
            del ends[:-_MOST_ENDS_PER_BLOCK]
        self._ends.move_to_end(key)
        while len(self._ends) > _MOST_BLOCKS_WITH_ENDS:
            self._ends.popitem(last=False)
