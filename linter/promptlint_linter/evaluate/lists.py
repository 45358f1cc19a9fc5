"""Lists, tuples, sets and dicts: literals, comprehensions, items, and what iterating over them gives."""

from __future__ import annotations

import ast
from dataclasses import replace

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.names import origin_of_name
from promptlint_linter.evaluate import fragments
from promptlint_linter.evaluate.branches import either
from promptlint_linter.evaluate.scopes import Frame
from promptlint_linter.evaluate.texts import STORED, derived, is_stored
from promptlint_linter.evaluate.values import (
    UNKNOWN,
    UNKNOWN_PIECE,
    Constant,
    Either,
    Listing,
    Mapping,
    Opaque,
    Piece,
    Repeat,
    Spread,
    Text,
    Value,
)

_MOST_CHOICES = 4


def dotted(node: ast.AST) -> str | None:
    """`a.b.c` of names and attributes."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def listing(node: ast.List | ast.Tuple | ast.Set, frame: Frame) -> Value:
    items: list[Value] = []
    for element in node.elts:
        value = frame.lazy(element)
        items.append(Spread(value) if isinstance(element, ast.Starred) else value)
    if isinstance(node, ast.Set):
        return unordered(Listing(tuple(items), "set"), frame, node)
    found = Listing(tuple(items), "tuple" if isinstance(node, ast.Tuple) else "list")
    frame.machine.list_messages(frame, node, found)
    return found


def unordered(found: Listing, frame: Frame, node: ast.AST, detail: str = "set order") -> Listing:
    """A set: strings in it come in another order in each process."""
    if len(found.items) < 2 and not any(isinstance(item, Spread | Repeat) for item in found.items):
        return replace(found, kind="set")
    if all(isinstance(item, Constant) for item in found.items):
        return replace(found, kind="set")
    piece = Piece(None, Cadence.CALL, Origin.ORDER, Evidence.PROVED, frame.site(node), detail=detail)
    return replace(found, kind="set", order=found.order or piece)


def mapping(node: ast.Dict, frame: Frame) -> Value:
    entries: list[tuple[str | None, Value]] = []
    for key, element in zip(node.keys, node.values, strict=True):
        value = frame.lazy(element)
        if key is not None:
            entries.append((_key(frame, key), value))
            continue
        known = frame.machine.force(value)
        entries += known.entries if isinstance(known, Mapping) else [(None, known)]
    return Mapping(tuple(entries), frame.site(node))


def _key(frame: Frame, node: ast.expr) -> str | None:
    value = frame.value(node)
    if isinstance(value, Text):
        return value.literal
    return str(value.value) if isinstance(value, Constant) else None


def comprehension(node: ast.ListComp | ast.SetComp | ast.GeneratorExp, frame: Frame) -> Value:
    with_order = _bind_loops(node.generators, frame)
    frame.loops += 1
    item = frame.lazy(node.elt)
    frame.loops -= 1
    found = Listing((Repeat(item),), order=with_order)
    if isinstance(node, ast.SetComp):
        return unordered(found, frame, node)
    frame.machine.list_messages(frame, node, found)
    return found


def dict_comprehension(node: ast.DictComp, frame: Frame) -> Value:
    _bind_loops(node.generators, frame)
    frame.lazy(node.key)
    return Mapping(((None, derived(frame.value(node.value))),), frame.site(node))


def _bind_loops(loops: list[ast.comprehension], frame: Frame) -> Piece | None:
    """Bind the names of a comprehension; names are not taken back, they are rarely used again."""
    order: Piece | None = None
    for loop in loops:
        items = frame.value(loop.iter)
        frame.machine.bind(frame, loop.target, element(frame, items))
        order = order or (items.order if isinstance(items, Listing) else None)
    return order


def element(frame: Frame, items: Value, spelled: str = "") -> Value:
    """What a loop variable stands for; `spelled` is the name of what the loop goes over."""
    items = frame.machine.force(items)
    if spelled and not _is_followed(items) and _is_history(Opaque(UNKNOWN_PIECE, name=spelled)):
        return Opaque(STORED, name=_singular(spelled))
    if isinstance(items, Listing):
        if items.order is not None:
            return Opaque(items.order)
        found = list(frame.machine.flat_items(items))
        choices = [item.value if isinstance(item, Repeat) else item for item in found]
        return _one_of(choices[:_MOST_CHOICES]) if choices else UNKNOWN
    if isinstance(items, Opaque):
        name = _singular(items.name)
        return Opaque(STORED, name=name) if _is_history(items) else derived(items, name)
    if isinstance(items, Either):
        return element(frame, items.options[0])
    if isinstance(items, Mapping):
        return UNKNOWN
    return UNKNOWN


def _is_followed(items: Value) -> bool:
    """Whether the items of a loop are known, so that its name need not speak for them."""
    if isinstance(items, Either):
        return any(_is_followed(option) for option in items.options)
    if isinstance(items, Listing):
        return items.order is not None or bool(items.items)
    return isinstance(items, Mapping | Text) or (isinstance(items, Opaque) and _is_proved(items))


def _is_proved(items: Opaque) -> bool:
    return items.piece.cadence is not None and items.piece.evidence is Evidence.PROVED


def _is_history(items: Opaque) -> bool:
    meaning = origin_of_name(items.name) if items.name and not _is_proved(items) else None
    return meaning is not None and meaning[0] is Origin.HISTORY


def _one_of(choices: list[Value]) -> Value:
    value = choices[0]
    for other in choices[1:]:
        value = either(value, other)
    return value


def _singular(name: str) -> str:
    """`documents` → `document`, so that the name of one item still speaks for it."""
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def counter() -> Opaque:
    """The index of a loop."""
    return Opaque(fragments.COUNTER)


def part_of(value: Value, name: str) -> Value:
    """One of several names that a value of unknown parts is unpacked into."""
    if isinstance(value, Opaque) and value.piece.cadence is not None and value.piece.evidence is Evidence.PROVED:
        return Opaque(value.piece)
    if isinstance(value, Listing) and value.order is not None:
        return Opaque(value.order)
    piece = value.piece if isinstance(value, Opaque) and value.piece.cadence is None else UNKNOWN_PIECE
    return Opaque(piece, name=name)


def literal_key(frame: Frame, node: ast.Subscript) -> str | None:
    """The key of `d["key"]` or the digits of `items[0]`."""
    if isinstance(node.slice, ast.Slice | ast.Tuple):
        return None
    value = frame.value(node.slice)
    if isinstance(value, Text):
        return value.literal
    return str(value.value) if isinstance(value, Constant) and isinstance(value.value, int) else None


def subscript(node: ast.Subscript, frame: Frame) -> Value:
    base = frame.value(node.value)
    if isinstance(node.slice, ast.Slice):
        return base if isinstance(base, Text | Opaque | Listing) else UNKNOWN
    key = literal_key(frame, node)
    if isinstance(base, Either):
        return _one_of([item_of(frame, option, key) for option in base.options])
    found = item_of(frame, base, key)
    if found is UNKNOWN:
        return derived(frame.value(node.slice))
    return found


def item_of(frame: Frame, base: Value, key: str | None) -> Value:
    base = frame.machine.force(base)
    if isinstance(base, Mapping):
        return _entry(base, key)
    if isinstance(base, Listing):
        if base.order is not None:
            return Opaque(base.order)
        items = list(frame.machine.flat_items(base))
        is_index = key is not None and key.lstrip("-").isdigit() and -len(items) <= int(key) < len(items)
        if key is not None and is_index and not any(isinstance(item, Repeat) for item in items):
            return items[int(key)]
        choices = [item.value if isinstance(item, Repeat) else item for item in items]
        return _one_of(choices[:_MOST_CHOICES]) if choices else UNKNOWN
    if isinstance(base, Opaque):
        name = below(base.name, key) if key and not key.lstrip("-").isdigit() else base.name
        return named(base, name)
    return derived(base)


def _entry(base: Mapping, key: str | None) -> Value:
    if key is not None:
        found = base.get(key)
        return found if found is not None else Opaque(UNKNOWN_PIECE, name=key)
    values = [value for _, value in base.entries]
    return _one_of(values[:_MOST_CHOICES]) if values and len(values) <= _MOST_CHOICES else UNKNOWN


def below(name: str, part: str) -> str:
    """The dotted name of an attribute or item of something that may have no name."""
    return f"{name}.{part}" if name else part


def named(base: Opaque, name: str) -> Opaque:
    """An attribute or item of a value: its own name speaks where the value was not followed to its source."""
    if is_stored(base.piece):
        return Opaque(base.piece, name=name)
    if base.piece.evidence is Evidence.PROVED and base.piece.cadence is not None:
        return Opaque(base.piece, name=name)
    meaning = origin_of_name(name)
    if meaning is not None:
        origin, cadence = meaning
        return Opaque(Piece(None, cadence, origin, Evidence.NAMED, label=base.piece.label), name=name)
    return Opaque(base.piece, name=name)


def united(first: Value, second: Value) -> Value:
    """`a | b` of sets and dicts."""
    if isinstance(first, Listing) and isinstance(second, Listing):
        return Listing((*first.items, *second.items), "set", first.order or second.order)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return Mapping((*first.entries, *second.entries), first.site)
    if isinstance(first, Listing):
        return Listing((*first.items, Spread(second)), first.kind, first.order)
    return UNKNOWN


def mixed(first: Value, second: Value) -> Value:
    """Arithmetic on values of which at least one is not known: it changes as often as the faster one."""
    opaque = [value for value in (first, second) if isinstance(value, Opaque)]
    if not opaque:
        return UNKNOWN
    return max(opaque, key=lambda value: (value.piece.cadence or 0, value.piece.label))


def keys(frame: Frame, value: Mapping) -> Listing:
    """The keys of a dict, in its order."""
    return Listing(tuple(Repeat(UNKNOWN) if key is None else frame.machine.literal(key) for key, _ in value.entries))
