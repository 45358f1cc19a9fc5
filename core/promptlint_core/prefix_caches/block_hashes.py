"""Chained hashes of full blocks: equal hash, equal prefix up to and including that block."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from hashlib import blake2b

HASH_BYTES = 8


def chain(
    tokens: Sequence[int], block_size: int, *, extra_keys: Sequence[str] = (), key: bytes = b""
) -> tuple[int, ...]:
    """Signed 64-bit hashes of the full blocks of a prompt, each chained to its parent.

    Args:
        tokens: token ids of the prompt.
        block_size: tokens per block; what is left over at the end has no hash.
        extra_keys: what else separates caches (adapter, salt, image ids); enters the first block, and so all.
        key: makes the hashes meaningless to those who do not hold it (at most 64 bytes).

    >>> one, two = chain(range(40), 16), chain([9, *range(1, 40)], 16)
    >>> len(one), one[1] == two[1]
    (2, False)
    """
    parent = blake2b(
        "\0".join(extra_keys).encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES, key=key[:64]
    ).digest()
    ids = array("I", tokens)
    hashes = []
    for start in range(0, len(ids) - block_size + 1, block_size):
        block = ids[start : start + block_size].tobytes()
        parent = blake2b(parent + block, digest_size=HASH_BYTES).digest()
        hashes.append(int.from_bytes(parent, "little", signed=True))
    return tuple(hashes)


def cap_at_last_token(hit_tokens: int, prompt_tokens: int, step: int) -> int:
    """Engines recompute at least the last token, so a hit ends before it, floored to whole steps.

    >>> cap_at_last_token(48, 48, 16), cap_at_last_token(48, 49, 16)
    (32, 48)
    """
    return max(0, min(hit_tokens, prompt_tokens - 1) // step * step)


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Number of leading items that two sequences share; halves the range, so it runs at the speed of slices.

    >>> common_prefix([1, 2, 3], [1, 2, 4, 5])
    2
    """
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low
