"""A file of Python with every character: which expressions stand where, and what stands around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

from promptlint_core.prompt import Place
from promptlint_linter.decode import lines_of


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

    def code(self, node: cst.CSTNode) -> str:
        """Its source as it stands there, over several lines too."""
        place = self.place(node)
        lines = self._lines[place.line - 1 : place.end_line]
        lines[-1] = lines[-1][: place.end_column - 1]
        lines[0] = lines[0][place.column - 1 :]
        return "".join(lines)

    def place(self, node: cst.CSTNode) -> Place:
        span = self._positions[node]
        assert isinstance(span, CodeRange)
        return Place(self.path, span.start.line, span.start.column + 1, span.end.line, span.end.column + 1)

    @cached_property
    def _by_start(self) -> dict[tuple[int, int], list[cst.BaseExpression]]:
        found: dict[tuple[int, int], list[cst.BaseExpression]] = {}
        for node, span in self._positions.items():
            if isinstance(node, cst.BaseExpression) and isinstance(span, CodeRange):
                found.setdefault((span.start.line, span.start.column + 1), []).append(node)
        for nodes in found.values():
            nodes.sort(key=lambda node: (self.place(node).end_line, self.place(node).end_column), reverse=True)
        return found


def method_called(node: cst.CSTNode) -> str:
    """`strftime` of `x.strftime(…)` and of `strftime(…)`; empty for what is no such call."""
    if not isinstance(node, cst.Call):
        return ""
    if isinstance(node.func, cst.Attribute):
        return node.func.attr.value
    return node.func.value if isinstance(node.func, cst.Name) else ""
