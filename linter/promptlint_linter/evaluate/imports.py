"""Names of modules: imports, functions, classes and constants of the project, and library names by their path."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from promptlint_core.cadence import Cadence
from promptlint_linter.evaluate import statements
from promptlint_linter.evaluate.outline import Imported
from promptlint_linter.evaluate.scopes import Frame
from promptlint_linter.evaluate.values import (
    UNKNOWN,
    Class,
    External,
    Function,
    Listing,
    ModuleValue,
    Opaque,
    Value,
)

if TYPE_CHECKING:
    from promptlint_linter.evaluate.machine import Machine
    from promptlint_linter.evaluate.modules import Definition, Module

_MOST_STARS = 8


def module_value(machine: Machine, module: Module, name: str) -> Value | None:
    """What a name of a module stands for; None when the module does not define it."""
    frame = constants(machine, module)
    if name in frame.names:
        return frame.names[name]
    value = _define(machine, module, frame, name)
    if value is not None:
        frame.names[name] = value
    return value


def module_attribute(machine: Machine, module: Module, path: str) -> Value | None:
    """What a module set on an attribute of one of its objects (`env.globals`)."""
    name = path.split(".", 1)[0]
    frame = constants(machine, module)
    if name not in frame.names and name in module.changes:
        module_value(machine, module, name)
    return frame.names.get(path)


def constants(machine: Machine, module: Module) -> Frame:
    """The frame of the module itself, shared by all that ask: constants are evaluated once."""
    frame = machine.summaries.get(module)
    if not isinstance(frame, Frame):
        frame = Frame(machine, module.whole, module, most=Cadence.DEPLOY)
        machine.summaries[module] = frame
    return frame


def _define(machine: Machine, module: Module, frame: Frame, name: str) -> Value | None:
    if name in module.functions:
        return Function(module.functions[name], None)
    if name in module.classes:
        return Class(module.classes[name])
    if name in module.changes and (module, name) not in machine.running:
        machine.running.append((module, name))
        try:
            with machine.within(module):
                value = _evaluate_constant(module, frame, name)
        finally:
            machine.running.remove((module, name))
        if value is not None or name not in module.outline.imports:
            return value
    elif name in module.changes and name not in module.outline.imports:
        return None
    if name in module.outline.imports:  # `dspy.configure(…)` changes a package, it does not bind its name
        return imported(machine, module, module.outline.imports[name])
    for star in module.outline.stars[:_MOST_STARS]:
        target = machine.project.find(star, module)
        if target is not None and target is not module and (module, name, target) not in machine.running:
            machine.running.append((module, name, target))
            try:
                value = module_value(machine, target, name)
            finally:
                machine.running.remove((module, name, target))
            if value is not None:
                return value
    return External(name) if hasattr(builtins, name) else None


def _evaluate_constant(module: Module, frame: Frame, name: str) -> Value | None:
    for definition in module.changes[name]:
        run_statement(frame, definition)
    value = frame.names.get(name)
    if isinstance(value, Listing) and value.kind == "list" and module.is_grown(name):
        value = statements.grown_elsewhere(value, name)
        frame.names[name] = value
    return value


def run_statement(frame: Frame, definition: Definition) -> None:
    """Run one statement of a module in the module's frame."""
    if definition in frame.done:
        return
    frame.done.add(definition)
    source = frame.source
    frame.source = definition
    try:
        statements.run_body(frame, definition.statements)
    except SyntaxError:
        pass
    finally:
        frame.source = source


def imported(machine: Machine, module: Module, what: Imported) -> Value:
    """The thing that an import statement binds."""
    if what.name is None:
        target = machine.project.find(what, module)
        return ModuleValue(target) if target is not None else External(what.module)
    target = machine.project.find(what, module)
    if target is not None and target is not module:
        key = (target, what.name, "import")
        if key in machine.running:
            return UNKNOWN
        machine.running.append(key)
        try:
            value = module_value(machine, target, what.name)
        finally:
            machine.running.remove(key)
        if value is not None and not (isinstance(value, Opaque) and value is UNKNOWN):
            return value
        inner = f"{what.module}.{what.name}" if what.module else what.name
        submodule = machine.project.find(Imported(inner, None, what.level), module)
        return ModuleValue(submodule) if submodule is not None else UNKNOWN
    inner = f"{what.module}.{what.name}" if what.module else what.name
    submodule = machine.project.find(Imported(inner, None, what.level), module)
    if submodule is not None:
        return ModuleValue(submodule)
    return UNKNOWN if what.level else External(inner)
