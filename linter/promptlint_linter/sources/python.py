"""Python source: the prompts and calls of one file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial

from promptlint_core.practice import Practice
from promptlint_core.prompt import Place
from promptlint_linter.evaluate import classes, functions, imports
from promptlint_linter.evaluate.functions import TooFarError
from promptlint_linter.evaluate.machine import Machine
from promptlint_linter.evaluate.modules import ClassDefinition, Definition, Module
from promptlint_linter.evaluate.prompts import collect
from promptlint_linter.evaluate.values import Function, Instance
from promptlint_linter.gate import may_hold_prompt
from promptlint_linter.practices.read import practices_of
from promptlint_linter.project import Project
from promptlint_linter.sources.unit import Problem, SourceFile, SourceUnit, no_python

_GIVEN_UP = (TooFarError, RecursionError, SyntaxError)
_MOST_NESTED = 200


def read(source: SourceFile, project: Project) -> SourceUnit:
    """Evaluate every definition that may hold a prompt; a file that cannot be parsed gives a problem, not an error."""
    if not may_hold_prompt(source.text):
        return SourceUnit(source.path)
    try:
        module = project.load(source)
    except SyntaxError as error:
        return SourceUnit(source.path, problems=(no_python(source.path, error),))
    except (ValueError, RecursionError, MemoryError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError | MemoryError) else str(error)
        return SourceUnit(source.path, problems=(Problem(Place(source.path, 1), f"cannot be parsed: {reason}"),))
    machine = project.machine
    _evaluate(machine, module)
    found = collect(machine, module, machine.records_of(module))
    practices: list[Practice] = []
    _guarded(machine, lambda: practices.extend(practices_of(source.text, source.path, found.calls, found.prompts)))
    return SourceUnit(source.path, found.prompts, found.calls, practices=tuple(practices))


def _evaluate(machine: Machine, module: Module) -> None:
    with machine.within(module):
        for definition, names in module.statements:
            if definition.lines.is_seeded:
                _guarded(machine, partial(_run_statement, machine, module, definition, names))
        here = list(_functions(module))
        seeded = [function for function in here if function.lines.is_seeded]
        for function in seeded:
            _guarded(machine, partial(_run_function, machine, function))
        for function in _callers(machine, here, seeded):
            _guarded(machine, partial(_run_function, machine, function))
        for owner in _classes(module):
            for name, places in owner.attributes.items():
                if any(place.lines.is_seeded for place in places):
                    _guarded(machine, partial(classes.class_body, machine, owner, name))
        _run_nested(machine)


def _guarded(machine: Machine, run: Callable[[], object]) -> None:
    """One definition that cannot be followed to its end does not keep the others from being read."""
    machine.start()
    try:
        run()
    except _GIVEN_UP:
        pass
    except Exception as error:
        machine.failures.append(error)


def _run_statement(machine: Machine, module: Module, definition: Definition, names: frozenset[str]) -> None:
    for name in names:
        value = machine.module_value(module, name)
        if value is not None:
            machine.force(value)
    imports.run_statement(imports.constants(machine, module), definition)


def _callers(machine: Machine, here: list[Definition], seeded: list[Definition]) -> Iterator[Definition]:
    """Functions that hand text to one of the seeded functions, which sends it on."""
    senders = [f"{function.name}(" for function in seeded if machine.sends(function)]
    for function in here:
        if function not in seeded and any(call in function.text for call in senders):
            yield function


def _functions(module: Module) -> Iterator[Definition]:
    yield from module.functions.values()
    for owner in _classes(module):
        yield from owner.methods.values()


def _classes(module: Module) -> Iterator[ClassDefinition]:
    pending = list(module.classes.values())
    while pending:
        owner = pending.pop(0)
        yield owner
        pending += [owner.nested(name) for name in owner.outline.classes]


def _run_function(machine: Machine, definition: Definition) -> None:
    receiver = Instance(definition.owner) if definition.owner is not None else None
    functions.summary(machine, Function(definition, None, receiver=receiver))


def _run_nested(machine: Machine) -> None:
    """Functions inside functions, with the names that their makers gave them."""
    done = 0
    seen: set[ast.AST] = set()
    while machine.nested and done < _MOST_NESTED:
        outer, node = machine.nested.pop(0)
        if node in seen:
            continue
        seen.add(node)
        done += 1
        function = Function(outer.source, node, closure=outer)
        _guarded(machine, partial(functions.summary, machine, function))
    machine.nested.clear()
