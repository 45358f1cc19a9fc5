"""Histories of which only the end is sent, and histories that only grow."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_linter.practices.sent import Sent, scope_nodes
from promptlint_linter.practices.slices import Flow, Level
from promptlint_linter.practices.tree import constant_text, entry, keyword, path_of

_LEAST_WINDOW = 3
"""Fewer messages than that are an excerpt, not a history."""
_LARGE_STEP = 4
_LEAST_REPEATED_CHARS = 120
_CAPPED = re.compile(
    r"(?i)trim|trunc|max_?turn|max_?mess|max_?hist|max_?iter|max_?step|window|compact|summar|budget|\[\s*-|popleft|\.pop\(|"
    r"maxlen|\bdel |clear\(|reset|prune|limit|slice"
)


def read(sent: Sent) -> Iterator[Practice]:
    for flow in sent.messages:
        if flow.level is Level.LIST and _slides(sent, flow):
            yield sent.practice(PracticeKind.SLIDING_WINDOW, flow.node)
    for path, flow in sent.histories.items():
        for node in scope_nodes(sent, flow, path):
            if _drops_first(node, path) and not _in_large_steps(sent, node):
                yield sent.practice(PracticeKind.SLIDING_WINDOW, node)
    for call in sent.tree.calls:
        name = path_of(call.func)
        if name.rsplit(".", 1)[-1] == "ConversationBufferWindowMemory" or name == "ChatMemoryBuffer.from_defaults":
            yield sent.practice(PracticeKind.SLIDING_WINDOW, call)
    yield from _unbounded(sent)
    yield from _repeated_constants(sent)


def _slides(sent: Sent, flow: Flow) -> bool:
    node = flow.node
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        kept = _last(node.slice)
        return kept is not None and _is_history(sent, node.value) and not _is_step(sent, node, kept)
    if not isinstance(node, ast.Call):
        return False
    name = sent.tree.library_name(node.func)
    if name == "collections.deque":
        longest = keyword(node, "maxlen") or (node.args[1] if len(node.args) > 1 else None)
        return longest is not None and not (isinstance(longest, ast.Constant) and longest.value is None)
    if name.rsplit(".", 1)[-1] == "trim_messages":
        return constant_text(keyword(node, "strategy")) in (None, "last") and not sent.is_rare(node)
    return False


def _last(cut: ast.Slice) -> ast.expr | None:
    """N of `[-N:]`."""
    if cut.upper is not None or cut.step is not None or not isinstance(cut.lower, ast.UnaryOp):
        return None
    if not isinstance(cut.lower.op, ast.USub):
        return None
    kept = cut.lower.operand
    if isinstance(kept, ast.Constant):
        return kept if isinstance(kept.value, int) and kept.value >= _LEAST_WINDOW else None
    return kept


def _is_history(sent: Sent, value: ast.expr) -> bool:
    """A list that outlives the request: a parameter, an attribute, an entry, or a list that is appended to."""
    path = path_of(value)
    return bool(path) and (path in sent.histories or "." in path or "[" in path)


def _is_step(sent: Sent, node: ast.AST, kept: ast.expr) -> bool:
    """Whether the cut is made only when more than it keeps has gathered: one large step, then many turns of growth."""
    tests = [condition.test for condition in sent.tree.conditions_around(node)]
    sizes = [test for test in tests if sent.is_rare(node) and isinstance(test, ast.Compare)]
    if any(ast.dump(kept) == ast.dump(other) for test in sizes for other in (test.left, *test.comparators)):
        return False
    return sent.is_rare(node)


def _drops_first(node: ast.AST, path: str) -> bool:
    """`history.pop(0)`, `history.popleft()`, `del history[0]`, `del history[:2]`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and path_of(node.func.value) == path:
        first = node.args[0] if node.args else None
        at_head = isinstance(first, ast.Constant) and first.value in (0, 1) and not isinstance(first.value, bool)
        return node.func.attr == "popleft" or (node.func.attr == "pop" and at_head)
    if not isinstance(node, ast.Delete):
        return False
    for target in node.targets:
        if not isinstance(target, ast.Subscript) or path_of(target.value) != path:
            continue
        index = target.slice
        upper = index.upper if isinstance(index, ast.Slice) and index.step is None else index
        if isinstance(upper, ast.Constant) and isinstance(upper.value, int) and 0 <= upper.value < _LARGE_STEP:
            return True
    return False


def _in_large_steps(sent: Sent, node: ast.AST) -> bool:
    """Several messages at once, behind a second condition: a cap that acts rarely."""
    loops = list(sent.tree.loops_around(node))
    conditions = list(sent.tree.conditions_around(node))
    if any(not isinstance(loop, ast.While) for loop in loops):
        return True
    return bool(loops) == bool(conditions)


def _unbounded(sent: Sent) -> Iterator[Practice]:
    """A history that is kept between calls, appended to on each and sent whole, in a module without any cap."""
    function = sent.function
    if function is None or _CAPPED.search(sent.tree.text):
        return
    direct = {path_of(flow.node): flow for flow in sent.messages if flow.level is Level.LIST and path_of(flow.node)}
    for path, flow in direct.items():
        if flow.scope.function is not function or flow.each is not None or not path.startswith("self."):
            continue
        roles = {
            constant_text(entry(change.args[0], "role"))
            for change in sent.changes(flow, path)
            if isinstance(change, ast.Call)
            and change.args
            and isinstance(change.args[0], ast.Dict)
            and sent.tree.function_of(change) is function
        }
        if {"user", "assistant"} <= roles:
            yield sent.practice(PracticeKind.UNBOUNDED_HISTORY, sent.argument("messages", "input") or sent.node, path)


def _repeated_constants(sent: Sent) -> Iterator[Practice]:
    """The same long constant is appended to a kept history on every turn."""
    for path, flow in sent.histories.items():
        for change in sent.changes(flow, path):
            if not isinstance(change, ast.Call) or not change.args or not isinstance(change.args[-1], ast.Dict):
                continue
            if sent.tree.function_of(change) is not sent.function or list(sent.tree.conditions_around(change)):
                continue
            content = entry(change.args[-1], "content")
            if not path.startswith("self.") or not isinstance(content, ast.Name):
                continue
            values = [getattr(c, "value", None) for c in sent.tree.changes_of(sent.tree.root, content.id)]
            if any(len(constant_text(value) or "") >= _LEAST_REPEATED_CHARS for value in values):
                yield sent.practice(PracticeKind.REPEATED_CONSTANT, change)
