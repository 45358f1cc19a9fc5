"""Old messages as they were first sent: what a client that keeps its history would send again.

Repaired is what can be put back from the wire alone and what a rule named: call ids that were made anew, stamps that
were written anew, results of one batch of calls in the order of their completion.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from promptlint_core.cadence import Origin
from promptlint_core.exchange import Piece, PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_proxy.compare.spans import spans_of
from promptlint_rules.determinism.completion_order import CompletionOrder
from promptlint_rules.determinism.regenerated_call_id import RegeneratedCallId
from promptlint_rules.history.restamped_history import RestampedHistory


@dataclass(slots=True)
class SentBefore:
    """What one conversation has sent so far, as repaired."""

    ids: list[str] = field(default_factory=list)
    """Of calls, in the order of their first appearance."""
    texts: dict[str, str] = field(default_factory=dict)
    """Of messages, by path."""


def repair(request: Request, rules: Collection[str], before: SentBefore) -> Request:
    """The next request of a conversation with what `rules` (ids) name put back; enters it into `before`."""
    pieces: Sequence[Piece] = request.pieces
    if CompletionOrder.id in rules:
        pieces = _in_call_order(pieces)
    if RegeneratedCallId.id in rules:
        pieces = _with_first_ids(pieces, before.ids)
    if RestampedHistory.id in rules:
        pieces = [_with_first_stamp(piece, before.texts) for piece in pieces]
    before.texts = {p.path: p.text for p in pieces if p.part is Part.MESSAGES and p.kind is PieceKind.TEXT}
    return replace(request, pieces=tuple(pieces))


def _with_first_ids(pieces: Sequence[Piece], known: list[str]) -> list[Piece]:
    own = list(dict.fromkeys(piece.text for piece in pieces if piece.kind is PieceKind.ID))
    known += own[len(known) :]
    first = dict(zip(own, known, strict=False))
    return [replace(piece, text=first[piece.text]) if piece.kind is PieceKind.ID else piece for piece in pieces]


def _with_first_stamp(piece: Piece, before: dict[str, str]) -> Piece:
    old = before.get(piece.path) if piece.part is Part.MESSAGES and piece.kind is PieceKind.TEXT else None
    if old is None or old == piece.text:
        return piece
    only_stamps = all(span.origin is Origin.CLOCK for span in spans_of(old, piece.text))
    return replace(piece, text=old) if only_stamps else piece


def _in_call_order(pieces: Sequence[Piece]) -> list[Piece]:
    """Runs of results sorted by the calls that they answer; a result is a message of its own, or a block of one."""
    called: dict[str, int] = {}
    sorted_pieces: list[Piece] = []
    run: list[tuple[int, list[Piece]]] = []
    for _, group in groupby(pieces, key=_unit):
        unit = list(group)
        ids = [piece.text for piece in unit if piece.kind is PieceKind.ID]
        calls = any(piece.kind in (PieceKind.ARGUMENTS, PieceKind.NAME) for piece in unit)
        if ids and not calls and ids[0] in called:
            run.append((called[ids[0]], unit))
            continue
        sorted_pieces += _flat(run)
        run = []
        if calls:
            for name in ids:
                called.setdefault(name, len(called))
        sorted_pieces += unit
    return sorted_pieces + _flat(run)


def _flat(run: list[tuple[int, list[Piece]]]) -> list[Piece]:
    return [piece for _, unit in sorted(run, key=lambda entry: entry[0]) for piece in unit]


def _unit(piece: Piece) -> tuple[Part, int | None, int | None]:
    """A result's own message counts whole, its role included; results inside one message by their blocks."""
    return piece.part, piece.message, None if piece.role in ("tool", "function", "assistant") else piece.block
