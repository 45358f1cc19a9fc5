"""Calls: methods of known values, functions of the project, calls of libraries."""

from __future__ import annotations

import ast
from dataclasses import replace

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.clock import Precision
from promptlint_linter.calls import frameworks, match
from promptlint_linter.calls.messages import is_template_class, normal_role, role_of_class
from promptlint_linter.evaluate import builtin_calls, classes, methods, origins, strings, templates
from promptlint_linter.evaluate.fragments import frozen
from promptlint_linter.evaluate.records import Called
from promptlint_linter.evaluate.scopes import Frame
from promptlint_linter.evaluate.texts import derived, text_of
from promptlint_linter.evaluate.values import (
    UNKNOWN,
    UNKNOWN_PIECE,
    Arguments,
    Class,
    Deferred,
    Either,
    External,
    Function,
    Instance,
    Mapping,
    Message,
    Opaque,
    Piece,
    Template,
    Text,
    Value,
)

_SAME_OBJECT = frozenset(
    [
        "bind",
        "bind_tools",
        "with_config",
        "with_structured_output",
        "with_retry",
        "with_fallbacks",
        "with_options",
        "configurable_fields",
        "copy",
        "with_raw_response",
        "with_streaming_response",
        "beta",
    ]
)
_WRAPPERS = frozenset({"instructor", "langfuse", "wrapt", "weave", "langsmith"})


def call(node: ast.Call, frame: Frame) -> Value:
    arguments = arguments_of(node, frame)
    if isinstance(node.func, ast.Attribute):
        receiver = frame.value(node.func.value)
        if isinstance(receiver, Either):
            receiver = frame.machine.preferred(receiver)
        name = node.func.attr
        found = methods.method_of(frame, receiver, name, arguments, node)
        if found is not None:
            return found
        callee = classes.attribute(node.func, frame)
    else:
        callee = frame.value(node.func)
    return apply(frame, callee, arguments, node)


def arguments_of(node: ast.Call, frame: Frame) -> Arguments:
    positional: list[Value] = []
    keywords: list[tuple[str | None, Value]] = []
    is_open = False
    for argument in node.args:
        value = frame.lazy(argument)
        if not isinstance(argument, ast.Starred):
            positional.append(value)
            continue
        items = getattr(frame.machine.force(value), "items", None)
        if isinstance(items, tuple):
            positional += items
        else:
            is_open = True
    for keyword in node.keywords:
        value = frame.lazy(keyword.value)
        if keyword.arg is not None:
            keywords.append((keyword.arg, value))
            continue
        known = frame.machine.force(value)
        if isinstance(known, Mapping):
            keywords += known.entries
            is_open = is_open or known.is_open
        else:
            is_open = True
    return Arguments(tuple(positional), Mapping(tuple(keywords)), is_open)


def apply(frame: Frame, callee: Value, arguments: Arguments, node: ast.Call) -> Value:
    """The result of calling a value."""
    callee = frame.machine.force(callee)
    if isinstance(callee, Either):
        callee = frame.machine.preferred(callee)
    if isinstance(callee, Function):
        return Deferred(callee, arguments, frame.site(node), frame)
    if isinstance(callee, Class):
        return constructed(frame, callee, arguments, node)
    if isinstance(callee, External):
        return library_call(frame, callee, arguments, node)
    if isinstance(callee, Template):
        return templates.filled_by_call(frame, callee, arguments, node)
    return unknown_call(frame, callee, arguments, node)


def constructed(frame: Frame, callee: Class, arguments: Arguments, node: ast.Call) -> Value:
    """An object of the project; one with a role and a content is a chat message."""
    for value in (*arguments.positional, *(value for _, value in arguments.keywords.entries)):
        frame.machine.settle(value, frame)
    role = frame.machine.literal_text(arguments.keywords.get("role"))
    content = arguments.keywords.get("content")
    if role is not None and content is not None:
        return Message(normal_role(role), content, frame.site(node))
    return Instance(callee.definition, arguments)


def library_call(frame: Frame, callee: External, arguments: Arguments, node: ast.Call) -> Value:
    name = callee.name
    source = origins.CALLS.get(name)
    if source is origins.CALLS["os.listdir"] and _is_fixed_folder(frame, arguments):
        source = origins.FIXED_LISTING
    if source is not None:
        return source_value(frame, source, name, arguments, node)
    special = builtin_calls.FUNCTIONS.get(name)
    if special is not None:
        found = special(frame, arguments, node)
        if found is not None:
            return found
    if name in strings.TEXT_FUNCTIONS and arguments.positional:
        return same_text(frame, arguments.positional[0], node)
    role = role_of_class(name)
    if role is not None:
        return templates.message(frame, role, arguments, node)
    if is_template_class(name) or templates.is_template(name):
        found = templates.template(frame, callee, arguments, node)
        if found is not None:
            return found
    return table_call(frame, callee, arguments, node)


def table_call(frame: Frame, callee: External, arguments: Arguments, node: ast.Call) -> Value:
    """A call of a library that may be one of the table."""
    name = callee.name
    last = name.rsplit(".", 1)[-1]
    if last in _SAME_OBJECT and callee.receiver is not None:
        frame.machine.rebound(callee.receiver, arguments)
        return callee.receiver
    if name.split(".", 1)[0] in _WRAPPERS and arguments.positional:
        wrapped = frame.machine.force(arguments.positional[0])
        if isinstance(wrapped, External):
            return wrapped
    keywords = frozenset(key for key, _ in arguments.keywords.entries if key)
    shape = match.shape_of_call(name, keywords, is_import=True)
    if shape is None and callee.receiver is not None and last in frameworks.MODEL_METHODS:
        shape = frame.machine.model_method(callee)
    for value in (*arguments.positional, *(value for _, value in arguments.keywords.entries)):
        frame.machine.settle(value, frame)
    if shape is not None:
        frame.machine.record_call(
            frame,
            node,
            Called(shape, name, arguments, frame.site(node), frame.function, frame.loops > 0, callee.receiver),
        )
    if match.is_retrieval(name):
        return retrieved(frame, node)
    if last in origins.PATH_LISTINGS and name.startswith("pathlib.Path()"):
        folder = callee.receiver.arguments if isinstance(callee.receiver, External) else None
        is_fixed = folder is not None and _is_fixed_folder(frame, folder)
        source = origins.FIXED_LISTING if is_fixed else origins.CALLS["os.listdir"]
        return source_value(frame, source, name, arguments, node)
    if last in origins.PATH_READINGS and name.startswith("pathlib.Path()"):
        return source_value(frame, origins.CALLS["os.stat"], name, arguments, node)
    return External(name + "()", arguments, frame.site(node), callee.receiver)


def _is_fixed_folder(frame: Frame, arguments: Arguments) -> bool:
    """Whether a listing is that of a folder of the program, not of where it happens to run."""
    path = frame.machine.literal_text(arguments.positional[0] if arguments.positional else None)
    return path is not None and path.strip("./*") != ""


def retrieved(frame: Frame, node: ast.Call) -> Opaque:
    return Opaque(Piece(None, Cadence.TURN, Origin.RETRIEVAL, Evidence.PROVED, frame.site(node)))


def source_value(frame: Frame, source: origins.Source, name: str, arguments: Arguments, node: ast.Call) -> Value:
    """The value of a call that reads a clock, a random source or the environment."""
    if name == "arrow.get" and (arguments.positional or arguments.keywords.entries):
        return UNKNOWN
    if name in ("time.localtime", "time.gmtime", "time.ctime") and arguments.positional:
        inner = frame.machine.force(arguments.positional[0])
        if not (isinstance(inner, Opaque) and inner.instant is not None):
            return derived(inner)
    if source.origin is Origin.SAMPLE and frame.machine.is_seeded(frame.module):
        return UNKNOWN
    detail = source.detail or (name.rsplit(".", 1)[-1] if source.origin is not Origin.CLOCK else "")
    piece = Piece(None, source.cadence, source.origin, Evidence.PROVED, frame.site(node), detail=detail)
    if frame.most is not None:
        piece = frozen(piece, frame.most)
    if source.unit and not source.is_text:
        return Opaque(piece, Precision(source.unit))
    if source.unit:
        return Opaque(replace(piece, detail=", ".join(p for p in (f"to the {source.unit}", piece.detail) if p)))
    return Opaque(piece)


def same_text(frame: Frame, value: Value, node: ast.Call) -> Value:
    """`str(x)`, `dedent(x)`: text that changes when `x` does."""
    known = frame.machine.force(value)
    if isinstance(known, Text | Either):
        return known
    name = strings.spelled(node.args[0]) if node.args else ""
    return Text(text_of(frame.machine, known, frame.site(node), name))


def unknown_call(frame: Frame, callee: Value, arguments: Arguments, node: ast.Call) -> Value:
    """A call of something that is not known; its arguments may still be those of a prompt."""
    name = strings.spelled(node.func)
    for value in (*arguments.positional, *(value for _, value in arguments.keywords.entries)):
        frame.machine.settle(value, frame)
    keywords = frozenset(key for key, _ in arguments.keywords.entries if key)
    shape = match.shape_of_call(name, keywords, is_import=False) if "." in name else None
    if shape is not None:
        frame.machine.record_call(
            frame, node, Called(shape, name, arguments, frame.site(node), frame.function, frame.loops > 0)
        )
    if "." in name and match.is_retrieval(name):
        return retrieved(frame, node)
    if isinstance(callee, Opaque) and isinstance(node.func, ast.Attribute):
        return _method_result(callee, node.func.attr)
    return UNKNOWN


def _method_result(callee: Opaque, method: str) -> Value:
    """A method of an unknown object: a value that was followed to its source keeps it, a name says nothing more."""
    if callee.piece.evidence is Evidence.PROVED and callee.piece.cadence is not None:
        return Opaque(callee.piece)
    return Opaque(UNKNOWN_PIECE) if method not in strings.SAME_TEXT else callee


def piped(left: Value, right: Value) -> Value:
    """`prompt | model`: a chain, which is filled like its prompt."""
    if isinstance(left, Template):
        return left if isinstance(right, Template) else replace(left, in_chain=True)
    if isinstance(left, Message):
        return left
    return right if isinstance(right, Template) else UNKNOWN
