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
            if (
                replaced is not None
                and (_is_stub(sent, replaced) or _drops_images(replaced))
                and _by_position(sent, node)
            ):
                yield sent.practice(PracticeKind.EDITED_HISTORY, node)
    for path, flow in sent.lists.items():
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


def _drops_images(node: ast.expr) -> bool:
    """`[block for block in content if block["type"] != "image"]`."""
    if not isinstance(node, ast.ListComp):
        return False
    tests = [inner for generator in node.generators for test in generator.ifs for inner in ast.walk(test)]
    return any((constant_text(inner) or "").startswith(("image", "input_image")) for inner in tests)


def _by_position(sent: Sent, node: ast.AST) -> bool:
    """Whether it is done to messages that stand far enough back; what is done to all alike gives the same bytes."""
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
            if not isinstance(change, ast.Assign) or value is None or list(sent.tree.conditions_around(change)):
                continue
            if _asks_a_model(sent, value, sent.tree.function_of(change)) and not sent.is_rare(change):
                yield sent.practice(PracticeKind.ROLLING_SUMMARY, flow.node)
                break


def _asks_a_model(sent: Sent, node: ast.expr, around: FunctionNode | None) -> bool:
    """The answer of a model, or of a helper of the module that calls one."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and around is not None and around is not sent.function:
            values = [getattr(change, "value", None) for change in sent.tree.changes_of(around, inner.id)]
            if any(isinstance(n, ast.Call) and _is_model_call(n) for v in values if v is not None for n in ast.walk(v)):
                return True
        if isinstance(inner, ast.Call):
            function = sent.tree.function_named(inner)
            if function is not None and function is not sent.function and _holds_model_call(function):
                return True
    return False


def _holds_model_call(function: FunctionNode) -> bool:
    return any(isinstance(inner, ast.Call) and _is_model_call(inner) for inner in ast.walk(function))


def _is_model_call(node: ast.Call) -> bool:
    if not isinstance(node.func, ast.Attribute):
        return False
    names = {keyword.arg for keyword in node.keywords}
    return node.func.attr in ("invoke", "ainvoke") or bool(names & {"messages", "input", "contents"})


# The newest message


def _tails(sent: Sent) -> Iterator[Practice]:
    """The newest message is sent with more text than is stored of it, or with another one behind it."""
    function = sent.function
    if function is None:
        return
    stored = list(_stored(sent, function))
    kept = {path_of(text) for item in stored if (text := _text(item)) is not None} - {""}
    if not kept:
        return
    for flow in sent.messages:
        if flow.scope.function is not function or flow.each is not None:
            continue
        if any(flow.node in ast.walk(item) for item in stored):
            continue
        adds = flow.level is Level.CONTENT and flow.role == "user" and _adds(flow.node, kept)
        parent = sent.tree.parents.get(flow.node)
        if adds and isinstance(parent, ast.Assign) and path_of(parent.targets[0]) in kept:
            continue  # the longer text has the name of the stored one: it is what is stored
        if adds or _is_extra(sent, flow, function):
            yield sent.practice(PracticeKind.UNREPLAYED_TAIL, flow.node)
            return


def _stored(sent: Sent, function: FunctionNode) -> Iterator[ast.Dict]:
    """User messages that the function appends to a history."""
    for path, flow in sent.histories.items():
        for change in sent.changes(flow, path):
            if isinstance(change, ast.Call) and change.args and sent.tree.function_of(change) is function:
                item = change.args[-1]
                if isinstance(item, ast.Dict) and constant_text(entry(item, "role")) == "user":
                    yield item


def _text(item: ast.Dict) -> ast.expr | None:
    """The text of a message, through one block."""
    content = entry(item, "content")
    if isinstance(content, ast.List) and len(content.elts) == 1 and isinstance(content.elts[0], ast.Dict):
        return entry(content.elts[0], "text")
    return content


def _adds(node: ast.expr, kept: set[str]) -> bool:
    """An f-string or sum around a text that is stored without it."""
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(v, ast.FormattedValue) and path_of(v.value) in kept for v in node.values)
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) else ()
    return any(path_of(side) in kept for side in sides)


def _is_extra(sent: Sent, flow: Flow, function: FunctionNode) -> bool:
    """A constant message that is appended to a copy of the history alone."""
    node = flow.node
    if not isinstance(node, ast.Dict) or constant_text(entry(node, "role")) not in ("user", "system", "developer"):
        return False
    parent = sent.tree.parents.get(node)
    if not isinstance(parent, ast.Call) or not isinstance(parent.func, ast.Attribute) or parent.func.attr != "append":
        return False
    changes = sent.tree.changes_of(function, path_of(parent.func.value))
    return any(isinstance(change, ast.Assign) and _copies(sent, change.value) for change in changes)


def _copies(sent: Sent, node: ast.expr) -> bool:
    """`list(history)`, `history[:]`, `history.copy()`, `[*history]`."""
    if isinstance(node, ast.Call):
        inner = node.args[0] if node.args else getattr(node.func, "value", None)
        is_copy = path_of(node.func).rsplit(".", 1)[-1] in ("list", "copy", "deepcopy")
        return is_copy and inner is not None and path_of(inner) in sent.histories
    if isinstance(node, ast.List) and len(node.elts) == 1 and isinstance(node.elts[0], ast.Starred):
        return path_of(node.elts[0].value) in sent.histories
    is_whole = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.slice.lower is None
    return is_whole and isinstance(node, ast.Subscript) and path_of(node.value) in sent.histories
