"""Parameters of a call that decide which cache is asked: model, effort, format, routing keys; and streams."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from promptlint_core.cadence import Origin
from promptlint_core.practice import Practice, PracticeKind
from promptlint_linter.evaluate.origins import CALLS
from promptlint_linter.practices.sent import Sent
from promptlint_linter.practices.tree import constant_text, keyword, path_of

_CACHED_PARAMETERS = (
    "reasoning",
    "reasoning_effort",
    "thinking",
    "tool_choice",
    "response_format",
    "verbosity",
    "speed",
    "text",
)
_KEYS = ("prompt_cache_key", "cache_salt", "user", "prompt_cache_id")
_KEY_HEADERS = frozenset(
    [
        "x-session-id",
        "x-session-affinity",
        "session_id",
        "conversation_id",
        "x-grok-conv-id",
        "x-conversation-id",
        "x-user-id",
    ]
)
_NESTED = ("extra_body", "extra_headers")
_BIG_PICK = frozenset({"random.choice", "random.choices", "random.sample"})


def read(sent: Sent) -> Iterator[Practice]:
    if sent.histories:
        yield from _chosen(sent)
    yield from _keys(sent)
    yield from _stream(sent)


def _chosen(sent: Sent) -> Iterator[Practice]:
    """Model and parameters that the newest message decides, in a conversation."""
    model = sent.argument("model") or sent.argument("modelId")
    if isinstance(model, ast.Call) and sent.tree.library_name(model.func) in _BIG_PICK:
        yield sent.practice(PracticeKind.MODEL_BY_MESSAGE, model, "by chance")
    elif model is not None and sent.turn_names and sent.depends(model, sent.turn_names):
        yield sent.practice(PracticeKind.MODEL_BY_MESSAGE, model, "by the text of the message")
    elif _is_client_by_chance(sent):
        yield sent.practice(PracticeKind.MODEL_BY_MESSAGE, sent.node.func, "by chance")
    names = sent.turn_names | sent.step_names
    for name in _CACHED_PARAMETERS:
        value = sent.argument(name)
        if value is not None and names and sent.depends(value, names):
            yield sent.practice(PracticeKind.PARAMETER_BY_MESSAGE, value, name)


def _is_client_by_chance(sent: Sent) -> bool:
    """`client = random.choice(clients)` in the function that sends."""
    root: ast.expr = sent.node.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and sent.function is not None:
        values = [getattr(change, "value", None) for change in sent.tree.changes_of(sent.function, root.id)]
        return any(isinstance(v, ast.Call) and sent.tree.library_name(v.func) in _BIG_PICK for v in values)
    return isinstance(root, ast.Call) and sent.tree.library_name(root.func) in _BIG_PICK


def _keys(sent: Sent) -> Iterator[Practice]:
    for name in _KEYS:
        value = sent.argument(name)
        if value is not None and _is_new_each_time(sent, value):
            yield sent.practice(PracticeKind.CHANGING_KEY, value, name)
    for outer in _NESTED:
        nested = sent.argument(outer)
        for key, value in zip(nested.keys, nested.values, strict=True) if isinstance(nested, ast.Dict) else ():
            name = constant_text(key) or ""
            if (name in _KEYS or name.lower() in _KEY_HEADERS) and _is_new_each_time(sent, value):
                yield sent.practice(PracticeKind.CHANGING_KEY, value, name)


def _is_new_each_time(sent: Sent, node: ast.expr) -> bool:
    """Made of a random value or a clock in the function that calls, and not once ahead of a loop of calls."""
    if sent.function is None:
        return False
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            source = CALLS.get(sent.tree.library_name(inner.func))
            if source is not None and (
                source.origin is Origin.RANDOM or (source.origin is Origin.CLOCK and source.unit != "day")
            ):
                return not _is_cut(sent, inner)
        if isinstance(inner, ast.Name) and inner is not node and not isinstance(inner.ctx, ast.Load):
            continue
        if isinstance(inner, ast.Name) and not list(sent.tree.loops_around(sent.node)):
            changes = sent.tree.changes_of(sent.function, inner.id)
            values = [c.value for c in changes if isinstance(c, ast.Assign | ast.AnnAssign) and c.value is not None]
            if any(
                path_of(value) != inner.id and not _names(value, inner.id) and _is_new_each_time(sent, value)
                for value in values
            ):
                return True
    return False


def _names(node: ast.expr, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def _is_cut(sent: Sent, node: ast.AST) -> bool:
    """A clock that is formatted, so that it is not known here how fine it is; or a stored key comes first."""
    for above in sent.tree.ancestors(node):
        if isinstance(above, ast.BoolOp) or (isinstance(above, ast.Attribute) and above.attr in ("strftime", "date")):
            return True
        if isinstance(above, ast.FormattedValue) and above.format_spec is not None:
            return True
        if isinstance(above, ast.stmt):
            return False
    return False


def _stream(sent: Sent) -> Iterator[Practice]:
    stream = keyword(sent.node, "stream")
    is_chat = sent.call.callee in ("openai.chat.completions.create", "litellm.completion")
    if not is_chat or not isinstance(stream, ast.Constant) or stream.value is not True:
        return
    if keyword(sent.node, "stream_options", "extra_body") is None and all(k.arg for k in sent.node.keywords):
        yield sent.practice(PracticeKind.NO_STREAM_USAGE, stream)
