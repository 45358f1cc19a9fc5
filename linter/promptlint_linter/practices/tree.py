"""The syntax tree of a module with what a reader of it asks for: parents, functions, imports, constants, callers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from promptlint_core.prompt import Place
from promptlint_linter.evaluate.outline import dotted, imported_names

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_LONGEST_EXPRESSION = 120
_COMMON_METHODS = frozenset(
    [
        "append",
        "extend",
        "get",
        "pop",
        "join",
        "format",
        "create",
        "invoke",
        "run",
        "call",
        "update",
        "add",
        "items",
        "keys",
        "values",
        "copy",
    ]
)
"""A method of this name may belong to any object."""
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class ModuleTree:
    """One parsed module. `shown` is its path as the user reads it."""

    def __init__(self, text: str, shown: str) -> None:
        self.text = text
        self.shown = shown
        self.root = ast.parse(text)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.functions: dict[str, list[FunctionNode]] = {}
        self.calls: list[ast.Call] = []
        self.imports: dict[str, str] = {}
        waiting: list[ast.AST] = [self.root]
        while waiting:
            node = waiting.pop()
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                waiting.append(child)
            if isinstance(node, ast.Call):
                self.calls.append(node)
            elif isinstance(node, FunctionNode):
                self.functions.setdefault(node.name, []).append(node)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                for name, what in imported_names(node):
                    self.imports[name] = what.module + (f".{what.name}" if what.name else "")

    @cached_property
    def _names(self) -> dict[ast.AST, dict[str, list[ast.AST]]]:
        return {}

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function_of(self, node: ast.AST) -> FunctionNode | None:
        """The function around a node."""
        return next((above for above in self.ancestors(node) if isinstance(above, FunctionNode)), None)

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        return next((above for above in self.ancestors(node) if isinstance(above, ast.ClassDef)), None)

    def loops_around(self, node: ast.AST) -> Iterator[ast.For | ast.AsyncFor | ast.While]:
        """The loops around a node inside its function, innermost first."""
        for above in self.ancestors(node):
            if isinstance(above, FunctionNode | ast.Lambda):
                return
            if isinstance(above, _LOOPS):
                yield above

    def conditions_around(self, node: ast.AST) -> Iterator[ast.If | ast.IfExp]:
        """The conditions that a node depends on inside its function, innermost first."""
        for above in self.ancestors(node):
            if isinstance(above, FunctionNode | ast.Lambda):
                return
            if isinstance(above, ast.If | ast.IfExp) and not _holds(above.test, node):
                yield above

    def function_named(self, call: ast.Call) -> FunctionNode | None:
        """The function of this module that a call runs: a plain name, or a method of `self`."""
        target = call.func
        if isinstance(target, ast.Name):
            found = [f for f in self.functions.get(target.id, ()) if not isinstance(self.parents[f], ast.ClassDef)]
        elif (
            isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id in ("self", "cls")
        ):
            owner = self.class_of(call)
            found = [f for f in self.functions.get(target.attr, ()) if self.parents[f] is owner]
        elif isinstance(target, ast.Attribute) and path_of(target.value).split(".", 1)[0] not in self.imports:
            found = self.functions.get(target.attr, [])
            found = [f for f in found if isinstance(self.parents[f], ast.ClassDef) and f.name not in _COMMON_METHODS]
        else:
            return None
        return found[0] if len(found) == 1 else None

    def callers(self, function: FunctionNode) -> Iterator[ast.Call]:
        for call in self.calls:
            target = call.func
            name = (
                target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
            )
            if name == function.name and self.function_named(call) is function:
                yield call

    def library_name(self, node: ast.expr) -> str:
        """The dotted name of a library's thing with the import looked up: `datetime.datetime.now`."""
        path = dotted(node) or ""
        first, _, rest = path.partition(".")
        known = self.imports.get(first)
        if known is None:
            return path
        return f"{known}.{rest}" if rest else known

    def changes_of(self, scope: ast.AST, path: str) -> list[ast.AST]:
        """Statements and calls in a scope that bind or grow a dotted name: assignments, loops, `append`, `extend` …"""
        return self.bindings(scope).get(path, [])

    def bindings(self, scope: ast.AST) -> dict[str, list[ast.AST]]:
        known = self._names.get(scope)
        if known is None:
            known = self._names[scope] = {}
            for node in inside(scope):
                for name in _bound_names(node):
                    known.setdefault(name, []).append(node)
        return known

    def place(self, node: ast.AST) -> Place:
        line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", None) or 1
        return Place(
            self.shown, line, getattr(node, "col_offset", 0) + 1, end, (getattr(node, "end_col_offset", 0) or 0) + 1
        )

    def code(self, node: ast.AST) -> str:
        """The source of a node on one line."""
        text = re.sub(r"\s+", " ", ast.get_source_segment(self.text, node) or "").strip()
        return text if len(text) <= _LONGEST_EXPRESSION else text[: _LONGEST_EXPRESSION - 1] + "…"


def inside(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, class or module, in source order; of a function without the functions inside it."""
    waiting: list[ast.AST] = list(reversed(list(ast.iter_child_nodes(scope))))
    nested = isinstance(scope, FunctionNode | ast.Module)
    while waiting:
        node = waiting.pop()
        yield node
        if nested and isinstance(node, FunctionNode | ast.ClassDef | ast.Lambda):
            continue
        waiting += reversed(list(ast.iter_child_nodes(node)))


def parameters(function: FunctionNode) -> list[str]:
    """Names of the parameters that are given by position or by name, `self` apart."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    return [name for name in names if name not in ("self", "cls")] + [a.arg for a in function.args.kwonlyargs]


def path_of(node: ast.AST) -> str:
    """`self.history` or `state['recent']` as a key; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = path_of(node.value)
        return f"{base}.{node.attr}" if base else ""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        base = path_of(node.value)
        return f"{base}[{node.slice.value}]" if base else ""
    return ""


def constant_text(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def entry(node: ast.Dict, key: str) -> ast.expr | None:
    """The value under a literal key."""
    found = [value for name, value in zip(node.keys, node.values, strict=True) if constant_text(name) == key]
    return found[-1] if found else None


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    return next((k.value for name in names for k in call.keywords if k.arg == name), None)


_GROWING = frozenset({"append", "extend", "insert", "appendleft", "add", "update"})


def _bound_names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            elements = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            yield from filter(None, map(path_of, elements))
    elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
        if (name := path_of(node.target)) and node.value is not None:
            yield name
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield from (n.id for n in ast.walk(node.target) if isinstance(n, ast.Name))
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield path_of(node.optional_vars)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWING:
        yield path_of(node.func.value)


def _holds(tree: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in ast.walk(tree))
