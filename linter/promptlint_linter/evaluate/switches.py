"""Conditions that a call decides: a switch that it leaves at its default, a constant that it hands over."""

from __future__ import annotations

import ast
from types import EllipsisType
from typing import TYPE_CHECKING

from promptlint_linter.evaluate.values import Constant, Text, Value

if TYPE_CHECKING:
    from promptlint_linter.evaluate.machine import Machine
    from promptlint_linter.evaluate.scopes import Frame

Known = bool | str | None
_LONGEST = 40
"""A longer text is no choice among a few."""
_COMPARED: dict[type[ast.cmpop], bool] = {ast.Eq: True, ast.Is: True, ast.NotEq: False, ast.IsNot: False}
_CONTAINED: dict[type[ast.cmpop], bool] = {ast.In: True, ast.NotIn: False}


def is_switch(default: ast.expr | None) -> bool:
    """Whether a default is one of two or three ways to go."""
    return isinstance(default, ast.Constant) and (default.value is None or isinstance(default.value, bool))


def constant_of(value: Value) -> Known | EllipsisType:
    """True, False or a short text; `...` for anything else."""
    if isinstance(value, Constant) and isinstance(value.value, bool):
        return value.value
    if isinstance(value, Text) and value.literal is not None and len(value.literal) <= _LONGEST:
        return value.literal
    return ...


def truth(frame: Frame, test: ast.expr) -> bool | None:
    """How a condition goes for the arguments of this run; None where that is not known."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(frame, test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        ways = [truth(frame, operand) for operand in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in ways:
            return decisive
        return None if None in ways else not decisive
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(frame, test)
    known = _held(frame, test)
    return None if known is ... else bool(known)


def _compared(frame: Frame, test: ast.Compare) -> bool | None:
    known, kind, right = _held(frame, test.left), type(test.ops[0]), test.comparators[0]
    if known is ...:
        return None
    if kind in _COMPARED and isinstance(right, ast.Constant):
        return (known == right.value) is _COMPARED[kind]
    if kind in _CONTAINED and isinstance(right, ast.Tuple | ast.List | ast.Set):
        items = [item.value for item in right.elts if isinstance(item, ast.Constant)]
        return (known in items) is _CONTAINED[kind] if len(items) == len(right.elts) else None
    return None


def _held(frame: Frame, node: ast.expr) -> Known | EllipsisType:
    """The constant that a parameter was given, as long as nothing else was assigned to it."""
    if not isinstance(node, ast.Name) or node.id not in frame.switches:
        return ...
    value, known = frame.switches[node.id]
    return known if frame.names.get(node.id) is value else ...


def tested(machine: Machine, function: ast.AST) -> frozenset[str]:
    """The names that conditions of a function look at."""
    key = ("tested", function)
    found = machine.summaries.get(key)
    if not isinstance(found, frozenset):
        tests = [node.test for node in ast.walk(function) if isinstance(node, ast.If | ast.IfExp)]
        found = frozenset(name.id for test in tests for name in ast.walk(test) if isinstance(name, ast.Name))
        machine.summaries[key] = found
    return found
