"""Chained digests over the pieces of a request: what caches with marked positions compare, without a tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

from promptlint_core.exchange import Piece
from promptlint_core.prompt import Part


def digests(pieces: Sequence[Piece], levels: Mapping[Part, str], *, seed: str = "") -> tuple[bytes, ...]:
    """One digest a piece, each standing for everything up to and including that piece.

    Args:
        pieces: in render order.
        levels: parameters that belong to the key from a part on; a change loses that part and those behind it.
        seed: what separates whole caches: model, organization, routing key.
    """
    hasher = blake2b(seed.encode("utf-8", "surrogatepass"), digest_size=16)
    entered: set[Part] = set()
    chained = []
    for piece in pieces:
        if piece.part not in entered:
            entered.add(piece.part)
            hasher.update(f"\0{piece.part}\0{levels.get(piece.part, '')}\0".encode("utf-8", "surrogatepass"))
        for field in (piece.kind, piece.role, piece.text):
            data = field.encode("utf-8", "surrogatepass")
            hasher.update(len(data).to_bytes(4, "little") + data)
        chained.append(hasher.copy().digest())
    return tuple(chained)


def running_totals(counts: Sequence[int]) -> tuple[int, ...]:
    """Tokens up to and including each piece.

    >>> running_totals([3, 0, 4])
    (3, 3, 7)
    """
    totals, total = [], 0
    for count in counts:
        total += count
        totals.append(total)
    return tuple(totals)
