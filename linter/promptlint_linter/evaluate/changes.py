"""Assignments, and the methods that change an object in place."""

from __future__ import annotations

import ast
from dataclasses import replace

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_linter.evaluate import fragments, lists, strings
from promptlint_linter.evaluate.fragments import frozen
from promptlint_linter.evaluate.scopes import Frame
from promptlint_linter.evaluate.values import (
    MOST_ITEMS,
    Constant,
    Either,
    External,
    Listing,
    Mapping,
    Opaque,
    Piece,
    Repeat,
    Spread,
    Text,
    Value,
)

GROWING = frozenset({"append", "add", "extend", "update", "insert", "appendleft", "extendleft"})


def assign(frame: Frame, target: ast.expr, value: Value) -> None:
    """Bind a target to a value."""
    if isinstance(target, ast.Tuple | ast.List):
        _unpack(frame, target, frame.machine.force(value))
        return
    path = lists.dotted(target)
    if path is not None:
        frame.bind(path, held(frame, value, path))
        return
    if isinstance(target, ast.Subscript):
        _assign_item(frame, target, value)
    elif isinstance(target, ast.Starred):
        assign(frame, target.value, value)


def held(frame: Frame, value: Value, path: str) -> Value:
    """The value as a variable holds it: named, and no faster than the place where it is evaluated once."""
    name = path.rsplit(".", 1)[-1]
    if isinstance(value, Text):
        frame.machine.name_text(value, path)
        run = fragments.labelled(value.fragments, name)
        if frame.most is not None:
            most = frame.most
            run = fragments.change(run, lambda piece: frozen(piece, most))
        return Text(run, value.written)
    if isinstance(value, Opaque):
        if value.piece.cadence is None and not value.name:
            value = replace(value, name=path)
        if frame.most is not None:
            return replace(value, piece=frozen(value.piece, frame.most))
    return value


def _unpack(frame: Frame, target: ast.Tuple | ast.List, value: Value) -> None:
    items: list[Value] = []
    if isinstance(value, Listing) and value.order is None:
        items = list(frame.machine.flat_items(value))
    if isinstance(value, Either):
        options = [o for o in map(frame.machine.force, value.options) if isinstance(o, Listing)]
        if options and len({len(o.items) for o in options}) == 1:
            columns = zip(*(o.items for o in options), strict=True)
            items = [Either(column) for column in columns]
    for index, element in enumerate(target.elts):
        if index < len(items) and not any(isinstance(item, Repeat) for item in items[: index + 1]):
            assign(frame, element, items[index])
        else:
            name = lists.dotted(element) or ""
            assign(frame, element, lists.part_of(value, name))


def _assign_item(frame: Frame, target: ast.Subscript, value: Value) -> None:
    """`d["key"] = value` and `messages[0] = value`."""
    path = lists.dotted(target.value)
    if path is None:
        return
    base = frame.lookup_dotted(path) if "." in path else frame.lookup(path)
    base = frame.machine.force(base) if base is not None else frame.value(target.value)
    key = lists.literal_key(frame, target)
    if isinstance(base, Mapping):
        frame.names[path] = Mapping((*base.entries, (key, value)), base.site)
    elif isinstance(base, Listing) and isinstance(key, str) and key.isdigit() and int(key) < len(base.items):
        index = int(key)
        frame.names[path] = replace(base, items=(*base.items[:index], value, *base.items[index + 1 :]))
    elif isinstance(base, External | Opaque) and key is not None and "." in path:
        frame.names[path] = Mapping(((None, base), (key, value)))


def added(frame: Frame, old: Value, new: Value, node: ast.AST, name: str) -> Value:
    """`old + new`, for `+=` and for `+`."""
    machine = frame.machine
    new = machine.force(new)
    if isinstance(old, Either) and any(isinstance(o, Listing) for o in old.options):
        old = next(o for o in old.options if isinstance(o, Listing))
    if isinstance(old, Listing) and not isinstance(new, Text):
        if isinstance(new, Listing):
            items = (*old.items, *new.items)[:MOST_ITEMS]  # a list that is put behind itself doubles each time
            return Listing(items, old.kind, old.order or new.order)
        return Listing((*old.items, Spread(new)), old.kind, old.order)
    if isinstance(new, Listing) and not isinstance(old, Text | Constant):
        return Listing((Spread(old), *new.items), new.kind, new.order)
    if isinstance(old, Constant) and isinstance(new, Constant):
        return Constant(None, frame.site(node)) if old.value is None or new.value is None else _sum(old, new)
    if isinstance(old, Text) or isinstance(new, Text):
        site = frame.site(node)
        run = strings.concatenated(machine, [(old, site, name), (new, site, "")])
        text = Text(strings.merged(run.fragments))
        machine.compose(frame, node, text)
        return text
    return lists.mixed(old, new)


def _sum(old: Constant, new: Constant) -> Constant:
    return Constant((old.value or 0) + (new.value or 0), old.site)


def change(frame: Frame, node: ast.expr) -> bool:
    """Carry out a method that changes its object (`parts.append(x)`); False when it is none."""
    if isinstance(node, ast.Await):
        return change(frame, node.value)
    if not isinstance(node, ast.Call):
        return False
    if not isinstance(node.func, ast.Attribute):
        return False
    method = node.func.attr
    if method == "shuffle" and node.args and lists.dotted(node.func.value) in ("random", "np.random", "numpy.random"):
        return _shuffle(frame, node)
    path = lists.dotted(node.func.value)
    if path is None or method not in (*GROWING, "sort", "clear", "pop", "remove", "reverse", "setdefault"):
        return False
    base = frame.value(node.func.value)
    arguments = [*map(frame.lazy, node.args), *(frame.lazy(keyword.value) for keyword in node.keywords)]
    new = _changed(frame, base, method, arguments, node)
    if new is None:
        return False
    frame.names[path] = new
    return True


def _changed(frame: Frame, base: Value, method: str, arguments: list[Value], node: ast.Call) -> Value | None:
    if isinstance(base, Either):
        base = next((o for o in base.options if isinstance(o, Listing)), base)
    if isinstance(base, Mapping):
        if method == "update":
            return _updated(frame, base, arguments, node)
        return base if method in ("pop", "setdefault", "clear") else None
    if isinstance(base, Opaque) and base.piece.origin is Origin.HISTORY and method in GROWING:
        base = Listing((Repeat(base),))
    if not isinstance(base, Listing):
        return None
    items = base.items
    if method in ("append", "add") and arguments:
        items = (*items, arguments[0])
    elif method in ("extend", "update") and arguments:
        items = (*items, Spread(arguments[0]))
    elif method == "insert" and len(arguments) == 2:
        first = frame.machine.force(arguments[0])
        position = first.value if isinstance(first, Constant) and isinstance(first.value, int) else len(items)
        items = (*items[:position], arguments[1], *items[position:])
    elif method == "appendleft" and arguments:
        items = (arguments[0], *items)
    elif method == "sort":
        return Listing(items, base.kind)
    elif method == "clear":
        items = ()
    listing = Listing(items, base.kind, base.order)
    frame.machine.list_messages(frame, node, listing)
    return listing


def _updated(frame: Frame, base: Mapping, arguments: list[Value], node: ast.Call) -> Mapping:
    entries = base.entries
    names = [*(None for _ in node.args), *(keyword.arg for keyword in node.keywords)]
    for name, value in zip(names, arguments, strict=True):
        if name is not None:
            entries = (*entries, (name, value))
            continue
        known = frame.machine.force(value)
        entries = (*entries, *(known.entries if isinstance(known, Mapping) else ((None, known),)))
    return Mapping(entries, base.site)


def _shuffle(frame: Frame, node: ast.Call) -> bool:
    path = lists.dotted(node.args[0])
    if path is None:
        return False
    piece = Piece(None, Cadence.CALL, Origin.SAMPLE, Evidence.PROVED, frame.site(node), detail="shuffled")
    frame.names[path] = Opaque(piece)
    return True
