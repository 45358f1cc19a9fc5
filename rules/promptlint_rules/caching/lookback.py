"""Which entries a look-up from cache markers finds: at a marked end, at most so many blocks before a later marker."""

from __future__ import annotations

from promptlint_core.exchange import Request, WireMarker


def block_of(request: Request, piece: int) -> int:
    """Content block of a piece, counted over the whole prompt, or of the last piece before it that is one; -1: none."""
    for index in range(min(piece, len(request.pieces) - 1), -1, -1):
        block = request.pieces[index].block
        if block is not None:
            return block
    return -1


def written_inside(earlier: Request, shared_pieces: int) -> WireMarker | None:
    """The longest marked end of the earlier request that lies wholly in the common part."""
    inside = [marker for marker in earlier.markers if marker.piece < shared_pieces]
    return max(inside, key=lambda marker: marker.piece, default=None)


def found(earlier: Request, later: Request, shared_pieces: int, lookback: int) -> WireMarker | None:
    """The longest of these ends that a look-up from the later request's markers reaches."""
    looked_up = [block_of(later, marker.piece) for marker in later.markers]
    best: WireMarker | None = None
    for marker in earlier.markers:
        if marker.piece >= shared_pieces:
            continue
        block = block_of(earlier, marker.piece)
        reached = any(0 <= other - block <= lookback for other in looked_up)
        if reached and (best is None or marker.piece > best.piece):
            best = marker
    return best


def blocks_between(earlier: Request, later: Request, marker: WireMarker) -> int | None:
    """Blocks from an end that was written to the nearest marker of the later request behind it; None: there is none."""
    block = block_of(earlier, marker.piece)
    behind = [b - block for b in (block_of(later, m.piece) for m in later.markers) if b >= block]
    return min(behind, default=None)


def chars_until(request: Request, marker: WireMarker) -> int:
    """Code points ahead of a marker."""
    return sum(len(piece.text) for piece in request.pieces[: marker.piece + 1])
