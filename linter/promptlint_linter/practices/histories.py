"""Histories that are edited, summed up or sent otherwise than they are kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_linter.practices.sent import Sent, scope_nodes
from promptlint_linter.practices.slices import Flow, Level
from promptlint_linter.practices.tree import FunctionNode, constant_text, entry, inside, path_of

_CONTENT = ("content", "output", "text")


def read(sent: Sent) -> Iterator[Practice]:
    for flow in sent.messages:
        node = flow.node
        if isinstance(node, ast.Dict) and flow.each is not None and None in node.keys:
            replaced = next((value for key in _CONTENT if (value := entry(node, key)) is not None), None)
            if replaced is not None and _is_stub(sent, replaced) and _by_position(sent, node):
                yield sent.practice(PracticeKind.EDITED_HISTORY, node)
    for path, flow in sent.histories.items():
        for loop in scope_nodes(sent, flow, path):
            if isinstance(loop, ast.For) and _runs_over(loop.iter, path):
                yield from _edits(sent, loop)
    yield from _summaries(sent)
    yield from _tails(sent)


def _edits(sent: Sent, loop: ast.For) -> Iterator[Practice]:
    """`message["content"] = "[removed]"` for those messages of the history that have become old."""
    for node in ast.walk(loop):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Subscript):
            continue
        key = constant_text(node.targets[0].slice)
        if key in _CONTENT and _is_stub(sent, node.value) and _by_position(sent, node):
            yield sent.practice(PracticeKind.EDITED_HISTORY, node)


def _is_stub(sent: Sent, node: ast.expr) -> bool:
    """A fixed text in place of what was there."""
    if constant_text(node) is not None:
        return True
    if not isinstance(node, ast.Name):
        return False
    values = [getattr(change, "value", None) for change in sent.tree.changes_of(sent.tree.root, node.id)]
    return bool(values) and all(constant_text(value) is not None for value in values)


def _by_position(sent: Sent, node: ast.AST) -> bool:
    """Whether it is done to messages that stand far enough back: what is done to all alike gives the same bytes again."""
    function = sent.tree.function_of(node)
    if function is None or sent.is_rare(function) or _only_when_large(sent, node):
        return False
    moving = {path_of(n.target) for n in inside(function) if isinstance(n, ast.AugAssign)}
    for n in inside(function):
        if isinstance(n, ast.For | ast.comprehension) and isinstance(n.iter, ast.Call):
            name = path_of(n.iter.func)
            if name == "enumerate" and isinstance(n.target, ast.Tuple):
                moving.add(path_of(n.target.elts[0]))
            elif name == "range":
                moving.add(path_of(n.target))
    tests = [condition.test for condition in sent.tree.conditions_around(node)]
    if any(isinstance(inner, ast.Name) and inner.id in moving for test in tests for inner in ast.walk(test)):
        return True
    return any(
        isinstance(loop, ast.For) and isinstance(loop.iter, ast.Subscript) and _is_all_but_last(loop.iter.slice)
        for loop in sent.tree.loops_around(node)
    )


def _only_when_large(sent: Sent, node: ast.AST) -> bool:
    """Whether all callers of the function call it only when the history has become large."""
    function = sent.tree.function_of(node)
    calls = list(sent.tree.callers(function)) if function is not None else []
    return bool(calls) and all(sent.is_rare(call) for call in calls)


def _is_all_but_last(cut: ast.expr) -> bool:
    return isinstance(cut, ast.Slice) and isinstance(cut.upper, ast.UnaryOp) and isinstance(cut.upper.op, ast.USub)


def _runs_over(node: ast.expr, path: str) -> bool:
    """A loop over a list: as it is, cut, reversed or counted."""
    while True:
        if path_of(node) == path:
            return True
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and node.args and path_of(node.func) in ("enumerate", "reversed", "list"):
            node = node.args[0]
        else:
            return False


# Summaries


def _summaries(sent: Sent) -> Iterator[Practice]:
    """A summary in the system text that a model writes anew on each turn."""
    told: set[str] = set()
    for flow in sent.system:
        path = path_of(flow.node)
        if "summary" not in path.lower().replace("]", "").rsplit("[", 1)[-1].rsplit(".", 1)[-1] or path in told:
            continue
        told.add(path)
        function = flow.scope.function or sent.function
        scope = sent.tree.class_of(flow.node) if path.startswith("self.") else function
        for change in sent.tree.changes_of(scope, path) if scope is not None else ():
            value = getattr(change, "value", None)
            if isinstance(change, ast.Assign) and value is not None and _asks_a_model(sent, value):
                if not sent.is_rare(change) and not list(sent.tree.conditions_around(change)):
                    yield sent.practice(PracticeKind.ROLLING_SUMMARY, flow.node)
                    break


def _asks_a_model(sent: Sent, node: ast.expr) -> bool:
    """A call of a helper of the module that calls a model."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            function = sent.tree.function_named(inner)
            if function is not None and function is not sent.function and _holds_model_call(function):
                return True
    return False


def _holds_model_call(function: FunctionNode) -> bool:
    for inner in ast.walk(function):
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
            names = {keyword.arg for keyword in inner.keywords}
            if inner.func.attr in ("invoke", "ainvoke") or names & {"messages", "input", "contents"}:
                return True
    return False


# The newest message


def _tails(sent: Sent) -> Iterator[Practice]:
    """The newest message is sent with more text than is stored of it."""
    function = sent.function
    if function is None:
        return
    stored: list[ast.expr] = []
    for path, flow in sent.histories.items():
        for change in sent.changes(flow, path):
            if isinstance(change, ast.Call) and change.args and sent.tree.function_of(change) is function:
                item = change.args[-1]
                if isinstance(item, ast.Dict) and constant_text(entry(item, "role")) == "user":
                    stored.append(item)
    kept = {path_of(content) for item in stored if (content := entry(item, "content")) is not None} - {""}
    if not kept:
        return
    for flow in sent.messages:
        if flow.level is Level.CONTENT and flow.role == "user" and flow.each is None and _adds(flow, kept, function):
            if not any(flow.node in ast.walk(item) for item in stored):
                yield sent.practice(PracticeKind.UNREPLAYED_TAIL, flow.node)
                return


def _adds(flow: Flow, kept: set[str], function: FunctionNode) -> bool:
    """An f-string or sum around a text that is stored without it."""
    node = flow.node
    if flow.scope.function is not function:
        return False
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(v, ast.FormattedValue) and path_of(v.value) in kept for v in node.values)
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add)
        and any(path_of(side) in kept for side in (node.left, node.right))
    )
