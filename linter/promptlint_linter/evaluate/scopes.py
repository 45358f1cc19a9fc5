"""The names that are known at a place of the program."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptlint_core.cadence import Cadence
from promptlint_linter.evaluate.branches import either
from promptlint_linter.evaluate.values import UNKNOWN, Site, Value

if TYPE_CHECKING:
    from promptlint_linter.evaluate.machine import Machine
    from promptlint_linter.evaluate.modules import ClassDefinition, Definition, Module


@dataclass(eq=False)
class Frame:
    """One run of a function body, a class statement or a module."""

    machine: Machine
    source: Definition
    module: Module
    names: dict[str, Value] = field(default_factory=dict)
    """Values by name, and by dotted name (`self.history`) of attributes that were set here."""
    outer: Frame | None = None
    """Where a nested function was defined."""
    function: str = ""
    """Qualified name of the function, for people and as evidence."""
    owner: ClassDefinition | None = None
    most: Cadence | None = None
    """Nothing evaluated here changes faster: module constants, `__init__`."""
    depth: int = 0
    via: ast.AST | None = None
    """The call for whose arguments this run is made; None when the function is run for itself."""
    switches: dict[str, tuple[Value, bool | str | None]] = field(default_factory=dict)
    """Parameters that this run's call left at a constant default or gave a constant: as held, and as such."""
    loops: int = 0
    returns: list[Value] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    ends: Site | None = None
    """The last return statement that was run."""
    done: set[Definition] = field(default_factory=set)
    """Of a module or class: the statements that were run."""

    def site(self, node: ast.AST) -> Site:
        return Site(self.source, node)

    def value(self, node: ast.expr) -> Value:
        """The value of an expression, with calls of project functions run."""
        return self.machine.force(self.lazy(node))

    def lazy(self, node: ast.expr) -> Value:
        """The value of an expression; calls of project functions may be left for later."""
        return self.machine.value(node, self)

    def lookup(self, name: str) -> Value | None:
        """What a plain name stands for; None where nothing is known of it."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            frame = frame.outer
        return self.machine.module_value(self.module, name)

    def lookup_dotted(self, path: str) -> Value | None:
        """What was set on an attribute, here or in an enclosing function."""
        frame: Frame | None = self
        while frame is not None:
            if path in frame.names:
                return frame.names[path]
            frame = frame.outer
        return self.machine.module_attribute(self.module, path)

    def bind(self, name: str, value: Value) -> None:
        self.names[name] = value
        prefix = name + "."
        for path in [known for known in self.names if known.startswith(prefix)]:
            del self.names[path]

    def branch(self) -> dict[str, Value]:
        """A copy of the names, to be given to `rejoin` or put back."""
        return dict(self.names)

    def rejoin(self, ways: list[dict[str, Value]]) -> None:
        """Continue where several ways of a condition meet."""
        if not ways:
            return
        joined = dict(ways[0])
        for way in ways[1:]:
            for name in {*joined, *way}:
                first, second = joined.get(name), way.get(name)
                if first is None or second is None:
                    joined[name] = first or second or UNKNOWN
                elif first is not second:
                    joined[name] = either(first, second)
        self.names = joined
