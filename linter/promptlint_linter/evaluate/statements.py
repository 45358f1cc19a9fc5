"""Bodies of functions and modules: assignments, conditions, loops."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_linter.evaluate import changes, fragments, lists, switches
from promptlint_linter.evaluate.branches import after_loop
from promptlint_linter.evaluate.outline import imported_names
from promptlint_linter.evaluate.scopes import Frame
from promptlint_linter.evaluate.values import (
    UNKNOWN,
    UNKNOWN_PIECE,
    Constant,
    Function,
    Listing,
    Opaque,
    Piece,
    Repeat,
    Text,
    Value,
)

_DEEPEST_SECOND_PASS = 2
_MOST_UNROLLED = 32


def run_body(frame: Frame, body: Sequence[ast.stmt]) -> bool:
    """Run statements in order; False when the way ends before the last."""
    for statement in body:
        rule = _RULES.get(type(statement))
        if rule is not None and rule(frame, statement) is False:
            return False
    return True


def _assign(frame: Frame, node: ast.Assign) -> None:
    value = frame.lazy(node.value)
    for target in node.targets:
        changes.assign(frame, target, value)


def _annotated(frame: Frame, node: ast.AnnAssign) -> None:
    if node.value is not None:
        changes.assign(frame, node.target, frame.lazy(node.value))


def _augmented(frame: Frame, node: ast.AugAssign) -> None:
    old = frame.value(node.target)
    added = frame.lazy(node.value)
    if isinstance(node.op, ast.Add):
        name = lists.dotted(node.target) or ""
        new = changes.added(frame, old, added, node, name)
    elif isinstance(node.op, ast.BitOr):
        new = lists.united(old, frame.machine.force(added))
    else:
        new = Opaque(UNKNOWN_PIECE)
    is_number = isinstance(old, Constant) or (isinstance(old, Opaque) and old.piece.origin is Origin.STATE)
    if isinstance(node.op, ast.Add | ast.Sub) and isinstance(old, Opaque):
        is_number = is_number or (old.piece.cadence is None and isinstance(frame.machine.force(added), Constant))
    if is_number and not isinstance(new, Text):
        new = Opaque(fragments.COUNTER) if frame.loops else Opaque(UNKNOWN_PIECE)
    changes.assign(frame, node.target, new)


def _expression(frame: Frame, node: ast.Expr) -> None:
    if not changes.change(frame, node.value):
        frame.machine.settle(frame.lazy(node.value), frame)


def _return(frame: Frame, node: ast.Return) -> bool:
    if node.value is not None:
        frame.returns.append(frame.lazy(node.value))
        frame.ends = frame.site(node)
    return False


def _stop(frame: Frame, node: ast.stmt) -> bool:
    if isinstance(node, ast.Raise) and node.exc is not None:
        frame.lazy(node.exc)
    return False


def _if(frame: Frame, node: ast.If) -> bool:
    frame.lazy(node.test)
    decided = switches.truth(frame, node.test)
    if decided is not None:
        return run_body(frame, node.body if decided else node.orelse)
    before = frame.branch()
    ways: list[dict[str, Value]] = []
    if run_body(frame, node.body):
        ways.append(frame.names)
    frame.names = before
    if run_body(frame, node.orelse):
        ways.append(frame.names)
    frame.rejoin(ways)
    return bool(ways)


def _loop(frame: Frame, body: Sequence[ast.stmt], bind: Callable[[], object]) -> None:
    before = frame.branch()
    frame.loops += 1
    passes = 2 if frame.loops <= _DEEPEST_SECOND_PASS else 1
    for _ in range(passes):
        bind()
        run_body(frame, body)
        for name, value in list(frame.names.items()):
            frame.names[name] = after_loop(before.get(name), value) if name in before else value
    frame.loops -= 1


def _for(frame: Frame, node: ast.For | ast.AsyncFor) -> None:
    items = frame.value(node.iter)

    constants = _constants(frame, items) if _is_short(node.body) else ()
    if constants:
        for constant in constants:
            changes.assign(frame, node.target, constant)
            run_body(frame, node.body)
        return

    def bind() -> None:
        changes.assign(frame, node.target, lists.element(frame, items, lists.dotted(node.iter) or ""))

    _loop(frame, node.body, bind)
    run_body(frame, node.orelse)


def _constants(frame: Frame, items: Value) -> tuple[Value, ...]:
    """The items of a loop when all of them are constant texts, in their order."""
    if not isinstance(items, Listing) or items.order is not None or not 0 < len(items.items) <= _MOST_UNROLLED:
        return ()
    known = tuple(frame.machine.force(item) for item in items.items)
    return known if all(isinstance(item, Text) and item.literal is not None for item in known) else ()


def _is_short(body: Sequence[ast.stmt]) -> bool:
    """One or two plain statements: `for rule in RULES: lines.append(rule)`."""
    return len(body) <= 2 and not any(hasattr(part, "body") or isinstance(part, ast.Match) for part in body)


def _while(frame: Frame, node: ast.While) -> None:
    _loop(frame, node.body, lambda: frame.lazy(node.test))
    run_body(frame, node.orelse)


def _with(frame: Frame, node: ast.With | ast.AsyncWith) -> bool:
    for item in node.items:
        value = frame.lazy(item.context_expr)
        if item.optional_vars is not None:
            changes.assign(frame, item.optional_vars, value)
    return run_body(frame, node.body)


def _try(frame: Frame, node: ast.Try | ast.TryStar) -> bool:
    ways: list[dict[str, Value]] = []
    goes_on = run_body(frame, node.body)
    after = frame.branch()
    if goes_on and run_body(frame, node.orelse):
        ways.append(frame.names)
    for handler in node.handlers:
        frame.names = dict(after)
        if run_body(frame, handler.body):
            ways.append(frame.names)
    frame.rejoin(ways)
    run_body(frame, node.finalbody)
    return bool(ways)


def _match(frame: Frame, node: ast.Match) -> None:
    frame.lazy(node.subject)
    before = frame.branch()
    ways = [before]
    for case in node.cases:
        frame.names = dict(before)
        if run_body(frame, case.body):
            ways.append(frame.names)
    frame.rejoin(ways)


def _function(frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    frame.names[node.name] = Function(frame.source, node, closure=frame)
    frame.machine.nested.append((frame, node))


def _class(frame: Frame, node: ast.ClassDef) -> None:
    frame.names[node.name] = UNKNOWN


def _import(frame: Frame, node: ast.Import | ast.ImportFrom) -> None:
    for name, what in imported_names(node):
        if name != "*":
            frame.names[name] = frame.machine.imported(frame.module, what)


def _delete(frame: Frame, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            frame.names.pop(target.id, None)


def grown_elsewhere(listing: Listing, name: str) -> Listing:
    """A list that other functions append to: what is in it already, and a history that grows."""
    history = Opaque(Piece(None, Cadence.APPEND, Origin.HISTORY, Evidence.PROVED), name=name)
    return Listing((*listing.items, Repeat(history)), listing.kind, listing.order)


_RULES: dict[type, Callable[[Frame, Any], bool | None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Return: _return,
    ast.Raise: _stop,
    ast.Break: _stop,
    ast.Continue: _stop,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.Match: _match,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Delete: _delete,
}
