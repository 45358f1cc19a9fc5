"""From an argument of a call backwards: the expressions of the module that its value is made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from promptlint_linter.practices.tree import FunctionNode, ModuleTree, constant_text, entry, inside, parameters, path_of

_DEEPEST = 40
_MOST_FLOWS = 3_000
_NEW = frozenset(
    [
        "tool_calls",
        "function_calls",
        "calls",
        "results",
        "tool_results",
        "outputs",
        "futures",
        "tasks",
        "tool_uses",
        "blocks",
    ]
)
_ROLES = {
    "SystemMessage": "system", "HumanMessage": "user", "UserMessage": "user", "AIMessage": "assistant",
    "ToolMessage": "tool",
}  # fmt: skip


class Level(IntEnum):
    """What a value is in the prompt."""

    LIST = 0
    """The messages, or the tools."""
    MESSAGE = 1
    """One of them."""
    CONTENT = 2
    """Something inside one."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A function with what its parameters stand for; None: the module."""

    function: FunctionNode | None
    bound: tuple[tuple[str, ast.expr, Scope], ...] = ()

    def argument(self, name: str) -> tuple[ast.expr, Scope] | None:
        return next(((value, scope) for known, value, scope in self.bound if known == name), None)


@dataclass(frozen=True, slots=True)
class Flow:
    node: ast.expr
    scope: Scope
    level: Level
    each: ast.AST | None = None
    """The comprehension or loop that makes one message out of each stored one, where the value is part of that."""
    role: str = ""
    """Of the message that it is a part of, where that is a constant."""


@dataclass(eq=False)
class Slicer:
    """Follows one argument. Branches are all taken."""

    tree: ModuleTree
    call: ast.Call
    seen: set[tuple[int, int, Level, bool]] = field(default_factory=set)

    def flows(self, node: ast.expr, scope: Scope, level: Level = Level.LIST) -> list[Flow]:
        """The expressions that a value is made of, the outermost first."""
        found: list[Flow] = []
        for flow in self._walk(Flow(node, scope, level), 0):
            found.append(flow)
            if len(found) >= _MOST_FLOWS:
                break
        return found

    def _walk(self, flow: Flow, depth: int) -> Iterator[Flow]:
        key = (id(flow.node), id(flow.scope.function), flow.level, flow.each is not None)
        if depth > _DEEPEST or key in self.seen:
            return
        self.seen.add(key)
        yield flow
        for inner in self._parts(flow):
            yield from self._walk(inner, depth + 1)

    def _parts(self, flow: Flow) -> Iterator[Flow]:
        node = flow.node
        if isinstance(node, ast.Name | ast.Attribute):
            yield from self._named(flow)
        elif isinstance(node, ast.Subscript):
            yield from self._named(flow)
            yield self._to(flow, node.value)
        elif isinstance(node, ast.Call):
            yield from self._called(flow, node)
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            for element in node.elts:
                is_spread = isinstance(element, ast.Starred)
                yield self._to(flow, element, flow.level if is_spread else _inner(flow.level))
        elif isinstance(node, ast.Dict):
            role = constant_text(entry(node, "role")) or flow.role
            for name, value in zip(node.keys, node.values, strict=True):
                level = flow.level if name is None else Level.CONTENT
                yield Flow(value, flow.scope, level, flow.each, role)
        elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            yield from self._comprehended(flow, node)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr) and not (isinstance(node, ast.IfExp) and child is node.test):
                    yield self._to(flow, child)

    def _to(self, flow: Flow, node: ast.expr, level: Level | None = None, each: ast.AST | None = None) -> Flow:
        return Flow(node, flow.scope, flow.level if level is None else level, each or flow.each, flow.role)

    def _comprehended(self, flow: Flow, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Iterator[Flow]:
        first = node.generators[0].iter
        stored = flow.level is Level.LIST and not _is_new(first)
        yield self._to(flow, node.elt, _inner(flow.level), node if stored else None)
        for generator in node.generators:
            yield self._to(flow, generator.iter, flow.level)

    def _named(self, flow: Flow) -> Iterator[Flow]:
        """What a name, attribute or entry was given."""
        path = path_of(flow.node)
        if not path:
            if isinstance(flow.node, ast.Attribute):
                yield self._to(flow, flow.node.value)
            return
        scope = flow.scope
        function = scope.function
        if function is not None and path in parameters(function):
            given = scope.argument(path)
            if given is not None:
                yield Flow(given[0], given[1], flow.level, flow.each, flow.role)
            elif not scope.bound:
                yield from self._from_callers(flow, function, path)
        if path.startswith("self."):
            owner = self.tree.class_of(flow.node)
            for change in self.tree.changes_of(owner, path) if owner else ():
                around = self.tree.function_of(change)
                yield from self._changed(Flow(flow.node, Scope(around), flow.level, flow.each, flow.role), change)
            return
        found = self.tree.changes_of(function, path) if function is not None else []
        for change in found:
            yield from self._changed(flow, change)
        if not found and isinstance(flow.node, ast.Attribute | ast.Subscript):
            yield self._to(flow, flow.node.value)
        outer = self.tree.function_of(function) if function is not None else None
        if not found and (function is None or path not in parameters(function)):
            if outer is not None:
                yield Flow(flow.node, Scope(outer), flow.level, flow.each, flow.role)
            else:
                for change in self.tree.changes_of(self.tree.root, path):
                    yield from self._changed(Flow(flow.node, Scope(None), flow.level, flow.each, flow.role), change)

    def _from_callers(self, flow: Flow, function: FunctionNode, name: str) -> Iterator[Flow]:
        for call in self.tree.callers(function):
            value = _argument(call, function, name)
            if value is not None:
                yield Flow(value, Scope(self.tree.function_of(call)), flow.level, flow.each, flow.role)

    def _changed(self, flow: Flow, change: ast.AST) -> Iterator[Flow]:
        if isinstance(change, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            if change.value is not None:
                yield self._to(flow, change.value)
        elif isinstance(change, ast.For | ast.AsyncFor | ast.comprehension):
            yield self._to(flow, change.iter, Level.LIST if flow.level is Level.LIST else flow.level)
        elif isinstance(change, ast.Call) and change.args and isinstance(change.func, ast.Attribute):
            method = change.func.attr
            if method in ("extend", "update"):
                yield self._to(flow, change.args[0])
            else:
                yield self._to(flow, change.args[-1], _inner(flow.level), self._stored_loop(flow, change))

    def _stored_loop(self, flow: Flow, change: ast.AST) -> ast.AST | None:
        """The loop over stored messages in which a message is put into the list that is sent."""
        if flow.level is not Level.LIST:
            return None
        for loop in self.tree.loops_around(change):
            if isinstance(loop, ast.While) or _is_new(loop.iter):
                continue
            if not any(inner is self.call for inner in ast.walk(loop)):
                return loop
        return None

    def _called(self, flow: Flow, node: ast.Call) -> Iterator[Flow]:
        function = self.tree.function_named(node)
        if function is not None:
            bound = []
            for name in parameters(function):
                value = _argument(node, function, name)
                if value is not None:
                    bound.append((name, value, flow.scope))
            scope = Scope(function, tuple(bound))
            for inner in inside(function):
                if isinstance(inner, ast.Return | ast.Yield) and inner.value is not None:
                    level = _inner(flow.level) if isinstance(inner, ast.Yield) else flow.level
                    yield Flow(inner.value, scope, level, flow.each, flow.role)
            return
        if isinstance(node.func, ast.Attribute):
            yield self._to(flow, node.func.value)
        role = _ROLES.get(path_of(node.func).rsplit(".", 1)[-1], flow.role)
        if role != flow.role:
            for value in (*node.args[:1], *(k.value for k in node.keywords if k.arg in ("content", "text"))):
                yield Flow(value, flow.scope, Level.CONTENT, flow.each, role)
            return
        if isinstance(node.func, ast.Name) and node.func.id == "map" and len(node.args) == 2:
            yield from self._mapped(flow, node)
        for value in (*node.args, *(k.value for k in node.keywords)):
            yield self._to(flow, value)

    def _mapped(self, flow: Flow, node: ast.Call) -> Iterator[Flow]:
        """`map(render, stored)`: the function once for each."""
        for function in self.tree.functions.get(path_of(node.args[0]), ())[:1]:
            names = parameters(function)
            bound = ((names[0], node.args[1], flow.scope),) if names else ()
            for inner in inside(function):
                if isinstance(inner, ast.Return) and inner.value is not None:
                    yield Flow(inner.value, Scope(function, bound), _inner(flow.level), node, flow.role)


def _inner(level: Level) -> Level:
    return Level(min(level + 1, Level.CONTENT))


def _is_new(node: ast.expr) -> bool:
    """Numbers, or the calls and blocks of the newest answer: what is made of them is made once."""
    if isinstance(node, ast.Call):
        return path_of(node.func) == "range" or any(_is_new(argument) for argument in node.args[:1])
    return path_of(node).replace("]", "").replace("[", ".").rsplit(".", 1)[-1] in _NEW


def _argument(call: ast.Call, function: FunctionNode, name: str) -> ast.expr | None:
    found = next((k.value for k in call.keywords if k.arg == name), None)
    if found is not None:
        return found
    names = parameters(function)
    position = names.index(name)
    if position < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: position + 1]):
        return call.args[position]
    return None
