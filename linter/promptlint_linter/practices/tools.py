"""The tools of a request: their order, their choice, their schemas, and the order of their results."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_linter.practices.sent import Sent
from promptlint_linter.practices.slices import Flow, Level
from promptlint_linter.practices.tree import FunctionNode, ModuleTree, constant_text, entry, inside, path_of

_COMPLETION = frozenset({"concurrent.futures.as_completed", "asyncio.as_completed"})
_RESULT_TYPES = frozenset({"tool_result", "function_call_output", "custom_tool_call_output"})
_SET_METHODS = frozenset({"union", "intersection", "difference", "symmetric_difference"})
_SCHEMA_LISTS = frozenset({"enum", "required", "anyOf", "oneOf"})
_STATES = frozenset({"phase", "step", "stage", "state", "turn", "iteration", "round"})
_DEEPEST = 6


def read(sent: Sent) -> Iterator[Practice]:
    tools = sent.flows("tools", "functions")
    for flow in tools:
        if flow.level is Level.LIST:
            yield from _order(sent, flow)
    if sent.histories:
        yield from _choice(sent)
    for flow in tools:
        if isinstance(flow.node, ast.Dict):
            yield from _schemas(sent, flow.node, flow)
    yield from _results(sent)


def _order(sent: Sent, flow: Flow) -> Iterator[Practice]:
    """A list of tools made by going through a set, or in the order in which servers answered."""
    node = flow.node
    loops: list[ast.expr] = []
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        loops = [generator.iter for generator in node.generators]
    elif isinstance(node, ast.Name) and flow.scope.function is not None:
        for change in sent.tree.changes_of(flow.scope.function, node.id):
            grows = isinstance(change, ast.Call | ast.AugAssign)
            if grows and not _is_sorted_later(flow.scope.function, node.id):
                loops += [loop.iter for loop in sent.tree.loops_around(change) if not isinstance(loop, ast.While)]
    elif isinstance(node, ast.Call) and path_of(node.func) in ("list", "tuple") and node.args:
        loops = [node.args[0]]
    if any(_is_sorted(above) for above in sent.tree.ancestors(node)):
        return
    for loop in loops:
        if is_set(sent.tree, loop, flow.scope.function):
            yield sent.practice(PracticeKind.UNSTABLE_TOOL_ORDER, loop, "a set")
        elif _completes(sent.tree, loop):
            yield sent.practice(PracticeKind.UNSTABLE_TOOL_ORDER, loop, "the order of completion")


def _is_sorted(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and path_of(node.func) == "sorted"


def _is_sorted_later(function: FunctionNode, name: str) -> bool:
    for node in inside(function):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr == "sort" and path_of(node.func.value) == name:
                return True
            if _is_sorted(node) and any(path_of(a) == name for a in node.args):
                return True
    return False


def _completes(tree: ModuleTree, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and tree.library_name(node.func) in _COMPLETION


def is_set(tree: ModuleTree, node: ast.expr, function: FunctionNode | None, depth: int = 0) -> bool:
    """Whether an expression is a set of anything but numbers, so that its order differs between processes."""
    if depth > _DEEPEST:
        return False
    if isinstance(node, ast.Set):
        return (
            not all(isinstance(e, ast.Constant) and isinstance(e.value, int) for e in node.elts) and len(node.elts) > 1
        )
    if isinstance(node, ast.SetComp):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Sub):
        return any(is_set(tree, side, function, depth + 1) for side in (node.left, node.right))
    if isinstance(node, ast.Call):
        return _gives_set(tree, node, function, depth)
    if isinstance(node, ast.Attribute) and path_of(node).startswith("self."):
        owner = tree.class_of(node)
        changes = tree.changes_of(owner, path_of(node)) if owner is not None else []
        values = [c.value for c in changes if isinstance(c, ast.Assign | ast.AnnAssign) and c.value is not None]
        return bool(values) and all(is_set(tree, value, tree.function_of(value), depth + 1) for value in values)
    if isinstance(node, ast.Name):
        scopes: list[ast.AST] = [function] if function is not None else []
        for scope in (*scopes, tree.root):
            values = [
                change.value
                for change in tree.changes_of(scope, node.id)
                if isinstance(change, ast.Assign | ast.AnnAssign) and change.value is not None
            ]
            if values:
                return all(is_set(tree, value, function, depth + 1) for value in values)
    return False


def _gives_set(tree: ModuleTree, node: ast.Call, function: FunctionNode | None, depth: int) -> bool:
    if isinstance(node.func, ast.Name) and node.func.id in ("set", "frozenset"):
        return bool(node.args)
    if isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple") and node.args:
        return is_set(tree, node.args[0], function, depth + 1)
    if isinstance(node.func, ast.Attribute) and node.func.attr in _SET_METHODS:
        return is_set(tree, node.func.value, function, depth + 1)
    called = tree.function_named(node)
    if called is None:
        return False
    returned = [n.value for n in inside(called) if isinstance(n, ast.Return) and n.value is not None]
    return bool(returned) and all(is_set(tree, value, called, depth + 1) for value in returned)


def _choice(sent: Sent) -> Iterator[Practice]:
    value = sent.argument("tools", "functions")
    if value is None:
        return
    if (state := _state_of(sent, value)) is not None:
        yield sent.practice(PracticeKind.TOOLS_BY_MESSAGE, value, state)
        return
    if not sent.turn_names:
        return
    chosen = isinstance(value, ast.Call | ast.IfExp | ast.ListComp | ast.Name | ast.Subscript)
    if chosen and sent.depends(value, sent.turn_names):
        yield sent.practice(PracticeKind.TOOLS_BY_MESSAGE, value, ", ".join(sorted(sent.turn_names)))


def _state_of(sent: Sent, value: ast.expr) -> str | None:
    """The phase or step by which one of several lists is taken."""
    choices: list[ast.expr] = [value]
    if isinstance(value, ast.Name) and sent.function is not None:
        changes = sent.tree.changes_of(sent.function, value.id)
        choices = [c.value for c in changes if isinstance(c, ast.Assign | ast.AnnAssign) and c.value is not None]
    for choice in choices:
        tests = [choice.test] if isinstance(choice, ast.IfExp) else []
        if choice is not value and len(choices) > 1:
            tests += [condition.test for condition in sent.tree.conditions_around(choice)]
        for inner in (inner for test in tests for inner in ast.walk(test)):
            name = path_of(inner).rstrip("]").replace("[", ".").rsplit(".", 1)[-1]
            if name in _STATES:
                return path_of(inner)
    return None


def _schemas(sent: Sent, node: ast.Dict, flow: Flow) -> Iterator[Practice]:
    for key, value in zip(node.keys, node.values, strict=True):
        if constant_text(key) not in _SCHEMA_LISTS:
            continue
        function = sent.tree.function_of(node)
        loops = [g.iter for g in value.generators] if isinstance(value, ast.ListComp) else [value]
        if any(is_set(sent.tree, loop, function) for loop in loops):
            yield sent.practice(PracticeKind.SCHEMA_FROM_SET, value, constant_text(key) or "")
    del flow


def _results(sent: Sent) -> Iterator[Practice]:
    """Tool results that are put into the messages in the order in which the tools finished."""
    for flow in sent.messages:
        node = flow.node
        if not isinstance(node, ast.Dict) or flow.level is Level.LIST or not _is_result(node):
            continue
        function = sent.tree.function_of(node)
        for loop in sent.tree.loops_around(node):
            if isinstance(loop, ast.While) or not _by_completion(sent.tree, loop.iter, function):
                continue
            name = _appended_to(sent.tree, node)
            if name and function is not None and not _is_sorted_later(function, name):
                yield sent.practice(PracticeKind.COMPLETION_ORDER, loop.iter)

    yield from _shared_results(sent)


def _shared_results(sent: Sent) -> Iterator[Practice]:
    """A list to which tasks that run side by side append their results."""
    for path, flow in sent.lists.items():
        outer = flow.scope.function
        for inner in ast.walk(outer) if outer is not None else ():
            if not isinstance(inner, ast.AsyncFunctionDef) or inner is outer:
                continue
            if not any(isinstance(node, ast.Await) for node in ast.walk(inner)):
                continue
            for node in ast.walk(inner):
                is_result = isinstance(node, ast.Dict) and _is_result(node) and _appended_to(sent.tree, node) == path
                if is_result and outer is not None and not _is_sorted_later(outer, path):
                    yield sent.practice(PracticeKind.COMPLETION_ORDER, sent.tree.parents[node])


def _is_result(node: ast.Dict) -> bool:
    return constant_text(entry(node, "role")) == "tool" or constant_text(entry(node, "type")) in _RESULT_TYPES


def _appended_to(tree: ModuleTree, node: ast.AST) -> str:
    parent = tree.parents.get(node)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "append":
        return path_of(parent.func.value)
    return ""


def _by_completion(tree: ModuleTree, node: ast.expr, function: FunctionNode | None) -> bool:
    """`as_completed(…)`, or the set of those done that `asyncio.wait` gives."""
    if _completes(tree, node):
        return True
    if not isinstance(node, ast.Name) or function is None:
        return False
    for change in tree.changes_of(function, node.id):
        value = getattr(change, "value", None)
        value = value.value if isinstance(value, ast.Await) else value
        if isinstance(value, ast.Call) and tree.library_name(value.func) in ("asyncio.wait", "concurrent.futures.wait"):
            return True
    return False
