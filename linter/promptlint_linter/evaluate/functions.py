"""Calls of functions of the project: arguments bound, the body run, what it returns."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import TYPE_CHECKING

from promptlint_core.cadence import Cadence, Origin
from promptlint_core.names import origin_of_name
from promptlint_linter.calls.frameworks import INSTRUCTION_DECORATORS, MODELS
from promptlint_linter.calls.vendors import CLIENT_PACKAGES
from promptlint_linter.evaluate import fragments, lists, statements, switches
from promptlint_linter.evaluate.branches import either
from promptlint_linter.evaluate.dependence import depends, tells
from promptlint_linter.evaluate.scopes import Frame
from promptlint_linter.evaluate.syntax import FunctionNode
from promptlint_linter.evaluate.values import (
    NONE,
    PARAMETER_PIECE,
    UNKNOWN,
    Arguments,
    Class,
    Deferred,
    External,
    Function,
    Instance,
    Listing,
    Mapping,
    Message,
    Opaque,
    Repeat,
    Spread,
    Text,
    Value,
)

if TYPE_CHECKING:
    from promptlint_linter.evaluate.machine import Machine
    from promptlint_linter.evaluate.modules import Definition


class TooFarError(Exception):
    """The evaluation of one function takes too many steps."""


_DEEPEST_CALL = 5
_DEEPEST_SUMMARY = 20
_LEAST_SENT_CHARS = 40
_PARAMETER = Opaque(PARAMETER_PIECE)
_ONCE_PER_PROCESS = frozenset({"lru_cache", "cache", "cached", "memoize"})
_ONCE_PER_OBJECT = frozenset({"cached_property"})
_COLLECTION = re.compile(r"(?i)\b(?:list|sequence|tuple|iterable|dict|mapping)\b")
_MODEL_PACKAGES = CLIENT_PACKAGES | {name.split(".", 1)[0] for name in MODELS}


@dataclass(slots=True)
class Summary:
    """What a function gives whoever calls it: computed once."""

    value: Value
    depends: bool = False
    """The result holds something of a parameter: a call with known arguments is worth a run of its own."""
    sends: bool = False
    """A model is called, or text is put together, with something of a parameter."""


def run(machine: Machine, call: Deferred) -> Value:
    """What a call returns: the summary of the function, or a run for these arguments where they matter."""
    function = call.function
    if not isinstance(function, Function):
        return UNKNOWN
    found = summary(machine, function, call.frame.depth + 1)
    if is_worth_a_run(machine, found, call):
        return run_for(machine, call)
    value = frozen_value(found.value, call.frame.most)
    if isinstance(value, Opaque) and value.piece.cadence is None:
        return replace(value, name="")  # the name of a parameter over there says nothing here
    return value


def is_worth_a_run(machine: Machine, found: Summary, call: Deferred) -> bool:
    """Whether the arguments of a call tell more than the names of the parameters."""
    receiver = call.function.receiver if isinstance(call.function, Function) else None
    if found.depends and isinstance(receiver, Instance) and receiver.arguments is not None:
        return True
    if _decides(machine, call):
        return True
    arguments = (*call.arguments.positional, *(value for _, value in call.arguments.keywords.entries))
    if not found.depends and not found.sends:
        return False
    return any(tells(machine.force(value), 1 if found.depends else _LEAST_SENT_CHARS) for value in arguments)


def _decides(machine: Machine, call: Deferred) -> bool:
    """Whether a call settles a condition in the function: by a constant that it gives, or by one that it leaves out."""
    function = call.function
    if not isinstance(function, Function) or call.arguments.is_open:
        return False
    node = function.node or function.definition.function
    if node is None or isinstance(node, ast.Lambda):
        return False
    tested = switches.tested(machine, node)
    if not tested:
        return False
    positional, by_keyword = _parameters(node.args)
    named = {name: value for name, value in call.arguments.keywords.entries if name is not None}
    if _takes_self(function, node, positional):
        positional = positional[1:]
    given = call.arguments.positional
    for index, parameter in enumerate([*positional, *by_keyword]):
        if parameter.arg not in tested:
            continue
        value = named.get(parameter.arg) or (given[index] if index < min(len(given), len(positional)) else None)
        if switches.is_switch(parameter.default) if value is None else switches.constant_of(value) is not ...:
            return True
    return False


def summary(machine: Machine, function: Function, depth: int = 0) -> Summary:
    """The result of a function run for itself, with parameters of which only the names are known."""
    definition = function.definition
    try:
        node = function.node or definition.function
    except SyntaxError:
        node = None
    if node is None or depth > _DEEPEST_SUMMARY or node in machine.running:
        return Summary(UNKNOWN)
    receiver = function.receiver
    owner = receiver.definition if isinstance(receiver, Instance) else None
    key = (node, owner, function.closure)
    known = machine.summaries.get(key)
    if isinstance(known, Summary):
        return known
    generic = Function(definition, node, function.closure, Instance(owner) if owner is not None else None)
    made = Summary(UNKNOWN)
    machine.running.append(node)
    outer, steps = machine.current, machine.steps
    machine.current, machine.steps = made, 0
    try:
        with machine.within(definition.module):
            frame = frame_for(machine, generic, node, Arguments())
            frame.depth = depth
            made.value = result_of(frame, node)
            if _gives_instructions(node):
                machine.instruct(frame, node, made.value)
        made.depends = depends(made.value)
    except TooFarError:
        pass  # what was found on the way is kept
    finally:
        machine.current, machine.steps = outer, steps
        machine.running.remove(node)
    machine.summaries[key] = made
    return made


def _gives_instructions(node: FunctionNode) -> bool:
    """Whether a decorator hands what the function returns to an agent as its instructions."""
    if isinstance(node, ast.Lambda):
        return False
    named = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any((lists.dotted(name) or "").rpartition(".")[2] in INSTRUCTION_DECORATORS for name in named)


def run_for(machine: Machine, call: Deferred) -> Value:
    """A run for the arguments of one call."""
    function = call.function
    assert isinstance(function, Function)
    depth = call.frame.depth + 1
    node = function.node or function.definition.function
    if node is None or depth > _DEEPEST_CALL or node in machine.running:
        return UNKNOWN
    machine.running.append(node)
    try:
        frame = frame_for(machine, function, node, call.arguments, is_call=True)
        frame.depth = depth
        frame.most = slower(frame.most, call.frame.most)
        frame.via = call.frame.via or call.site.node
        return result_of(frame, node)
    finally:
        machine.running.remove(node)


def frozen_value(value: Value, most: Cadence | None) -> Value:
    """A result that is kept: it changes no faster than the place where it was asked for."""
    if most is None:
        return value
    if isinstance(value, Text):
        return Text(fragments.change(value.fragments, lambda piece: fragments.frozen(piece, most)))
    if isinstance(value, Opaque):
        return replace(value, piece=fragments.frozen(value.piece, most))
    if isinstance(value, Listing):
        return replace(value, items=tuple(frozen_value(item, most) for item in value.items))
    if isinstance(value, Mapping):
        return replace(value, entries=tuple((key, frozen_value(entry, most)) for key, entry in value.entries))
    if isinstance(value, Repeat | Spread):
        return replace(value, value=frozen_value(value.value, most))
    return replace(value, content=frozen_value(value.content, most)) if isinstance(value, Message) else value


def slower(first: Cadence | None, second: Cadence | None) -> Cadence | None:
    known = [cadence for cadence in (first, second) if cadence is not None]
    return min(known) if known else None


def frame_for(
    machine: Machine, function: Function, node: FunctionNode, arguments: Arguments, *, is_call: bool = False
) -> Frame:
    """The frame in which the body runs; `is_call`: for one call, whose missing arguments have their defaults."""
    definition = function.definition
    is_whole = node is definition.function
    frame = Frame(
        machine,
        definition,
        definition.module,
        outer=function.closure,
        function=definition.qualified_name if is_whole else name_of(node, definition),
        owner=definition.owner if is_whole else (function.closure.owner if function.closure else None),
        most=_once(definition) if is_whole else None,
    )
    bind_parameters(frame, function, node, merged_arguments(function.bound, arguments), is_call=is_call)
    return frame


def name_of(node: FunctionNode, definition: Definition) -> str:
    inner = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    return f"{definition.qualified_name}.{inner}"


def _once(definition: Definition) -> Cadence | None:
    last = {name.rsplit(".", 1)[-1] for name in definition.lines.decorators}
    if last & _ONCE_PER_PROCESS:
        return Cadence.DEPLOY
    if definition.owner is not None and definition.name in ("__init__", "__post_init__"):
        return Cadence.SESSION
    return Cadence.SESSION if last & _ONCE_PER_OBJECT else None


def result_of(frame: Frame, node: FunctionNode) -> Value:
    """Run the body and join all that it returns."""
    if isinstance(node, ast.Lambda):
        return frame.value(node.body)
    statements.run_body(frame, node.body)
    if frame.yields:
        return Listing(tuple(Repeat(value) for value in frame.yields), "generator")
    if not frame.returns:
        return NONE
    values = [frame.machine.force(value) for value in frame.returns]
    joined = values[0]
    for value in values[1:]:
        joined = joined if value is NONE else value if joined is NONE else either(joined, value)
    return returned(frame, joined)


def returned(frame: Frame, value: Value) -> Value:
    """The value with the step that it came back from this function."""
    ends = frame.machine.return_site(frame)
    if ends is None:
        return value
    if isinstance(value, Text):
        return Text(fragments.stepped(value.fragments, ends, "returned here"))
    if isinstance(value, Opaque) and value.piece.cadence is not None:
        return replace(value, piece=value.piece.step(ends, "returned here"), name="")
    return value


def merged_arguments(first: Arguments, second: Arguments) -> Arguments:
    if not first.positional and not first.keywords.entries:
        return second
    return Arguments(
        (*first.positional, *second.positional),
        Mapping((*first.keywords.entries, *second.keywords.entries)),
        first.is_open or second.is_open,
    )


@dataclass(frozen=True, slots=True)
class _Parameter:
    arg: str
    annotation: ast.expr | None
    default: ast.expr | None


def _parameters(given: ast.arguments) -> tuple[list[_Parameter], list[_Parameter]]:
    """The parameters that a position may fill, and those that only a keyword does."""
    positional = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(positional) - len(given.defaults)), *given.defaults]
    return (
        [_Parameter(p.arg, p.annotation, default) for p, default in zip(positional, defaults, strict=True)],
        [_Parameter(p.arg, p.annotation, d) for p, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)],
    )


def bind_parameters(
    frame: Frame,
    function: Function,
    node: FunctionNode,
    arguments: Arguments,
    *,
    is_call: bool = False,
) -> None:
    """Give each parameter its argument, its default, or a value that only its name speaks for."""
    parameters, by_keyword = _parameters(node.args)
    positional = list(arguments.positional)
    if _takes_self(function, node, parameters):
        first = parameters.pop(0)
        owner = frame.owner
        receiver = function.receiver or (Instance(owner) if owner is not None else UNKNOWN)
        frame.names[first.arg] = receiver
    used: set[str] = set()
    for index, parameter in enumerate([*parameters, *by_keyword]):
        name = parameter.arg
        used.add(name)
        value = arguments.keywords.get(name)
        if value is None and index < len(parameters) and index < len(positional):
            value = positional[index]
        left_out = value is None
        value = _absent(frame, parameter, arguments, is_call=is_call) if value is None else value
        frame.names[name] = value
        if is_call:
            _note_switch(frame, parameter, value, left_out=left_out and not arguments.is_open)
    if node.args.vararg is not None:
        rest_items: tuple[Value, ...] = tuple(positional[len(parameters) :])
        if frame.machine.is_generic(arguments):
            rest_items = (Spread(_PARAMETER),)
        frame.names[node.args.vararg.arg] = Listing(rest_items, "tuple")
    if node.args.kwarg is not None:
        rest = [(key, value) for key, value in arguments.keywords.entries if key is None or key not in used]
        open_part = [(None, _PARAMETER)] if arguments.is_open or frame.machine.is_generic(arguments) else []
        frame.names[node.args.kwarg.arg] = Mapping((*rest, *open_part))


def _note_switch(frame: Frame, parameter: _Parameter, value: Value, *, left_out: bool) -> None:
    """Remember a parameter whose value this call settles, for the conditions that look at it."""
    if left_out and switches.is_switch(parameter.default) and isinstance(parameter.default, ast.Constant):
        default = parameter.default.value
        frame.switches[parameter.arg] = (value, default if isinstance(default, bool) else None)
    elif not left_out:
        known = switches.constant_of(value)
        if not isinstance(known, EllipsisType):
            frame.switches[parameter.arg] = (value, known)


def _takes_self(function: Function, node: FunctionNode, parameters: Sequence[_Parameter]) -> bool:
    if not parameters or isinstance(node, ast.Lambda) or function.definition.owner is None:
        return False
    if node is not function.definition.function:
        return False
    decorators = {name.rsplit(".", 1)[-1] for name in function.definition.lines.decorators}
    return "staticmethod" not in decorators


def _absent(frame: Frame, parameter: _Parameter, arguments: Arguments, *, is_call: bool) -> Value:
    """A parameter without an argument: what its type or its default says, if the function is run by itself."""
    name = parameter.arg
    typed = _typed(frame, parameter)
    if typed is not None:
        return typed
    if parameter.default is not None and (is_call or arguments.positional or arguments.keywords.entries):
        return frame.value(parameter.default)
    return Opaque(PARAMETER_PIECE, name="" if _is_several_tasks(parameter) else name)


def _is_several_tasks(parameter: _Parameter) -> bool:
    """`task: list[Message]`: a conversation to begin with, or a list to choose from, whose parts are no task's text."""
    meaning = origin_of_name(parameter.arg)
    if parameter.annotation is None or meaning is None or meaning[0] is not Origin.TASK:
        return False
    return _COLLECTION.search(ast.unparse(parameter.annotation)) is not None


def _typed(frame: Frame, parameter: _Parameter) -> Value | None:
    """An annotation that names a client of a model or a class of the project."""
    if parameter.annotation is None:
        return None
    path = lists.dotted(parameter.annotation)
    if path is None or path in ("str", "int", "float", "bool", "list", "dict", "Any", "object", "bytes"):
        return None
    kind = frame.value(parameter.annotation)
    if isinstance(kind, External) and kind.name.split(".", 1)[0] in _MODEL_PACKAGES:
        return External(kind.name + "()")
    if isinstance(kind, Class) and frame.owner is not kind.definition:
        return Instance(kind.definition, name=parameter.arg)
    return None
