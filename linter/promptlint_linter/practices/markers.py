"""Cache breakpoints as the source writes them: how many, for how long, and where none is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from promptlint_core.practice import Practice, PracticeKind
from promptlint_linter.practices.sent import MESSAGES, SYSTEM, Sent, scope_nodes
from promptlint_linter.practices.slices import Flow
from promptlint_linter.practices.tree import constant_text, entry, keyword, parameters, path_of

_MOST_MARKERS = 4
_LONG_CHARS = 4_000
_PROVIDERS = frozenset({"anthropic", "bedrock"})


def read(sent: Sent) -> Iterator[Practice]:
    if sent.call.provider not in _PROVIDERS:
        return
    marked = list(_marked(sent))
    automatic = 1 if keyword(sent.node, "cache_control") is not None else 0
    fixed = [flow for flow in marked if flow.each is None and not list(sent.tree.conditions_around(flow.node))]
    if len(fixed) + automatic > _MOST_MARKERS:
        yield sent.practice(PracticeKind.TOO_MANY_MARKERS, sent.node, str(len(fixed) + automatic))
    for flow in marked:
        if flow.each is not None and not _is_capped(sent, flow):
            yield sent.practice(PracticeKind.TOO_MANY_MARKERS, flow.node, "one on each message")
        elif _stays_in_history(sent, flow):
            yield sent.practice(PracticeKind.TOO_MANY_MARKERS, flow.node, "one more with each turn: in the end over 4")
    yield from _set_in_loops(sent)
    yield from _lives(sent, fixed)
    yield from _on_request(sent, marked, automatic)
    if not marked and not automatic:
        yield from _unmarked(sent)


def _marked(sent: Sent) -> Iterator[Flow]:
    """Blocks with a breakpoint, in the order of the prompt: tools, system, messages."""
    seen: set[int] = set()
    for names in (("tools",), SYSTEM, MESSAGES):
        blocks = [flow for flow in sent.flows(*names) if isinstance(flow.node, ast.Dict)]
        for flow in sorted(blocks, key=lambda flow: (flow.node.lineno, flow.node.col_offset)):
            assert isinstance(flow.node, ast.Dict)
            if entry(flow.node, "cache_control") is not None and id(flow.node) not in seen:
                seen.add(id(flow.node))
                yield flow


def _is_capped(sent: Sent, flow: Flow) -> bool:
    """A condition, or a loop over the last few, keeps the number down."""
    if list(sent.tree.conditions_around(flow.node)):
        return True
    loops: list[ast.expr] = []
    if isinstance(flow.each, ast.ListComp | ast.GeneratorExp | ast.SetComp):
        loops = [generator.iter for generator in flow.each.generators]
        if any(generator.ifs for generator in flow.each.generators):
            return True
    elif isinstance(flow.each, ast.For):
        loops = [flow.each.iter]
    return any(isinstance(loop, ast.Subscript | ast.List | ast.Tuple) for loop in loops) or not loops


def _stays_in_history(sent: Sent, flow: Flow) -> bool:
    """A message with a breakpoint is appended to a kept history, and no old breakpoint is taken away."""
    if re.search(r"(?:pop|del|remove|strip|clear)\w*[^\n]*cache_control", sent.tree.text):
        return False
    for above in sent.tree.ancestors(flow.node):
        if isinstance(above, ast.stmt):
            return False
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Attribute) and above.func.attr == "append":
            path = path_of(above.func.value)
            in_loop = bool(list(sent.tree.loops_around(above)))
            return path.startswith("self.") or (path in sent.histories and in_loop)
    return False


def _set_in_loops(sent: Sent) -> Iterator[Practice]:
    """`message["cache_control"] = …` for each message."""
    for path, flow in sent.lists.items():
        for loop in scope_nodes(sent, flow, path):
            if not isinstance(loop, ast.For) or path_of(loop.iter) != path:
                continue
            for node in ast.walk(loop):
                target = node.targets[0] if isinstance(node, ast.Assign) else None
                if not isinstance(target, ast.Subscript) or constant_text(target.slice) != "cache_control":
                    continue
                if not list(sent.tree.conditions_around(node)):
                    yield sent.practice(PracticeKind.TOO_MANY_MARKERS, node, "one on each message")


def _on_request(sent: Sent, marked: list[Flow], automatic: int) -> Iterator[Practice]:
    """The only breakpoint stands on the question of a single turn, and the constant system text ahead has none."""
    system = _plain_text(sent.argument(*SYSTEM))
    if (
        len(marked) != 1
        or automatic
        or sent.histories
        or marked[0].role != "user"
        or sent.argument("tools") is not None
    ):
        return
    block = marked[0].node
    text = entry(block, "text") if isinstance(block, ast.Dict) else None
    is_given = isinstance(text, ast.Name) and sent.function is not None and text.id in parameters(sent.function)
    if is_given and isinstance(system, ast.Name) and _is_long_constant(sent, system.id):
        yield sent.practice(PracticeKind.MARKER_ON_REQUEST, block)


def _plain_text(node: ast.expr | None) -> ast.expr | None:
    """The text of a system argument, through one block."""
    if isinstance(node, ast.List) and len(node.elts) == 1 and isinstance(node.elts[0], ast.Dict):
        return entry(node.elts[0], "text")
    return node


def _lives(sent: Sent, marked: list[Flow]) -> Iterator[Practice]:
    """A breakpoint of one hour behind one of five minutes."""
    shorter = False
    for flow in marked:
        assert isinstance(flow.node, ast.Dict)
        control = entry(flow.node, "cache_control")
        if isinstance(control, ast.Name):
            changes = sent.tree.changes_of(sent.tree.root, control.id)
            control = getattr(changes[0], "value", None) if len(changes) == 1 else None
        if not isinstance(control, ast.Dict):
            return
        life = entry(control, "ttl")
        if life is not None and constant_text(life) is None:
            return
        if constant_text(life) == "1h" and shorter:
            yield sent.practice(PracticeKind.MARKER_LIFE_ORDER, flow.node)
        shorter = shorter or constant_text(life) in (None, "5m")


def _unmarked(sent: Sent) -> Iterator[Practice]:
    """A constant system text that is sent in a loop without a breakpoint anywhere in the module."""
    if "cache_control" in sent.tree.text or "cachePoint" in sent.tree.text or "cache_point" in sent.tree.text:
        return
    system = _plain_text(sent.argument(*SYSTEM))
    if isinstance(system, ast.Name) and _is_long_constant(sent, system.id) and _is_repeated(sent):
        yield sent.practice(PracticeKind.NO_MARKER, system, is_sure=False)


def _is_long_constant(sent: Sent, name: str) -> bool:
    if sent.function is not None and sent.tree.changes_of(sent.function, name):
        return False
    for change in sent.tree.changes_of(sent.tree.root, name):
        value = getattr(change, "value", None)
        if len(constant_text(value) or "") >= _LONG_CHARS:
            return True
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in ("read_text", "read")
        ):
            return True
    return False


def _is_repeated(sent: Sent) -> bool:
    if list(sent.tree.loops_around(sent.node)):
        return True
    if sent.function is None:
        return False
    return any(list(sent.tree.loops_around(call)) for call in sent.tree.callers(sent.function))
