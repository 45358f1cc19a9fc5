"""Which definitions are worth evaluating: those that call a model, make messages or put prompt text together.

Judged on the tree of the whole file; these alone are then evaluated, and what they ask for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from promptlint_linter.calls import engines, frameworks, messages, retrieval, vendors
from promptlint_linter.evaluate.likeness import is_prompt_name, is_prompt_text, mentions_models

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


@dataclass(frozen=True, slots=True)
class Sight:
    """What is known of a module before its functions are judged."""

    text: str
    """The source of the module."""
    prompts: set[str] = field(default_factory=set)
    """Names of constants of the module that hold text of prompts, and of class attributes, with a dot ahead."""
    imported: set[str] = field(default_factory=set)
    """Constants of other modules, which may."""


def is_seeded(node: ast.stmt, names: tuple[str, ...], sight: Sight) -> bool:
    """Whether a prompt or a call of a model may be found in a function or statement with these names around it."""

    scan = _Scan(sight)
    for inner in _walk(node):
        if scan.look(inner):
            return True
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and any(map(is_prompt_name, scan.assigned)):
        return True
    if not scan.composes:
        return False
    return scan.is_named or is_prompt_text("".join(scan.texts), (*names, *scan.assigned), sight.text)


_SENDING = frozenset({"invoke", "ainvoke", "predict", "apredict", "complete", "acomplete", "astream"})
"""Methods of models whose names little else has."""


class _Scan:
    """What one pass over a definition gathers."""

    def __init__(self, sight: Sight) -> None:
        self.sight = sight
        self.texts: list[str] = []
        self.assigned: list[str] = []
        self.composes = False
        self.is_named = False
        """Something that is named like a prompt, or holds one, is put into a text."""

    def look(self, node: Any) -> bool:
        """True when the node alone settles the question."""
        rule = _LOOKS.get(type(node))
        return rule is not None and bool(rule(self, node))

    def constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.texts.append(node.value)

    def name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.assigned.append(node.id)
        elif node.id in self.sight.prompts:
            self.is_named = True

    def attribute(self, node: ast.Attribute) -> None:
        if "." + node.attr in self.sight.prompts and isinstance(node.value, ast.Name):
            self.is_named = self.is_named or node.value.id in ("self", "cls") or node.value.id[:1].isupper()

    def call(self, node: ast.Call) -> bool:
        if _is_known_call(node, self.sight.text):
            return True
        if isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
            self.puts_together(node.func.value, *node.args)
        return False

    def formatted(self, node: ast.FormattedValue) -> None:
        self.puts_together(node.value)

    def operation(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Add | ast.Mod):
            self.puts_together(node.left, node.right)

    def growth(self, node: ast.AugAssign) -> None:
        if isinstance(node.op, ast.Add):
            self.puts_together(node.target, node.value)

    def puts_together(self, *parts: ast.expr) -> None:
        self.composes = True
        for part in parts:
            name = part.attr if isinstance(part, ast.Attribute) else part.id if isinstance(part, ast.Name) else ""
            self.is_named = self.is_named or name in self.sight.imported or is_prompt_name(name)


_LOOKS: dict[type, Any] = {
    ast.Constant: _Scan.constant,
    ast.Name: _Scan.name,
    ast.Attribute: _Scan.attribute,
    ast.Call: _Scan.call,
    ast.Dict: lambda _, node: _is_changing_message(node),
    ast.FormattedValue: _Scan.formatted,
    ast.BinOp: _Scan.operation,
    ast.AugAssign: _Scan.growth,
}


_NOT_WALKED = frozenset({
    "ctx", "op", "ops", "annotation", "returns", "type_comment", "type_params", "decorator_list",
    "id", "attr", "arg", "kind", "conversion", "simple", "is_async", "level", "module", "asname",
})  # fmt: skip


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
            child: Any = getattr(inner, name, None)
            if type(child) is list:
                waiting += child
            elif child is not None:
                waiting.append(child)


_FIELDS: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((str, bytes, int, bool, float, complex, type(None), type(...)), ()),
    ast.Constant: (),
    ast.Name: (),
}
"""Fields of each kind of node that may hold nodes; the few plain values that come along have none."""


def holds_prompt_text(node: ast.stmt, names: tuple[str, ...], module_text: str) -> bool:
    """Whether an assignment gives a name to text of a prompt."""
    texts = [inner.value for inner in _walk(node) if type(inner) is ast.Constant and isinstance(inner.value, str)]
    return is_prompt_text("".join(texts), names, module_text)


def _is_known_call(node: ast.Call, module_text: str) -> bool:
    function = node.func
    if isinstance(function, ast.Name):
        name = function.id
    elif isinstance(function, ast.Attribute):
        name = function.attr
        if name in retrieval.METHODS or (name in _SENDING and _is_given_text(node)):
            return True
    else:
        return False
    if name in _bounded():
        return True
    if name in _functions():
        if any(keyword.arg is None or keyword.arg in _PROMPT_ARGUMENTS for keyword in node.keywords):
            return True
        return bool(node.args) and isinstance(function, ast.Attribute) and mentions_models(module_text)
    return name in _text_classes() and _may_change(node)


def _is_given_text(node: ast.Call) -> bool:
    """`model.invoke(f"…")`, `chain.invoke({…})`: text or values that are put together where they are sent."""
    return bool(node.args) and isinstance(node.args[0], ast.JoinedStr | ast.BinOp | ast.Dict)


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
