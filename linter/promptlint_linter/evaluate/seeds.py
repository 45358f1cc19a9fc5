"""Which definitions are worth evaluating for themselves: those that call a model, make messages or put prompt text together.

Judged on the standard parser's tree, which is there already; libcst then parses these alone, and what they ask for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any

from promptlint_linter.calls import frameworks, messages, retrieval, vendors
from promptlint_linter.evaluate.likeness import is_prompt_name, is_prompt_text

_FILLING = frozenset("format format_map join replace substitute safe_substitute render format_messages partial".split())
_PROMPT_ARGUMENTS = frozenset(
    "messages prompt prompts input instructions system contents model modelId system_prompt chat_history".split()
)


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
            if any(isinstance(key, ast.Constant) and key.value == "role" for key in inner.keys):
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
        return function.id in _classes() or (function.id in _functions() and _has_prompt_arguments(node))
    if not isinstance(function, ast.Attribute):
        return False
    name = function.attr
    if name in _classes() or name in retrieval.METHODS or name in ("from_messages", "from_template", "from_string"):
        return True
    return name in _functions() and _has_prompt_arguments(node)


def _has_prompt_arguments(node: ast.Call) -> bool:
    return any(keyword.arg is None or keyword.arg in _PROMPT_ARGUMENTS for keyword in node.keywords)


@cache
def _classes() -> frozenset[str]:
    tables = (*frameworks.MODELS, *frameworks.AGENTS, *retrieval.CLASSES)
    own = (name for name in vendors.FUNCTIONS if name.rsplit(".", 1)[-1][:1].isupper())
    names = {name.rsplit(".", 1)[-1] for name in (*tables, *own)}
    return frozenset(names | messages.CLASS_NAMES | messages.TEMPLATE_CLASSES | messages.PLACEHOLDER_CLASSES)


@cache
def _functions() -> frozenset[str]:
    return frozenset(name.rsplit(".", 1)[-1] for name in (*vendors.CLIENT_METHODS, *vendors.FUNCTIONS))
