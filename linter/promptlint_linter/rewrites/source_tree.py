"""A file of Python with every character: which expressions stand where, and what stands around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import libcst as cst
from libcst.helpers import get_full_name_for_node
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

from promptlint_core.prompt import Place
from promptlint_linter.decode import between, lines_of


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A node and the source that takes its place."""

    node: cst.CSTNode
    code: str
    safe: bool
    note: str


class SourceTree:
    """Raises libcst's ParserSyntaxError when the text cannot be parsed."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self._lines = lines_of(text)
        self._wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self._positions = self._wrapper.resolve(PositionProvider)
        self._parents = self._wrapper.resolve(ParentNodeProvider)

    def at(self, line: int, column: int) -> Iterator[cst.BaseExpression]:
        """The expressions that start there, the widest first."""
        yield from self._by_start.get((line, column), ())

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._parents.get(node)

    def call_around(self, node: cst.CSTNode) -> str:
        """The function or method that an expression is an argument of; empty where it is none."""
        parent = self.parent(node)
        return method_called(self.parent(parent) or parent) if isinstance(parent, cst.Arg) else ""

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What stands around it, up to the function that it is part of."""
        parent = self.parent(node)
        while parent is not None:
            yield parent
            if isinstance(parent, cst.FunctionDef | cst.Lambda):
                return
            parent = self.parent(parent)

    def scope(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The function or the module that it is part of."""
        return next(reversed([node, *self.above(node)]), None)

    def bindings(self, name: str, scope: cst.CSTNode | None) -> int:
        """How often a name is given a value in one function or module, imports aside."""
        return self._bindings.get((name, scope), 0)

    def imported(self, node: cst.BaseExpression) -> str:
        """`json.dumps` for `j.dumps` behind `import json as j`; empty for what is not, or not surely, imported."""
        if isinstance(node, cst.Attribute):
            module = self.imported(node.value)
            return f"{module}.{node.attr.value}" if module else ""
        if not isinstance(node, cst.Name) or any(name == node.value for name, _ in self._bindings):
            return ""
        origins = self._imports.get(node.value, set())
        return next(iter(origins)) if len(origins) == 1 else ""

    def code(self, node: cst.CSTNode) -> str:
        """Its source as it stands there, over several lines too."""
        place = self.place(node)
        return between(self._lines, (place.line - 1, place.column - 1), (place.end_line - 1, place.end_column - 1))

    def place(self, node: cst.CSTNode) -> Place:
        span = self._positions[node]
        assert isinstance(span, CodeRange)
        return Place(self.path, span.start.line, span.start.column + 1, span.end.line, span.end.column + 1)

    @cached_property
    def _bindings(self) -> dict[tuple[str, cst.CSTNode | None], int]:
        found: dict[tuple[str, cst.CSTNode | None], int] = {}
        for node in self._parents:
            for name in _names_bound(node):
                key = name.value, self.scope(name)
                found[key] = found.get(key, 0) + 1
        return found

    @cached_property
    def _imports(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for node in self._parents:
            if isinstance(node, cst.Import | cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
                module = node.module if isinstance(node, cst.ImportFrom) else None
                before = f"{get_full_name_for_node(module)}." if module is not None else ""
                for alias in node.names:
                    name = get_full_name_for_node(alias.name) or ""
                    is_path = alias.asname is None and not before
                    bound = name.partition(".")[0] if is_path else alias.evaluated_alias or name
                    found.setdefault(bound, set()).add(bound if is_path else before + name)
        return found

    @cached_property
    def _by_start(self) -> dict[tuple[int, int], list[cst.BaseExpression]]:
        found: dict[tuple[int, int], list[cst.BaseExpression]] = {}
        for node, span in self._positions.items():
            if isinstance(node, cst.BaseExpression) and isinstance(span, CodeRange):
                found.setdefault((span.start.line, span.start.column + 1), []).append(node)
        for nodes in found.values():
            nodes.sort(key=lambda node: (self.place(node).end_line, self.place(node).end_column), reverse=True)
        return found


def _names_bound(node: cst.CSTNode) -> Iterator[cst.Name]:
    if isinstance(node, cst.Param):
        yield node.name
    elif isinstance(node, cst.AssignTarget | cst.AnnAssign | cst.AugAssign | cst.NamedExpr | cst.For | cst.CompFor):
        yield from _names_in(node.target)
    elif isinstance(node, cst.WithItem) and node.asname is not None:
        yield from _names_in(node.asname.name)


def _names_in(target: cst.BaseExpression) -> Iterator[cst.Name]:
    if isinstance(target, cst.Name):
        yield target
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from _names_in(element.value)


def method_called(node: cst.CSTNode) -> str:
    """`strftime` of `x.strftime(…)` and of `strftime(…)`; empty for what is no such call."""
    if not isinstance(node, cst.Call):
        return ""
    if isinstance(node.func, cst.Attribute):
        return node.func.attr.value
    return node.func.value if isinstance(node.func, cst.Name) else ""
