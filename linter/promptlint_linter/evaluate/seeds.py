"""Which definitions are worth evaluating: those that call a model, make messages or put prompt text together.

Judged on the standard parser's tree, which is there already; libcst then parses these alone, and what they ask for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any

from promptlint_linter.calls import engines, frameworks, messages, retrieval, vendors
from promptlint_linter.evaluate.likeness import is_prompt_name, is_prompt_text

_FILLING = frozenset(
    ["format", "format_map", "join", "replace", "substitute", "safe_substitute", "render", "format_messages", "partial"]
)
_PROMPT_ARGUMENTS = frozenset(
    [
        "messages",
        "prompt",
        "prompts",
        "input",
        "instructions",
        "system",
        "contents",
        "model",
        "modelId",
        "system_prompt",
        "chat_history",
    ]
)


_AGENT_TEXTS = (name for shape in frameworks.AGENTS.values() for name in (*shape.system, *shape.messages))
_TEXT_ARGUMENTS = frozenset(_AGENT_TEXTS) | {
    "content", "template", "messages", "partial_variables", "text", "parts", "template_str",
}  # fmt: skip


def is_seeded(node: ast.stmt, names: tuple[str, ...], module_text: str) -> bool:
    """Whether a prompt or a call of a model may be found in a function or statement with these names around it."""
    texts: list[str] = []
    assigned: list[str] = []
    composes = named = False
    for inner in _walk(node):
        kind = type(inner)
        if kind is ast.Constant:
            if isinstance(inner.value, str):
                texts.append(inner.value)
        elif kind is ast.Name:
            if isinstance(inner.ctx, ast.Store):
                assigned.append(inner.id)
        elif kind is ast.Call:
            if _is_known_call(inner):
                return True
            if isinstance(inner.func, ast.Attribute) and inner.func.attr in _FILLING:
                composes = True
                named = named or _is_named_prompt(inner.func.value)
        elif kind is ast.Dict:
            if _is_changing_message(inner):
                return True
        elif kind is ast.FormattedValue:
            composes = True
            named = named or _is_named_prompt(inner.value)
        elif kind is ast.BinOp and isinstance(inner.op, ast.Add | ast.Mod):
            composes = True
            named = named or _is_named_prompt(inner.left)
        elif kind is ast.AugAssign and isinstance(inner.op, ast.Add):
            composes = True
            named = named or _is_named_prompt(inner.target)
    if not composes:
        return False
    return named or is_prompt_text("".join(texts), (*names, *assigned), module_text)


_NOT_WALKED = frozenset({"ctx", "op", "ops", "annotation", "returns", "type_comment", "type_params", "decorator_list"})


def _walk(node: ast.AST) -> Iterator[Any]:
    """`ast.walk` without the nodes that say nothing here: three times as fast, over every function of a tree."""
    waiting: list[Any] = [node]
    while waiting:
        inner = waiting.pop()
        yield inner
        kind = type(inner)
        fields = _FIELDS.get(kind)
        if fields is None:
            fields = _FIELDS[kind] = tuple(name for name in kind._fields if name not in _NOT_WALKED)
        for name in fields:
            child = getattr(inner, name, None)
            if child.__class__ is list:
                waiting += [item for item in child if isinstance(item, ast.AST)]
            elif isinstance(child, ast.AST):
                waiting.append(child)


_FIELDS: dict[type, tuple[str, ...]] = {}


def _is_named_prompt(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return is_prompt_name(node.attr)
    return isinstance(node, ast.Name) and is_prompt_name(node.id)


def _is_known_call(node: ast.Call) -> bool:
    function = node.func
    if isinstance(function, ast.Name):
        name = function.id
    elif isinstance(function, ast.Attribute):
        name = function.attr
        if name in retrieval.METHODS or (name in frameworks.MODEL_METHODS and _is_given_text(node)):
            return True
    else:
        return False
    if name in _bounded():
        return True
    if name in _functions():
        return any(keyword.arg is None or keyword.arg in _PROMPT_ARGUMENTS for keyword in node.keywords)
    return name in _text_classes() and _may_change(node)


def _is_given_text(node: ast.Call) -> bool:
    """`model.invoke(f"…")`: text that is put together where it is sent."""
    return bool(node.args) and isinstance(node.args[0], ast.JoinedStr | ast.BinOp)


def _may_change(node: ast.Call) -> bool:
    """Whether a message, template or agent is made of anything but constants."""
    if any(not isinstance(argument, ast.Constant) for argument in node.args):
        return True
    return any(
        keyword.arg is None
        or keyword.arg in frameworks.SWITCHES
        or (keyword.arg in _TEXT_ARGUMENTS and not isinstance(keyword.value, ast.Constant))
        for keyword in node.keywords
    )


def _is_changing_message(node: ast.Dict) -> bool:
    """A `{"role": …, "content": …}` whose content is more than a constant."""
    pairs = {
        key.value: value for key, value in zip(node.keys, node.values, strict=True) if isinstance(key, ast.Constant)
    }
    if "role" not in pairs:
        return False
    return not isinstance(pairs.get("content", pairs.get("parts")), ast.Constant)


@cache
def _bounded() -> frozenset[str]:
    """Classes of models and retrievers: their numbers are judged, whatever their texts."""
    own = (name for name in vendors.FUNCTIONS if name.rsplit(".", 1)[-1][:1].isupper())
    return frozenset(
        name.rsplit(".", 1)[-1] for name in (*frameworks.MODELS, *engines.ENGINES, *retrieval.CLASSES, *own)
    )


@cache
def _text_classes() -> frozenset[str]:
    agents = frozenset(name.rsplit(".", 1)[-1] for name in frameworks.AGENTS)
    factories = frozenset({"from_messages", "from_template", "from_string"})
    return agents | messages.CLASS_NAMES | messages.TEMPLATE_CLASSES | messages.PLACEHOLDER_CLASSES | factories


@cache
def _functions() -> frozenset[str]:
    return frozenset(name.rsplit(".", 1)[-1] for name in (*vendors.CLIENT_METHODS, *vendors.FUNCTIONS))
