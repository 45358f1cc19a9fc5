"""Where two ways of a program meet again: one value out of two."""

from __future__ import annotations

from promptlint_core.cadence import Origin
from promptlint_linter.evaluate import fragments
from promptlint_linter.evaluate.values import (
    Constant,
    Either,
    Listing,
    Mapping,
    Opaque,
    Repeat,
    Spread,
    Text,
    Value,
)

_MOST_OPTIONS = 4


def either(first: Value, second: Value) -> Value:
    """The value that is one or the other."""
    if first is second or first == second:
        return first
    if isinstance(first, Text) and isinstance(second, Text):
        return Text(fragments.choose(first.fragments, second.fragments))
    if isinstance(first, Listing) and isinstance(second, Listing) and first.kind == second.kind:
        return _either_listing(first, second)
    if isinstance(first, Mapping) and isinstance(second, Mapping) and _keys(first) == _keys(second):
        pairs = zip(first.entries, second.entries, strict=True)
        return Mapping(tuple((key, either(a, b)) for (key, a), (_, b) in pairs), first.site)
    options: list[Value] = []
    for value in (first, second):
        options += value.options if isinstance(value, Either) else (value,)
    distinct: list[Value] = []
    for value in options:
        if not any(value is other or value == other for other in distinct):
            distinct.append(value)
    return distinct[0] if len(distinct) == 1 else Either(tuple(distinct[:_MOST_OPTIONS]))


def _keys(value: Mapping) -> list[str | None]:
    return [key for key, _ in value.entries]


def _either_listing(first: Listing, second: Listing) -> Listing:
    head = 0
    while head < min(len(first.items), len(second.items)) and first.items[head] == second.items[head]:
        head += 1
    rest = (first.items[head:], second.items[head:])
    order = first.order or second.order
    shared = first.items[:head]
    if not any(rest):
        return Listing(shared, first.kind, order)
    options = Either(tuple(Listing(items, first.kind) for items in rest))
    return Listing((*shared, Spread(options)), first.kind, order)


def after_loop(before: Value | None, after: Value) -> Value:
    """A variable behind a loop whose body took it from `before` to `after` once."""
    if before is None or before is after:
        return after
    if isinstance(before, Text) and isinstance(after, Text):
        tail = fragments.grown_by(before.fragments, after.fragments)
        if tail is not None:
            return Text((*before.fragments, *fragments.repeated(tail)))
    if isinstance(before, Listing) and isinstance(after, Listing):
        size = len(before.items)
        if after.items[:size] == before.items:
            tail_items = tuple(item if isinstance(item, Repeat) else Repeat(item) for item in after.items[size:])
            return Listing((*before.items, *tail_items), before.kind, after.order or before.order)
    if isinstance(before, Constant) and isinstance(after, Opaque) and after.piece.origin is Origin.STATE:
        return after
    if isinstance(before, Constant) and isinstance(after, Constant):
        return Opaque(fragments.COUNTER)
    return either(before, after)
