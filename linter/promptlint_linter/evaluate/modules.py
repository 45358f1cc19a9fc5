"""Modules of the linted project and their definitions; a definition is parsed when it is evaluated."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from promptlint_core.prompt import Place
from promptlint_linter.decode import between, lines_of
from promptlint_linter.evaluate.outline import ClassOutline, Lines, Outline
from promptlint_linter.evaluate.string_parts import Span, part_span
from promptlint_linter.evaluate.syntax import characters, parse

if TYPE_CHECKING:
    from promptlint_linter.project import Project

_LONGEST_EXPRESSION = 120


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

    @property
    def _above(self) -> int:
        """How many lines of the module come before the first that was parsed, less the line that was put ahead."""
        return self.lines.first - (2 if self._is_indented else 1)

    @property
    def _is_indented(self) -> bool:
        return self.text[:1] in (" ", "\t")

    @cached_property
    def statements(self) -> Sequence[ast.stmt]:
        """Raises SyntaxError when lines that are part of a module make no sense by themselves."""
        if not self._is_indented:
            return parse(self.text)
        # below an `if`, so that the strings in them keep their text
        (above,) = parse("if 1:\n" + self.text)
        return above.body if isinstance(above, ast.If) else ()

    @cached_property
    def function(self) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        return next((s for s in self.statements if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)), None)

    def note_part(self, part: ast.Constant, whole: ast.JoinedStr) -> None:
        """A constant part of an f-string: where it stands in it is found out when somebody asks."""
        self._parts[part] = whole

    @cached_property
    def _parts(self) -> dict[ast.AST, ast.JoinedStr]:
        return {}

    def place(self, node: ast.AST) -> Place:
        """Where a node of this definition stands."""
        span = self._span(node)
        if span is None:
            return Place(self.module.shown, self.lines.first)
        whole = self._parts.get(node)
        if whole is not None and isinstance(node, ast.Constant):
            span = part_span(self._source(span), whole, node).within(span)
        return Place(self.module.shown, span.line + 1, span.column + 1, span.end_line + 1, span.end_column + 1)

    def _span(self, node: ast.AST) -> Span | None:
        """Lines and columns in the module, from 0, in characters; None for a node that is in no source."""
        if not isinstance(node, ast.expr | ast.stmt) or not hasattr(node, "lineno"):
            return None
        lines = self.module.source_lines
        first = node.lineno + self._above - 1
        last = (node.end_lineno or node.lineno) + self._above - 1
        return Span(
            first,
            characters(lines[first], node.col_offset),
            last,
            characters(lines[last], node.end_col_offset or node.col_offset),
        )

    def _source(self, span: Span) -> str:
        return between(self.module.source_lines, (span.line, span.column), (span.end_line, span.end_column))

    def code(self, node: ast.AST) -> str:
        """The source of an expression on one line."""
        span = self._span(node)
        text = re.sub(r"\s+", " ", self._source(span)).strip() if span is not None else ""
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
    def own_names(self) -> frozenset[str]:
        """Attributes of `self` that the class speaks of."""
        return frozenset(re.findall(r"self\.(\w+)", self.text))

    @cached_property
    def grown_names(self) -> frozenset[str]:
        """Attributes of `self` that some method appends to."""
        return frozenset(re.findall(r"self\.(\w+)(?:\.(?:append|extend|insert)\(|\s*\+=)", self.text))

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
        return lines_of(self.text)

    @cached_property
    def whole(self) -> Definition:
        """The module as one definition, of which no line is ever parsed: where statements of it start from."""
        return Definition(self, Lines("<module>", 1, 1))

    def is_grown(self, name: str) -> bool:
        """Whether some function appends to a list of the module."""
        grows = rf"(?m)^[ \t]+{re.escape(name)}(?:\.(?:append|extend|insert)\(|\s*\+=)"
        return re.search(grows, self.text) is not None
