"""Runs of text: what happens to the pieces of a prompt as strings are cut, repeated, frozen and chosen between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from promptlint_core.cadence import Cadence, Origin
from promptlint_linter.evaluate.values import Fork, Fragment, Piece, Site

Fragments = tuple[Fragment, ...]

LOOP_COUNTER = "loop counter"
FALLBACK = "where none is kept"
COUNTER = Piece(None, Cadence.TURN, Origin.STATE, detail=LOOP_COUNTER)
"""The index of a loop, or a number that grows in one; it is told where it enters the prompt."""
_MOST_OPTIONS = 4
_MOST_PIECES = 600
"""Of one text, in all its options: a hundred conditions that each change it would make more than can be counted."""


def change(fragments: Iterable[Fragment], each: Callable[[Piece], Piece]) -> Fragments:
    """The same run with every piece changed."""
    return tuple(
        each(part) if isinstance(part, Piece) else Fork(tuple(change(option, each) for option in part.options))
        for part in fragments
    )


def stepped(fragments: Iterable[Fragment], site: Site, note: str) -> Fragments:
    """The run after one more step of its way."""
    return change(fragments, lambda piece: piece.step(site, note))


def labelled(fragments: Iterable[Fragment], label: str) -> Fragments:
    """The run as the content of a named constant or variable; the first name stays."""
    return change(
        fragments,
        lambda piece: piece if piece.text is None or piece.label else replace(piece, label=label),
    )


def frozen(piece: Piece, most: Cadence) -> Piece:
    """A value that is evaluated once per process or session changes no faster than that."""
    of_a_session = piece.origin is Origin.ENVIRONMENT and piece.cadence is most and "frozen" not in piece.detail
    if piece.cadence is None or (piece.cadence <= most and not of_a_session):
        return piece
    when = "at import" if most is Cadence.DEPLOY else "for the session"
    detail = ", ".join(part for part in (piece.detail, f"frozen {when}") if part)
    return replace(piece, cadence=most, detail=detail)


def repeated(fragments: Iterable[Fragment]) -> Fragments:
    """Any number of copies; the counter of the loop that makes them is then the same each time."""

    def once(piece: Piece) -> Piece:
        if piece.origin is Origin.STATE and piece.detail == LOOP_COUNTER:
            return Piece(None, Cadence.FIXED, site=piece.site, repeated=True)
        return piece if piece.repeated else replace(piece, repeated=True)

    return change(fragments, once)


def grown_by(old: Fragments, new: Fragments) -> Fragments | None:
    """What stands behind `old` in `new`, when `new` starts with it."""
    if len(new) < len(old):
        return None
    if not old:
        return new
    size = len(old) - 1
    if old[:size] != new[:size]:
        return None
    rest = _without_start(new[size], old[size])
    return None if rest is None else (*rest, *new[len(old) :])


def _without_start(longer: Fragment, start: Fragment) -> Fragments | None:
    """What is left of a fragment behind `start`; literals that were written behind one another are one piece."""
    if longer == start:
        return ()
    if not isinstance(longer, Piece) or not isinstance(start, Piece) or longer.text is None or not start.text:
        return None
    return (replace(longer, text=longer.text[len(start.text) :]),) if longer.text.startswith(start.text) else None


def choose(first: Fragments, second: Fragments) -> Fragments:
    """One of two runs; what both share at either end stands outside the fork."""
    if first == second:
        return first
    sizes = [sum(1 for _ in pieces(run)) for run in (first, second)]
    if sum(sizes) > _MOST_PIECES:
        return first if sizes[0] >= sizes[1] else second
    for old, new in ((first, second), (second, first)):
        tail_only = grown_by(old, new)
        if tail_only is not None:
            return (*old, _fork((tail_only, ())))
    head = 0
    while head < min(len(first), len(second)) and first[head] == second[head]:
        head += 1
    tail = 0
    while tail < min(len(first), len(second)) - head and first[-1 - tail] == second[-1 - tail]:
        tail += 1
    middles = (first[head : len(first) - tail], second[head : len(second) - tail])
    return (*first[:head], _fork(middles), *first[len(first) - tail :])


def _fork(runs: Sequence[Fragments]) -> Fork:
    options: list[Fragments] = []
    for run in runs:
        inner = run[0].options if len(run) == 1 and isinstance(run[0], Fork) else (run,)
        options += [option for option in inner if option not in options]
    return Fork(tuple(options[:_MOST_OPTIONS]))


def pieces(fragments: Iterable[Fragment]) -> Iterator[Piece]:
    """All pieces, of all options."""
    for part in fragments:
        if isinstance(part, Piece):
            yield part
        else:
            for option in part.options:
                yield from pieces(option)


def variants(fragments: Fragments) -> Iterator[tuple[Piece, ...]]:
    """The run with its forks decided: each option of a fork is taken in at least one variant."""
    count = max((_width(part) for part in fragments), default=1)
    for number in range(count):
        yield tuple(_decided(fragments, number))


def _width(part: Fragment) -> int:
    if isinstance(part, Piece):
        return 1
    options = _worth_telling(part)
    return max(len(options), *(max((_width(p) for p in option), default=1) for option in options))


def _decided(fragments: Fragments, number: int) -> Iterator[Piece]:
    for part in fragments:
        if isinstance(part, Piece):
            yield part
        else:
            options = _worth_telling(part)
            yield from _decided(options[min(number, len(options) - 1)], number)


def _worth_telling(fork: Fork) -> tuple[Fragments, ...]:
    """The options that hold something that changes; of constant ones the shortest, which surely stands there."""
    moving = tuple(option for option in fork.options if any(p.cadence for p in pieces(option)))
    return moving or (min(fork.options, key=_length),)


def _length(run: Fragments) -> int:
    return sum(len(piece.text or "") for piece in pieces(run))
