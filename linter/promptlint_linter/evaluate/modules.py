"""Modules of the linted project and their definitions; a definition is parsed by libcst when it is evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider

from promptlint_core.prompt import Place
from promptlint_linter.evaluate.outline import ClassOutline, Lines, Outline

if TYPE_CHECKING:
    from promptlint_linter.project import Project

_LONGEST_EXPRESSION = 120
_LEAST_UNIQUE_CHARS = 8
"""Shorter text may occur inside another word."""


class Definition:
    """Some lines of a module: a function, a class statement or a statement of the module."""

    def __init__(self, module: Module, lines: Lines, owner: ClassDefinition | None = None) -> None:
        self.module = module
        self.lines = lines
        self.owner = owner

    @property
    def name(self) -> str:
        return self.lines.name

    @property
    def qualified_name(self) -> str:
        return f"{self.owner.name}.{self.name}" if self.owner else self.name

    @cached_property
    def text(self) -> str:
        return "".join(self.module.source_lines[self.lines.first - 1 : self.lines.last])

    @cached_property
    def _tree(self) -> cst.Module:
        """Indented lines are parsed below an `if` so that the strings in them keep their text."""
        head = "if 1:\n" if self._is_indented else ""
        return cst.parse_module(head + self.text)

    @property
    def _is_indented(self) -> bool:
        return self.text[:1] in (" ", "\t")

    @cached_property
    def statements(self) -> Sequence[cst.BaseStatement | cst.BaseSmallStatement]:
        """Raises libcst's ParserSyntaxError when libcst does not take what the standard parser took."""
        body: Sequence[cst.BaseStatement | cst.BaseSmallStatement] = self._tree.body
        if self._is_indented and body and isinstance(body[0], cst.If):
            return body[0].body.body
        return body

    @cached_property
    def function(self) -> cst.FunctionDef | None:
        return next((s for s in self.statements if isinstance(s, cst.FunctionDef)), None)

    @cached_property
    def _positions(self) -> Mapping[cst.CSTNode, CodeRange]:
        """One pass of code generation; libcst's public way to the same table visits every node twice more."""
        provider = PositionProvider()
        provider._gen_impl(self._tree)  # noqa: SLF001
        return {node: span for node, span in provider._computed.items() if isinstance(span, CodeRange)}  # noqa: SLF001

    def place(self, node: cst.CSTNode) -> Place:
        """Where a node of this definition stands."""
        known = self._places.get(node)
        if known is None:
            known = self._places[node] = self._only_occurrence(node) or self._generated_place(node)
        return known

    @cached_property
    def _places(self) -> dict[cst.CSTNode, Place]:
        return {}

    def _only_occurrence(self, node: cst.CSTNode) -> Place | None:
        """The place of a node whose source text occurs once: most that is reported, found without a table."""
        code = self._tree.code_for_node(node)
        start = self.text.find(code)
        if start < 0 or len(code) < _LEAST_UNIQUE_CHARS or self.text.find(code, start + 1) >= 0:
            return None
        end = start + len(code)
        first, last = self.text.count("\n", 0, start), self.text.count("\n", 0, end)
        return Place(
            self.module.shown,
            self.lines.first + first,
            start - self.text.rfind("\n", 0, start),
            self.lines.first + last,
            end - self.text.rfind("\n", 0, end),
        )

    def _generated_place(self, node: cst.CSTNode) -> Place:
        span = self._positions.get(node)
        if span is None:
            return Place(self.module.shown, self.lines.first)
        above = self.lines.first - (2 if self._is_indented else 1)
        return Place(
            self.module.shown,
            span.start.line + above,
            span.start.column + 1,
            span.end.line + above,
            span.end.column + 1,
        )

    def code(self, node: cst.CSTNode) -> str:
        """The source of an expression on one line."""
        text = re.sub(r"\s+", " ", self._tree.code_for_node(node)).strip()
        return text if len(text) <= _LONGEST_EXPRESSION else text[: _LONGEST_EXPRESSION - 1] + "…"


@dataclass(eq=False)
class ClassDefinition:
    """A class of the project."""

    module: Module
    outline: ClassOutline
    methods: dict[str, Definition] = field(init=False)
    attributes: dict[str, list[Definition]] = field(init=False)

    def __post_init__(self) -> None:
        self.methods = {name: Definition(self.module, at, self) for name, at in self.outline.methods.items()}
        self.attributes = {
            name: [Definition(self.module, at, self) for at in places]
            for name, places in self.outline.attributes.items()
        }

    @property
    def name(self) -> str:
        return self.outline.lines.name

    def nested(self, name: str) -> ClassDefinition:
        return self._nested.setdefault(name, ClassDefinition(self.module, self.outline.classes[name]))

    @cached_property
    def _nested(self) -> dict[str, ClassDefinition]:
        return {}

    @cached_property
    def text(self) -> str:
        lines = self.outline.lines
        return "".join(self.module.source_lines[lines.first - 1 : lines.last])


class Module:
    """A file of Python source. `shown` is its path as the user reads it."""

    def __init__(self, project: Project, path: str, shown: str, text: str, outline: Outline) -> None:
        self.project = project
        self.path = path
        self.shown = shown
        self.text = text
        self.outline = outline
        self.functions = {name: Definition(self, lines) for name, lines in outline.functions.items()}
        self.classes = {name: ClassDefinition(self, found) for name, found in outline.classes.items()}
        self.statements = [(Definition(self, lines), names) for lines, names in outline.statements]
        self.changes: dict[str, list[Definition]] = {}
        for definition, names in self.statements:
            for name in names:
                self.changes.setdefault(name, []).append(definition)

    @property
    def stem(self) -> str:
        """The name of its file."""
        return self.path.rsplit("/", 1)[-1].removesuffix(".py")

    @cached_property
    def source_lines(self) -> list[str]:
        # splitlines() would also split at form feeds and Unicode separators, which the parsers do not
        return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", self.text)

    @cached_property
    def whole(self) -> Definition:
        """The module as one definition, of which no line is ever parsed: where statements of it start from."""
        return Definition(self, Lines("<module>", 1, 1))

    def is_grown(self, name: str) -> bool:
        """Whether some function appends to a list of the module."""
        grows = rf"(?m)^[ \t]+{re.escape(name)}(?:\.(?:append|extend|insert)\(|\s*\+=)"
        return re.search(grows, self.text) is not None
