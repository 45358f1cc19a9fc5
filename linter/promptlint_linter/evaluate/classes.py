"""Classes of the project: attributes set in `__init__`, class attributes, properties, methods, base classes."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptlint_core.cadence import Cadence
from promptlint_linter.evaluate import clocks, functions, imports, lists, statements
from promptlint_linter.evaluate.branches import either
from promptlint_linter.evaluate.scopes import Frame
from promptlint_linter.evaluate.texts import derived
from promptlint_linter.evaluate.values import (
    UNKNOWN,
    UNKNOWN_PIECE,
    Arguments,
    Class,
    Constant,
    Deferred,
    Either,
    External,
    Function,
    Instance,
    Listing,
    Mapping,
    Message,
    ModuleValue,
    Opaque,
    Text,
    Value,
)

if TYPE_CHECKING:
    from promptlint_linter.evaluate.machine import Machine
    from promptlint_linter.evaluate.modules import ClassDefinition, Definition

_MOST_BASES = 6
_MOST_SETTERS = 3
_INITIALISERS = ("__init__", "__post_init__", "model_post_init")


def attribute(node: ast.Attribute, frame: Frame) -> Value:
    """`base.name`, or what was set on it before in the same function."""
    path = lists.dotted(node)
    if path is not None:
        known = frame.lookup_dotted(path)
        if known is not None:
            return known
    return attribute_of(frame, frame.value(node.value), node.attr, node)


def attribute_of(frame: Frame, base: Value, name: str, node: ast.expr) -> Value:
    machine = frame.machine
    if isinstance(base, External):
        return External(f"{base.name}.{name}", receiver=base)
    if isinstance(base, Opaque):
        if base.instant is not None:
            return clocks.attribute_of(base, name)
        if base.piece.cadence is None:
            found = _only_method(frame, name, node)
            if found is not None:
                return found
        return lists.named(base, lists.below(base.name, name))
    if isinstance(base, Instance):
        return instance_attribute(machine, base, name, frame, node)
    if isinstance(base, ModuleValue):
        found = machine.module_value(base.module, name)
        if found is not None:
            return found
        submodule = machine.project.submodule(base.module, name)
        return ModuleValue(submodule) if submodule is not None else UNKNOWN
    if isinstance(base, Class):
        found = class_attribute(machine, base.definition, name)
        if isinstance(found, Function):
            return Function(found.definition, found.node, receiver=None)
        return found if found is not None else Opaque(UNKNOWN_PIECE, name=name)
    if isinstance(base, Mapping):
        return base.get(name) or Opaque(UNKNOWN_PIECE, name=name)
    if isinstance(base, Message) and name == "content":
        return base.content
    if isinstance(base, Either):
        values = [attribute_of(frame, machine.force(option), name, node) for option in base.options]
        joined = values[0]
        for value in values[1:]:
            joined = either(joined, value)
        return joined
    return derived(base)


def instance_attribute(machine: Machine, base: Instance, name: str, frame: Frame, node: ast.expr) -> Value:
    """An attribute of an object of the project."""
    definition = base.definition
    key = ("attribute", definition, name)
    if key in machine.running:
        return Opaque(UNKNOWN_PIECE, name=name)
    machine.running.append(key)
    try:
        found = _set_at_start(machine, base, name)
        if found is None:
            found = _defined(machine, base, name, frame, node)
        if found is None:
            found = _set_elsewhere(machine, definition, name)
        if found is None or (isinstance(found, Constant) and found.value is None):
            found = _set_in_subclass(machine, definition, name) or found
    finally:
        machine.running.remove(key)
    if found is None:
        return lists.named(Opaque(UNKNOWN_PIECE), lists.below(base.name, name))
    return found


def _set_at_start(machine: Machine, base: Instance, name: str) -> Value | None:
    """What `__init__` or the arguments of a dataclass set."""
    definition = base.definition
    arguments = base.arguments
    if arguments is not None and "__init__" not in definition.methods:
        fields = definition.outline.fields
        position = fields.index(name) if name in fields else None
        found = arguments.get(name, position)
        if found is not None:
            return found
    for owner in bases_of(machine, definition):
        if not any(method in owner.methods for method in _INITIALISERS):
            continue
        if name not in owner.own_names:
            continue
        value = _initialised(machine, base, owner).get(f"self.{name}")
        if value is not None:
            if isinstance(value, Listing) and value.kind == "list" and name in definition.grown_names:
                return statements.grown_elsewhere(value, name)
            return value
    return None


def _initialised(machine: Machine, base: Instance, owner: ClassDefinition) -> dict[str, Value]:
    """The names after `__init__`, which runs once per object."""
    key = ("init", owner, base.definition if base.arguments is None else base)
    known = machine.summaries.get(key)
    if isinstance(known, dict):
        return known
    machine.summaries[key] = {}
    names: dict[str, Value] = {}
    for method in _INITIALISERS:
        if method in owner.methods:
            names.update(_run_method(machine, owner.methods[method], base, Cadence.SESSION))
    machine.summaries[key] = names
    return names


def _run_method(machine: Machine, method: Definition, base: Instance, most: Cadence | None) -> dict[str, Value]:
    try:
        node = method.function
    except SyntaxError:
        return {}
    if node is None or node in machine.running:
        return {}
    machine.running.append(node)
    try:
        function = Function(method, node, receiver=base)
        frame = functions.frame_for(machine, function, node, base.arguments or Arguments())
        frame.depth = 1
        frame.most = most
        with machine.apart():
            statements.run_body(frame, node.body)
        return frame.names
    finally:
        machine.running.remove(node)


def _defined(machine: Machine, base: Instance, name: str, frame: Frame, node: ast.expr) -> Value | None:
    """A method, property or class attribute."""
    found = class_attribute(machine, base.definition, name)
    if isinstance(found, Function) and found.definition.owner is not None:
        bound = Function(found.definition, found.node, receiver=base)
        decorators = {d.rsplit(".", 1)[-1] for d in found.definition.lines.decorators}
        if decorators & {"property", "cached_property", "computed_field"}:
            return Deferred(bound, Arguments(), frame.site(node), frame)
        return bound
    return found


def class_attribute(machine: Machine, definition: ClassDefinition, name: str) -> Value | None:
    """A method or an attribute that the body of a class or of one of its bases sets."""
    for owner in bases_of(machine, definition):
        if name in owner.methods:
            return Function(owner.methods[name], None)
        if name in owner.attributes:
            return _body_value(machine, owner, name)
        if name in owner.outline.classes:
            return Class(owner.nested(name))
    return None


def _body_value(machine: Machine, owner: ClassDefinition, name: str) -> Value | None:
    names = class_body(machine, owner, name)
    return names.get(name)


def class_body(machine: Machine, owner: ClassDefinition, name: str) -> dict[str, Value]:
    """The names after the statements of a class body that set `name`; evaluated once per process."""
    key = ("body", owner)
    frame = machine.summaries.get(key)
    if not isinstance(frame, Frame):
        outer = imports.constants(machine, owner.module)
        frame = Frame(machine, owner.module.whole, owner.module, outer=outer, owner=owner, most=Cadence.DEPLOY)
        frame.function = owner.name
        machine.summaries[key] = frame
    if name not in frame.names and (owner, name) not in machine.running:
        machine.running.append((owner, name))
        try:
            with machine.within(owner.module):
                for definition in owner.attributes.get(name, ()):
                    imports.run_statement(frame, definition)
        finally:
            machine.running.remove((owner, name))
    return frame.names


def _set_elsewhere(machine: Machine, definition: ClassDefinition, name: str) -> Value | None:
    """An attribute that only other methods set."""
    key = ("elsewhere", definition, name)
    if key in machine.summaries:
        known = machine.summaries[key]
        return known if isinstance(known, Value) else None
    machine.summaries[key] = None
    pattern = re.compile(rf"self\.{re.escape(name)}\s*(?::[^=\n]+)?=[^=]")
    found: Value | None = None
    setters = [m for m in definition.methods.values() if pattern.search(m.text)][:_MOST_SETTERS]
    for method in setters:
        value = _run_method(machine, method, Instance(definition), None).get(f"self.{name}")
        if value is not None:
            found = value if found is None else either(found, value)
    machine.summaries[key] = found
    return found


def _set_in_subclass(machine: Machine, definition: ClassDefinition, name: str) -> Value | None:
    """An attribute that a base class uses and leaves to its subclasses: what the first few of them set."""
    found: Value | None = None
    for path, subclass in machine.project.definitions.subclasses(definition.name):
        module = machine.project.at(path, definition.module)
        made = module.classes.get(subclass) if module is not None else None
        if made is None or name not in made.attributes or definition not in bases_of(machine, made):
            continue
        value = _body_value(machine, made, name)
        if value is not None:
            found = value if found is None else either(found, value)
            if isinstance(found, Either) and len(found.options) >= _MOST_SETTERS:
                break
    return found


def _only_method(frame: Frame, name: str, node: ast.expr) -> Value | None:
    """A method of an object that is not known, where one class alone of the project has a method of that name."""
    machine = frame.machine
    paths = machine.project.definitions.definers(name)
    if len(paths) != 1:
        return None
    module = machine.project.at(paths[0], frame.module)
    owners = [owner for owner in module.classes.values() if name in owner.methods] if module is not None else []
    if len(owners) != 1:
        return None
    return _defined(machine, Instance(owners[0]), name, frame, node)


def bases_of(machine: Machine, definition: ClassDefinition) -> Sequence[ClassDefinition]:
    """The class and those of its bases that belong to the project, nearest first."""
    key = ("bases", definition)
    known = machine.summaries.get(key)
    if isinstance(known, tuple):
        return known
    found = [definition]
    is_complete = True
    for owner in found:
        for path in owner.outline.bases:
            value: Value | None = machine.module_value(owner.module, path.split(".", 1)[0])
            for part in path.split(".")[1:]:
                value = machine.module_value(value.module, part) if isinstance(value, ModuleValue) else None
            is_complete = is_complete and value is not None and value is not UNKNOWN  # not known, or not yet
            if isinstance(value, Class) and value.definition not in found and len(found) < _MOST_BASES:
                found.append(value.definition)
    if is_complete:
        machine.summaries[key] = tuple(found)
    return found


def shown(machine: Machine, value: Instance) -> Value | None:
    """What `str()` of an object gives, if its class says so."""
    found = class_attribute(machine, value.definition, "__str__")
    if not isinstance(found, Function):
        return None
    function = Function(found.definition, found.node, receiver=value)
    frame = imports.constants(machine, value.definition.module)
    return machine.force(Deferred(function, Arguments(), frame.site(ast.Name("self")), _unfrozen(frame)))


def _unfrozen(frame: Frame) -> Frame:
    return Frame(frame.machine, frame.source, frame.module)


def is_path(value: Value) -> bool:
    """Whether a value is a `pathlib.Path`."""
    return isinstance(value, External) and value.name.startswith("pathlib.Path()")


def path_joined(machine: Machine, left: Value, right: Value) -> Value:
    """`path / "name"`: a path whose literal end is kept."""
    if not isinstance(left, External):
        return UNKNOWN
    ending = machine.literal_text(right)
    before = machine.literal_text(left.arguments.get("path", 0)) if left.arguments else None
    whole = "/".join(part for part in (before, ending) if part) if ending is not None else None
    arguments = Arguments((Text() if whole is None else machine.literal(whole),))
    return External("pathlib.Path()", arguments, left.site)
