"""What a module defines, and on which lines.

The outline only says where things are. What is evaluated and reported is the tree of those lines, made again when
somebody asks for it: to keep the trees of a whole project would take a gigabyte.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from promptlint_linter.calls.frameworks import INSTRUCTION_DECORATORS
from promptlint_linter.evaluate.seeds import Sight, holds_prompt_text, is_seeded
from promptlint_linter.evaluate.syntax import parse
from promptlint_linter.gate import may_hold_prompt

_COMPOUND = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.AsyncFor, ast.AsyncWith)


@dataclass(frozen=True, slots=True)
class Imported:
    """Where a name of an import statement comes from."""

    module: str
    name: str | None
    """None: the module itself."""
    level: int = 0


@dataclass(frozen=True, slots=True)
class Lines:
    """A function or statement: its name, its lines (from 1, last included) and its decorators by dotted name."""

    name: str
    first: int
    last: int
    decorators: tuple[str, ...] = ()
    is_seeded: bool = False
    """A prompt may be put together in it: it is evaluated for itself."""


@dataclass(slots=True)
class ClassOutline:
    lines: Lines
    bases: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    """Annotated names in order: the parameters of a dataclass."""
    methods: dict[str, Lines] = field(default_factory=dict)
    attributes: dict[str, list[Lines]] = field(default_factory=dict)
    classes: dict[str, ClassOutline] = field(default_factory=dict)


@dataclass(slots=True)
class Outline:
    imports: dict[str, Imported] = field(default_factory=dict)
    stars: list[Imported] = field(default_factory=list)
    functions: dict[str, Lines] = field(default_factory=dict)
    classes: dict[str, ClassOutline] = field(default_factory=dict)
    statements: list[tuple[Lines, frozenset[str]]] = field(default_factory=list)
    """The other statements of the module, with the names that each binds or changes."""


def read_outline(text: str, stem: str) -> Outline:
    """The outline of the module in the file named `stem`.

    Raises SyntaxError, ValueError, RecursionError or MemoryError when the text cannot be parsed.
    """
    outline = Outline()
    reader = _Reader(Sight(text), stem, may_hold_prompt(text))
    body = parse(text)
    if reader.is_gated:
        reader.find_constants(body)
    reader.read_body(body, outline)
    return outline


@dataclass(frozen=True, slots=True)
class _Reader:
    sight: Sight
    stem: str
    is_gated: bool
    """Whether the file may hold a prompt at all."""

    def find_constants(self, body: Sequence[ast.stmt], ahead: str = "") -> None:
        """Note the names that hold prompt text before what uses them is judged."""
        for statement in body:
            if isinstance(statement, ast.ImportFrom):
                bound = (alias.asname or alias.name for alias in statement.names)
                self.sight.imported.update(name for name in bound if name.isupper())
            elif isinstance(statement, ast.Assign | ast.AnnAssign):
                names = tuple(_changed_names(statement))
                if holds_prompt_text(statement, (*names, self.stem), self.sight.text):
                    self.sight.prompts.update(ahead + name for name in names)
            elif isinstance(statement, ast.ClassDef):
                self.find_constants(statement.body, ".")

    def read_body(self, body: Sequence[ast.stmt], outline: Outline) -> None:
        for statement in body:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                for name, imported in imported_names(statement):
                    if name == "*":
                        outline.stars.append(imported)
                    else:
                        outline.imports[name] = imported
            elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                outline.functions[statement.name] = self._lines(statement)
            elif isinstance(statement, ast.ClassDef):
                outline.classes[statement.name] = self._read_class(statement)
            else:
                names = frozenset(_changed_names(statement))
                outline.statements.append((self._lines(statement), names))
                for nested in _bodies(statement):
                    self._read_definitions(nested, outline)

    def _read_definitions(self, body: Sequence[ast.stmt], outline: Outline) -> None:
        """The imports, functions and classes of a conditional part of a module."""
        inner = Outline()
        self.read_body(body, inner)
        outline.imports = {**inner.imports, **outline.imports}
        outline.functions = {**inner.functions, **outline.functions}
        outline.classes = {**inner.classes, **outline.classes}
        outline.stars += inner.stars

    def _read_class(self, node: ast.ClassDef) -> ClassOutline:
        found = ClassOutline(self._lines(node), tuple(filter(None, map(dotted, node.bases))))
        fields = []
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                found.methods.setdefault(statement.name, self._lines(statement, node.name))
            elif isinstance(statement, ast.ClassDef):
                found.classes[statement.name] = self._read_class(statement)
            else:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    fields.append(statement.target.id)
                for name in _changed_names(statement):
                    found.attributes.setdefault(name, []).append(self._lines(statement, node.name))
        found.fields = tuple(fields)
        return found

    def _lines(self, node: ast.stmt, owner: str = "") -> Lines:
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(d.lineno for d in decorators)])
        named = tuple(dotted(d.func if isinstance(d, ast.Call) else d) or "" for d in decorators)
        name = getattr(node, "name", "")
        seeded = (
            self.is_gated
            and not isinstance(node, ast.ClassDef)
            and (
                any(decorator.rsplit(".", 1)[-1] in INSTRUCTION_DECORATORS for decorator in named)
                or is_seeded(node, (name, owner, self.stem), self.sight)
            )
        )
        return Lines(name, first, node.end_lineno or node.lineno, named, seeded)


def imported_names(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Imported]]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, Imported(node.module or "", alias.name, node.level)
        elif alias.asname:
            yield alias.asname, Imported(alias.name, None)
        else:
            top = alias.name.split(".")[0]
            yield top, Imported(top, None)


def dotted(node: ast.expr) -> str | None:
    """`a.b.c` of names and attributes; subscripts are looked through (`Base[T]`)."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Name):
            return ".".join([node.id, *reversed(parts)])
        else:
            return None


def _bodies(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    if isinstance(statement, _COMPOUND):
        yield statement.body
        yield getattr(statement, "orelse", [])
        yield getattr(statement, "finalbody", [])
        for handler in getattr(statement, "handlers", []):
            yield handler.body


def _changed_names(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds, and those whose object it changes (`x[0] = …`, `x.append(…)`)."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from _target_names(target)
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        yield from _target_names(statement.target)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute):
            yield from _target_names(function)
    elif isinstance(statement, _COMPOUND):
        if isinstance(statement, ast.For):
            yield from _target_names(statement.target)
        for body in _bodies(statement):
            for inner in body:
                yield from _changed_names(inner)


def _target_names(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from _target_names(element)
        return
    while isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id
