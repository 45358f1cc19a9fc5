"""Methods of values that are known: strings, lists, dicts, clock readings, templates."""

from __future__ import annotations

import ast
from dataclasses import replace

from promptlint_core.cadence import Cadence, Evidence
from promptlint_linter.evaluate import clocks, lists, strings, templates
from promptlint_linter.evaluate.scopes import Frame
from promptlint_linter.evaluate.texts import derived
from promptlint_linter.evaluate.values import (
    UNKNOWN,
    UNKNOWN_PIECE,
    Arguments,
    External,
    Listing,
    Mapping,
    Opaque,
    Piece,
    Repeat,
    Template,
    Text,
    Value,
)

_SET_METHODS = frozenset({"union", "intersection", "difference", "symmetric_difference", "copy"})


def method_of(frame: Frame, receiver: Value, name: str, arguments: Arguments, node: ast.Call) -> Value | None:
    """The result of a method; None when it has to be looked up as an attribute."""
    if isinstance(receiver, Text):
        return _of_text(frame, receiver, name, arguments, node)
    if isinstance(receiver, Opaque):
        return _of_opaque(frame, receiver, name, arguments, node)
    if isinstance(receiver, Template):
        return templates.method_of(frame, receiver, name, arguments, node)
    if isinstance(receiver, Listing):
        return _of_listing(receiver, name)
    if isinstance(receiver, Mapping):
        return _of_mapping(frame, receiver, name, arguments)
    if isinstance(receiver, External):
        return _of_external(frame, receiver, name, node)
    return None


def _of_text(frame: Frame, receiver: Text, name: str, arguments: Arguments, node: ast.Call) -> Value:
    machine, site = frame.machine, frame.site(node)
    if name in strings.SAME_TEXT:
        return receiver
    if name == "format":
        text = strings.formatted(machine, receiver, arguments, site)
    elif name == "format_map" and arguments.positional:
        values = machine.force(arguments.positional[0])
        keywords = values if isinstance(values, Mapping) else Mapping()
        text = strings.formatted(machine, receiver, Arguments(keywords=keywords, is_open=True), site)
    elif name == "join" and arguments.positional:
        text = strings.joined(machine, receiver, arguments.positional[0], site)
    elif name == "replace" and len(arguments.positional) >= 2:
        old = machine.literal_text(arguments.positional[0])
        if old is None:
            return receiver
        spelled = strings.spelled(node.args[1]) if len(node.args) > 1 else ""
        text = strings.replaced(machine, receiver, old, arguments.positional[1], site, spelled)
    elif name in ("split", "splitlines", "partition", "rsplit"):
        if name == "splitlines":
            machine.forget_text(receiver)  # a list of alternatives, of which each is a text of its own
        return Listing((Repeat(derived(receiver)),))
    else:
        return UNKNOWN
    machine.compose(frame, node, text)
    return text


def _of_opaque(frame: Frame, receiver: Opaque, name: str, arguments: Arguments, node: ast.Call) -> Value | None:
    if receiver.instant is not None:
        return clocks.method_of(frame.machine, receiver, name, arguments)
    known = receiver.piece.cadence is not None and receiver.piece.evidence is Evidence.PROVED
    if known and name not in ("append", "invoke", "run", "create", "stream", "parse"):
        return Opaque(receiver.piece)
    if name == "join" and arguments.positional:
        return strings.joined(frame.machine, Text(), arguments.positional[0], frame.site(node))
    if name in ("format", "replace") and (arguments.keywords.entries or arguments.positional):
        return _unknown_template(frame, name, arguments)
    if name == "get" and arguments.positional:
        key = frame.machine.literal_text(arguments.positional[0])
        return lists.named(receiver, lists.below(receiver.name, key) if key else receiver.name)
    if name in strings.SAME_TEXT:
        return receiver
    return None


def _unknown_template(frame: Frame, name: str, arguments: Arguments) -> Value:
    """A template that is not known, filled with values that may be: text of which no part is known to be stable."""
    values = [value for _, value in arguments.keywords.entries] if name == "format" else arguments.positional[1:2]
    run: list[Piece] = [Piece(None, None)]
    for value in values:
        known = frame.machine.force(value)
        if isinstance(known, Opaque) and known.piece.cadence is not None:
            run.append(clocks_piece(known))
    return Text(tuple(run)) if len(run) > 1 else Opaque(UNKNOWN_PIECE)


def clocks_piece(value: Opaque) -> Piece:
    return clocks.formatted(value, None).piece if value.instant is not None else value.piece


def _of_listing(receiver: Listing, name: str) -> Value:
    if name in _SET_METHODS:
        return receiver
    if name in ("pop", "popleft"):
        items = [item.value if isinstance(item, Repeat) else item for item in receiver.items]
        return items[-1] if items else UNKNOWN
    return UNKNOWN


def _of_mapping(frame: Frame, receiver: Mapping, name: str, arguments: Arguments) -> Value | None:
    if name == "get" and arguments.positional:
        key = frame.machine.literal_text(arguments.positional[0])
        found = receiver.get(key) if key is not None else None
        if found is not None:
            return found
        if key is None and receiver.entries:
            return lists.item_of(frame, receiver, None)
        return Opaque(UNKNOWN_PIECE, name=key or "")
    if name == "copy":
        return receiver
    if name in ("keys", "values", "items"):
        pairs: list[Value] = []
        for key, value in receiver.entries:
            label: Value = UNKNOWN if key is None else frame.machine.literal(key)
            pair: Value = {"keys": label, "values": value}.get(name) or Listing((label, value), "tuple")
            pairs.append(Repeat(pair) if key is None else pair)
        return Listing(tuple(pairs))
    return None


def _of_external(frame: Frame, receiver: External, name: str, node: ast.Call) -> Value | None:
    """Objects of the standard library whose content is known: files, environment, string templates."""
    if name in ("read_text", "read", "readlines", "read_bytes") and receiver.name in (
        "open()", "io.open()", "pathlib.Path()", "pathlib.Path().open()", "codecs.open()",
    ):  # fmt: skip
        return _file_text(frame, receiver, node)
    if receiver.name == "pathlib.Path()" and name in ("resolve", "absolute", "expanduser", "joinpath"):
        return receiver
    if receiver.name == "os.environ" and name == "get":
        return Opaque(Piece(None, Cadence.DEPLOY, site=frame.site(node), detail="environment variable"))
    return None


def _file_text(frame: Frame, receiver: External, node: ast.Call) -> Value:
    """The text of a file whose path is a constant is fixed text, read where it is there."""
    path = None
    if receiver.arguments is not None:
        path = frame.machine.literal_text(receiver.arguments.get("file", 0))
    if not path:
        return Opaque(Piece(None, None, detail="file"))
    text = frame.machine.project.read_text(path, frame.module)
    piece = Piece(text, Cadence.FIXED, site=frame.site(node), detail="file", label=path)
    return Text((piece,)) if text else Opaque(replace(piece, text=None))
