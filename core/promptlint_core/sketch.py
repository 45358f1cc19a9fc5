"""Keyed sketches of text: how much of one text is in another, told without keeping either.

A text is cut into shingles of neighbouring words, each shingle is hashed with a secret key, and the lowest hashes are
kept (bottom-k: Broder, On the resemblance and containment of documents, 1997). Without the key the hashes say nothing
of the text; with it, the share of a template's shingles that a sketch holds tells which template a prompt came from.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from hashlib import blake2b

SHINGLE_WORDS = 4
SKETCH_SIZE = 256
"""Hashes kept: a share is then right within about 3 percentage points (1 / (2 x sqrt(256)) at one half)."""
GAP = "\0"
"""Stands between pieces of text that are not neighbours: no shingle crosses it."""

_WORD = re.compile(r"\w+")
_KEY_BYTES = 64
"""blake2b takes no longer key."""


def sketch(text: str, key: bytes) -> tuple[int, ...]:
    """The lowest `SKETCH_SIZE` shingle hashes of a text, ascending, as signed 64-bit integers; empty without a word.

    Case, punctuation and white space do not count. Pieces that are not neighbours are joined by `GAP`.

    >>> sketch("You are a support agent.", b"k") == sketch("you are  a support\\nagent", b"k")
    True
    """
    return tuple(sorted(shingle_hashes(text, key))[:SKETCH_SIZE])


def shingle_hashes(text: str, key: bytes) -> frozenset[int]:
    """The hashes of all shingles of a text: what `contained_share` compares with a sketch."""
    return frozenset(_hash(shingle, key) for shingle in _shingles(text))


def contained_share(hashes: Collection[int], of_sketch: Collection[int]) -> float | None:
    """The share of a text's shingles that are in the text behind a sketch; None when the two cannot be compared.

    A full sketch knows its text only up to its highest hash, so only the shingles up to there are counted.

    >>> hashes = shingle_hashes("one two three four five", b"k")
    >>> contained_share(hashes, sketch("zero one two three four five six", b"k"))
    1.0
    """
    if not of_sketch:
        return None
    known_to = max(of_sketch) if len(of_sketch) >= SKETCH_SIZE else None
    there = frozenset(of_sketch)
    comparable = [value for value in hashes if known_to is None or value <= known_to]
    if not comparable:
        return None
    return sum(value in there for value in comparable) / len(comparable)


def _shingles(text: str) -> Iterator[str]:
    for piece in text.split(GAP):
        words = _WORD.findall(piece.casefold())
        if not words:
            continue
        # A piece shorter than a shingle is one shingle, so that a short template can still be found.
        for start in range(max(1, len(words) - SHINGLE_WORDS + 1)):
            yield " ".join(words[start : start + SHINGLE_WORDS])


def _hash(shingle: str, key: bytes) -> int:
    digest = blake2b(shingle.encode("utf-8", "surrogatepass"), digest_size=8, key=key[:_KEY_BYTES]).digest()
    return int.from_bytes(digest, "little", signed=True)
