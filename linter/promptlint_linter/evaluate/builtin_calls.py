"""Functions of Python and its standard library that put values together or take them apart."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.clock import Precision
from promptlint_linter.evaluate import clocks, lists, strings
from promptlint_linter.evaluate.fragments import change, frozen
from promptlint_linter.evaluate.scopes import Frame
from promptlint_linter.evaluate.texts import derived, text_of
from promptlint_linter.evaluate.values import (
    UNKNOWN,
    UNKNOWN_PIECE,
    Arguments,
    Constant,
    Deferred,
    Either,
    External,
    Function,
    Listing,
    Mapping,
    Opaque,
    Piece,
    Repeat,
    Spread,
    Template,
    Text,
    Value,
)

Handler = Callable[[Frame, Arguments, ast.Call], "Value | None"]


def _first(frame: Frame, arguments: Arguments) -> Value | None:
    return frame.machine.force(arguments.positional[0]) if arguments.positional else None


def _as_list(frame: Frame, arguments: Arguments, _node: ast.Call) -> Value | None:
    value = _first(frame, arguments)
    if isinstance(value, Listing):
        return replace(value, kind="list")
    if isinstance(value, Mapping):
        return lists.keys(frame, value)
    return value if isinstance(value, Opaque) else Listing() if value is None else None


def _as_set(frame: Frame, arguments: Arguments, node: ast.Call) -> Value | None:
    value = _first(frame, arguments)
    if value is None:
        return Listing((), "set")
    if isinstance(value, Listing):
        return lists.unordered(value, frame, node)
    return lists.unordered(Listing((Spread(value),)), frame, node)


def _sorted(frame: Frame, arguments: Arguments, _node: ast.Call) -> Value | None:
    value = _first(frame, arguments)
    if isinstance(value, Listing):
        return _items_in_order(frame, value)
    if isinstance(value, Opaque) and value.piece.origin in (Origin.ORDER, Origin.SAMPLE):
        return UNKNOWN
    if isinstance(value, Opaque):
        return Opaque(value.piece, name=value.name)
    return UNKNOWN


def _items_in_order(frame: Frame, listing: Listing) -> Listing:
    """The items without the mark of where they came from in no order: `sorted(name for name in os.listdir())`."""
    items: list[Value] = []
    for item in listing.items:
        if not isinstance(item, Repeat | Spread):
            items.append(item)
            continue
        inner = frame.machine.force(item.value)
        if isinstance(inner, Opaque):
            inner = UNKNOWN if _is_an_item(inner.piece) else inner
        elif isinstance(inner, Text):
            inner = Text(change(inner.fragments, lambda piece: UNKNOWN_PIECE if _is_an_item(piece) else piece))
        elif isinstance(inner, Listing) and isinstance(item, Spread):
            inner = _items_in_order(frame, inner)
        items.append(replace(item, value=inner))
    return Listing(tuple(items), "list")


def _is_an_item(piece: Piece) -> bool:
    """Of something without order; not what was joined of it, whose order is its own."""
    return piece.origin is Origin.ORDER and all(note != "joined here" for _, note in piece.flow)


def _enumerate(frame: Frame, arguments: Arguments, _node: ast.Call) -> Value | None:
    items = _first(frame, arguments)
    if items is None:
        return None
    element = lists.element(frame, items)
    order = items.order if isinstance(items, Listing) else None
    return Listing((Repeat(Listing((lists.counter(), element), "tuple")),), order=order)


def _range(_frame: Frame, _arguments: Arguments, _node: ast.Call) -> Value | None:
    return Listing((Repeat(lists.counter()),))


def _zip(frame: Frame, arguments: Arguments, _node: ast.Call) -> Value | None:
    elements = tuple(lists.element(frame, frame.machine.force(value)) for value in arguments.positional)
    return Listing((Repeat(Listing(elements, "tuple")),))


def _map(frame: Frame, arguments: Arguments, node: ast.Call) -> Value | None:
    if len(arguments.positional) != 2:
        return None
    function = frame.machine.force(arguments.positional[0])
    items = frame.machine.force(arguments.positional[1])
    element = lists.element(frame, items)
    order = items.order if isinstance(items, Listing) else None
    if isinstance(function, Function):
        element = Deferred(function, Arguments((element,)), frame.site(node), frame)
    return Listing((Repeat(element),), order=order)


def _filter(frame: Frame, arguments: Arguments, _node: ast.Call) -> Value | None:
    return frame.machine.force(arguments.positional[1]) if len(arguments.positional) == 2 else None


def _dict(frame: Frame, arguments: Arguments, node: ast.Call) -> Value | None:
    value = _first(frame, arguments)
    entries = value.entries if isinstance(value, Mapping) else () if value is None else ((None, value),)
    return Mapping((*entries, *arguments.keywords.entries), frame.site(node))


def _derived(frame: Frame, arguments: Arguments, node: ast.Call) -> Value | None:
    """`int(time.time())`, `round(x)`: changes when its argument does."""
    value = _first(frame, arguments)
    if isinstance(value, Opaque) and value.instant is not None:
        return clocks.cut(value, Precision("second")) if _is_int(node) else value
    if isinstance(value, Constant):
        return value
    return derived(value) if value is not None else UNKNOWN


def _is_int(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id in ("int", "round")


def _text(frame: Frame, arguments: Arguments, node: ast.Call) -> Value | None:
    value = _first(frame, arguments)
    if value is None or isinstance(value, Text | Either):
        return value
    if isinstance(value, Opaque) and value.piece.cadence is None:
        return value
    spelled = strings.spelled(node.args[0]) if node.args else ""
    return Text(text_of(frame.machine, value, None, spelled))


def _format(frame: Frame, arguments: Arguments, node: ast.Call) -> Value | None:
    value = _first(frame, arguments)
    spec = frame.machine.literal_text(arguments.positional[1]) if len(arguments.positional) > 1 else ""
    if value is None:
        return None
    return Text(
        text_of(frame.machine, value, frame.site(node), strings.spelled(node.args[0]) if node.args else "", spec or "")
    )


def _json(frame: Frame, arguments: Arguments, node: ast.Call) -> Value | None:
    value = _first(frame, arguments)
    if value is None:
        return None
    if isinstance(value, Mapping | Listing):
        return Text(text_of(frame.machine, value, frame.site(node)), value)
    if isinstance(value, Opaque):
        return value
    return UNKNOWN


def _template(frame: Frame, arguments: Arguments, node: ast.Call) -> Value | None:
    value = arguments.get("template", 0)
    return Template("dollar", value, site=frame.site(node)) if value is not None else None


def _partial(frame: Frame, arguments: Arguments, _node: ast.Call) -> Value | None:
    function = _first(frame, arguments)
    if not isinstance(function, Function):
        return function if isinstance(function, External) else None
    rest = Arguments(arguments.positional[1:], arguments.keywords, arguments.is_open)
    return replace_bound(function, rest)


def replace_bound(function: Function, bound: Arguments) -> Function:
    return Function(function.definition, function.node, function.closure, function.receiver, bound)


def _strftime(frame: Frame, arguments: Arguments, node: ast.Call) -> Value | None:
    """`time.strftime(format)` reads the clock when no time is given."""
    if len(arguments.positional) > 1:
        given = frame.machine.force(arguments.positional[1])
        if not (isinstance(given, Opaque) and given.instant is not None):
            return derived(given)
        return clocks.formatted(given, frame.machine.literal_text(arguments.positional[0]))
    piece = Piece(None, Cadence.CALL, Origin.CLOCK, Evidence.PROVED, frame.site(node))
    if frame.most is not None:
        piece = frozen(piece, frame.most)
    now = Opaque(piece, Precision("second"))
    return clocks.formatted(now, frame.machine.literal_text(arguments.positional[0] if arguments.positional else None))


def _from_timestamp(frame: Frame, arguments: Arguments, _node: ast.Call) -> Value | None:
    value = _first(frame, arguments)
    return (
        value
        if isinstance(value, Opaque) and (value.instant is not None or value.piece.cadence is not None)
        else UNKNOWN
    )


def _super(frame: Frame, _arguments: Arguments, _node: ast.Call) -> Value | None:
    return frame.machine.parent_of(frame)


def _seeded(_frame: Frame, arguments: Arguments, _node: ast.Call) -> Value | None:
    """`random.Random(seed)`: what it draws is the same each time; without a seed it is not."""
    return UNKNOWN if arguments.positional else External("random")


def _path_join(frame: Frame, arguments: Arguments, _node: ast.Call) -> Value | None:
    last = arguments.positional[-1] if arguments.positional else None
    return frame.machine.force(last) if last is not None and frame.machine.literal_text(last) else None


def _getattr(frame: Frame, arguments: Arguments, _node: ast.Call) -> Value | None:
    name = frame.machine.literal_text(arguments.get("name", 1))
    value = _first(frame, arguments)
    return lists.named(value, lists.below(value.name, name)) if isinstance(value, Opaque) and name else UNKNOWN


def _hash(frame: Frame, arguments: Arguments, node: ast.Call) -> Value | None:
    """`hash()` of a string differs between processes; of a number or a constant of the project it is not known."""
    value = _first(frame, arguments)
    if not isinstance(value, Text):
        return UNKNOWN
    return Opaque(
        Piece(None, Cadence.CALL, Origin.RANDOM, Evidence.PROVED, frame.site(node), detail="hash of a string")
    )


def _input(frame: Frame, arguments: Arguments, _node: ast.Call) -> Value | None:
    """`input(text)` shows the text to a person."""
    shown = _first(frame, arguments)
    if isinstance(shown, Text):
        frame.machine.forget_text(shown)
    return UNKNOWN


FUNCTIONS: dict[str, Handler] = {
    **dict.fromkeys(("list", "tuple", "reversed", "iter", "collections.deque", "copy.copy", "copy.deepcopy"), _as_list),
    **dict.fromkeys(("set", "frozenset"), _as_set),
    **dict.fromkeys(("int", "float", "round", "abs", "min", "max", "sum", "next"), _derived),
    **dict.fromkeys(("str", "repr"), _text),
    **dict.fromkeys(("json.dumps", "orjson.dumps", "yaml.dump", "yaml.safe_dump", "pprint.pformat"), _json),
    **dict.fromkeys(("functools.partial", "functools.partialmethod"), _partial),
    "sorted": _sorted,
    "enumerate": _enumerate,
    "range": _range,
    "zip": _zip,
    "map": _map,
    "filter": _filter,
    "dict": _dict,
    "format": _format,
    "string.Template": _template,
    "time.strftime": _strftime,
    "datetime.datetime.fromtimestamp": _from_timestamp,
    "datetime.datetime.utcfromtimestamp": _from_timestamp,
    "super": _super,
    "random.Random": _seeded,
    "os.path.join": _path_join,
    "getattr": _getattr,
    "hash": _hash,
    "input": _input,
}
