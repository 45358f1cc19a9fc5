"""Bodies of functions and modules: assignments, conditions, loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_linter.evaluate import changes, fragments, lists
from promptlint_linter.evaluate.branches import after_loop
from promptlint_linter.evaluate.outline import Imported
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

Statement = cst.BaseStatement | cst.BaseSmallStatement
_DEEPEST_SECOND_PASS = 2
_MOST_UNROLLED = 32


def run_body(frame: Frame, body: Sequence[Statement]) -> bool:
    """Run statements in order; False when the way ends before the last."""
    for statement in body:
        if isinstance(statement, cst.SimpleStatementLine):
            if not run_body(frame, statement.body):
                return False
            continue
        rule = _RULES.get(type(statement))
        if rule is not None and rule(frame, statement) is False:
            return False
    return True


def run_suite(frame: Frame, suite: cst.BaseSuite) -> bool:
    return run_body(frame, suite.body)


def _assign(frame: Frame, node: cst.Assign) -> None:
    value = frame.lazy(node.value)
    for target in node.targets:
        changes.assign(frame, target.target, value)


def _annotated(frame: Frame, node: cst.AnnAssign) -> None:
    if node.value is not None:
        changes.assign(frame, node.target, frame.lazy(node.value))


def _augmented(frame: Frame, node: cst.AugAssign) -> None:
    old = frame.value(node.target)
    added = frame.lazy(node.value)
    if isinstance(node.operator, cst.AddAssign):
        name = lists.dotted(node.target) or ""
        new = changes.added(frame, old, added, node, name)
    elif isinstance(node.operator, cst.BitOrAssign):
        new = lists.united(old, frame.machine.force(added))
    else:
        new = Opaque(UNKNOWN_PIECE)
    is_number = isinstance(old, Constant) or (isinstance(old, Opaque) and old.piece.origin is Origin.STATE)
    if isinstance(node.operator, cst.AddAssign | cst.SubtractAssign) and isinstance(old, Opaque):
        is_number = is_number or (old.piece.cadence is None and isinstance(frame.machine.force(added), Constant))
    if is_number and not isinstance(new, Text):
        new = Opaque(fragments.COUNTER) if frame.loops else Opaque(UNKNOWN_PIECE)
    changes.assign(frame, node.target, new)


def _expression(frame: Frame, node: cst.Expr) -> None:
    if not changes.change(frame, node.value):
        frame.machine.settle(frame.lazy(node.value), frame)


def _return(frame: Frame, node: cst.Return) -> bool:
    if node.value is not None:
        frame.returns.append(frame.lazy(node.value))
        frame.ends = frame.site(node)
    return False


def _stop(frame: Frame, node: Statement) -> bool:
    if isinstance(node, cst.Raise) and node.exc is not None:
        frame.lazy(node.exc)
    return False


def _if(frame: Frame, node: cst.If) -> bool:
    frame.lazy(node.test)
    before = frame.branch()
    ways: list[dict[str, Value]] = []
    if run_suite(frame, node.body):
        ways.append(frame.names)
    frame.names = before
    orelse = node.orelse
    if orelse is None:
        ways.append(before)
    else:
        goes_on = _if(frame, orelse) if isinstance(orelse, cst.If) else run_suite(frame, orelse.body)
        if goes_on:
            ways.append(frame.names)
    frame.rejoin(ways)
    return bool(ways)


def _loop(frame: Frame, body: cst.BaseSuite, bind: Callable[[], object]) -> None:
    before = frame.branch()
    frame.loops += 1
    passes = 2 if frame.loops <= _DEEPEST_SECOND_PASS else 1
    for _ in range(passes):
        bind()
        run_suite(frame, body)
        for name, value in list(frame.names.items()):
            frame.names[name] = after_loop(before.get(name), value) if name in before else value
    frame.loops -= 1


def _for(frame: Frame, node: cst.For) -> None:
    items = frame.value(node.iter)

    constants = _constants(frame, items) if _is_short(node.body) else ()
    if constants:
        for constant in constants:
            changes.assign(frame, node.target, constant)
            run_suite(frame, node.body)
        return

    def bind() -> None:
        changes.assign(frame, node.target, lists.element(frame, items, lists.dotted(node.iter) or ""))

    _loop(frame, node.body, bind)
    if node.orelse is not None:
        run_suite(frame, node.orelse.body)


def _constants(frame: Frame, items: Value) -> tuple[Value, ...]:
    """The items of a loop when all of them are constant texts, in their order."""
    if not isinstance(items, Listing) or items.order is not None or not 0 < len(items.items) <= _MOST_UNROLLED:
        return ()
    known = tuple(frame.machine.force(item) for item in items.items)
    return known if all(isinstance(item, Text) and item.literal is not None for item in known) else ()


def _is_short(body: cst.BaseSuite) -> bool:
    """One or two plain statements: `for rule in RULES: lines.append(rule)`."""
    return len(body.body) <= 2 and all(isinstance(part, cst.SimpleStatementLine) for part in body.body)


def _while(frame: Frame, node: cst.While) -> None:
    _loop(frame, node.body, lambda: frame.lazy(node.test))
    if node.orelse is not None:
        run_suite(frame, node.orelse.body)


def _with(frame: Frame, node: cst.With) -> bool:
    for item in node.items:
        value = frame.lazy(item.item)
        if item.asname is not None and isinstance(item.asname.name, cst.BaseExpression):
            changes.assign(frame, item.asname.name, value)
    return run_suite(frame, node.body)


def _try(frame: Frame, node: cst.Try | cst.TryStar) -> bool:
    ways: list[dict[str, Value]] = []
    goes_on = run_suite(frame, node.body)
    after = frame.branch()
    if goes_on and (node.orelse is None or run_suite(frame, node.orelse.body)):
        ways.append(frame.names)
    for handler in node.handlers:
        frame.names = dict(after)
        if run_suite(frame, handler.body):
            ways.append(frame.names)
    frame.rejoin(ways)
    if node.finalbody is not None:
        run_suite(frame, node.finalbody.body)
    return bool(ways)


def _match(frame: Frame, node: cst.Match) -> None:
    frame.lazy(node.subject)
    before = frame.branch()
    ways = [before]
    for case in node.cases:
        frame.names = dict(before)
        if run_suite(frame, case.body):
            ways.append(frame.names)
    frame.rejoin(ways)


def _function(frame: Frame, node: cst.FunctionDef) -> None:
    frame.names[node.name.value] = Function(frame.source, node, closure=frame)
    frame.machine.nested.append((frame, node))


def _class(frame: Frame, node: cst.ClassDef) -> None:
    frame.names[node.name.value] = UNKNOWN


def _import(frame: Frame, node: cst.Import) -> None:
    for alias in node.names:
        path = lists.dotted(alias.name) or ""
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            frame.names[alias.asname.name.value] = frame.machine.imported(frame.module, Imported(path, None))
        else:
            top = path.split(".", 1)[0]
            frame.names[top] = frame.machine.imported(frame.module, Imported(top, None))


def _import_from(frame: Frame, node: cst.ImportFrom) -> None:
    if isinstance(node.names, cst.ImportStar):
        return
    path = (lists.dotted(node.module) or "") if node.module is not None else ""
    for alias in node.names:
        name = lists.dotted(alias.name) or ""
        bound = alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else name
        what = Imported(path, name, len(node.relative))
        frame.names[bound] = frame.machine.imported(frame.module, what)


def _delete(frame: Frame, node: cst.Del) -> None:
    if isinstance(node.target, cst.Name):
        frame.names.pop(node.target.value, None)


def grown_elsewhere(listing: Listing, name: str) -> Listing:
    """A list that other functions append to: what is in it already, and a history that grows."""
    history = Opaque(Piece(None, Cadence.APPEND, Origin.HISTORY, Evidence.PROVED), name=name)
    return Listing((*listing.items, Repeat(history)), listing.kind, listing.order)


_RULES: dict[type, Callable[[Frame, Any], bool | None]] = {
    cst.Assign: _assign,
    cst.AnnAssign: _annotated,
    cst.AugAssign: _augmented,
    cst.Expr: _expression,
    cst.Return: _return,
    cst.Raise: _stop,
    cst.Break: _stop,
    cst.Continue: _stop,
    cst.If: _if,
    cst.For: _for,
    cst.While: _while,
    cst.With: _with,
    cst.Try: _try,
    cst.TryStar: _try,
    cst.Match: _match,
    cst.FunctionDef: _function,
    cst.ClassDef: _class,
    cst.Import: _import,
    cst.ImportFrom: _import_from,
    cst.Del: _delete,
}
