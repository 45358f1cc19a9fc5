"""Many requests with one head that start before the first has written it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_linter.practices.sent import SYSTEM, Sent
from promptlint_linter.practices.tree import FunctionNode, ModuleTree, path_of

_GATHERS = frozenset({"asyncio.gather", "asyncio.as_completed", "anyio.gather", "trio.gather"})


def read(sent: Sent) -> Iterator[Practice]:
    function = sent.function
    if function is None or not _has_constant_head(sent):
        return
    for call in sent.tree.calls:
        name = sent.tree.library_name(call.func)
        is_pool = isinstance(call.func, ast.Attribute) and call.func.attr in ("map", "imap", "imap_unordered")
        by_pool = is_pool and bool(call.args) and path_of(call.args[0]) == function.name
        starts = by_pool or (name in _GATHERS and _starts(sent.tree, call, function))
        if starts and not _is_warmed(sent, call, function):
            yield sent.practice(PracticeKind.COLD_FAN_OUT, call, function.name, is_sure=False)


def _starts(tree: ModuleTree, call: ast.Call, function: FunctionNode) -> bool:
    """`gather(*(ask(x) for x in xs))`, `gather(*map(ask, xs))`."""
    for argument in call.args:
        inner = argument.value if isinstance(argument, ast.Starred) else argument
        if isinstance(inner, ast.Name):
            around = tree.function_of(call)
            changes = tree.changes_of(around, inner.id) if around is not None else []
            inner = next((c.value for c in changes if isinstance(c, ast.Assign)), inner)
        started: ast.expr | None = None
        if isinstance(inner, ast.GeneratorExp | ast.ListComp) and isinstance(inner.elt, ast.Call):
            started = inner.elt.func
        elif isinstance(inner, ast.Call) and path_of(inner.func) == "map" and inner.args:
            started = inner.args[0]
        if started is not None and path_of(started).rsplit(".", 1)[-1] == function.name:
            return True
    return False


def _has_constant_head(sent: Sent) -> bool:
    """A system text that is a constant of the module."""
    system = sent.argument(*SYSTEM)
    names = [system] if isinstance(system, ast.Name) else []
    names += [flow.node for flow in sent.messages if flow.role == "system" and isinstance(flow.node, ast.Name)]
    for name in names:
        is_local = sent.function is not None and bool(sent.tree.changes_of(sent.function, name.id))
        if not is_local and sent.tree.changes_of(sent.tree.root, name.id):
            return True
    return False


def _is_warmed(sent: Sent, gather: ast.Call, function: FunctionNode) -> bool:
    """Whether the same function was awaited once before."""
    around = sent.tree.function_of(gather)
    for node in ast.walk(around) if around is not None else ():
        if not isinstance(node, ast.Await) or not isinstance(node.value, ast.Call) or node.lineno > gather.lineno:
            continue
        if path_of(node.value.func).rsplit(".", 1)[-1] == function.name:
            return True
    return False
