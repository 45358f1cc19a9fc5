"""Which rule evaluates which kind of expression."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import libcst as cst

from promptlint_core.cadence import Cadence, Origin
from promptlint_linter.evaluate import calls, changes, classes, clocks, lists, strings
from promptlint_linter.evaluate.branches import either
from promptlint_linter.evaluate.scopes import Frame
from promptlint_linter.evaluate.texts import text_of
from promptlint_linter.evaluate.values import (
    UNKNOWN,
    UNKNOWN_PIECE,
    Constant,
    Function,
    Listing,
    Opaque,
    Piece,
    Text,
    Value,
    literal,
)

_OF_THE_TURN = re.compile(r"(?i)(?<![a-z])(?:turns?|steps?|iteration|attempt|round|history|first)(?![a-z])")
"""In a condition: it comes out otherwise from one turn or step to the next."""


def _name(node: cst.Name, frame: Frame) -> Value:
    if node.value in ("True", "False"):
        return Constant(node.value == "True", frame.site(node))
    if node.value == "None":
        return Constant(None, frame.site(node))
    value = frame.lookup(node.value)
    return value if value is not None else Opaque(UNKNOWN_PIECE, name=node.value)


def _integer(node: cst.Integer, frame: Frame) -> Value:
    return Constant(node.evaluated_value, frame.site(node))


def _float(node: cst.Float, frame: Frame) -> Value:
    return Constant(node.evaluated_value, frame.site(node))


def _string(node: cst.SimpleString, frame: Frame) -> Value:
    return strings.plain_string(node, frame)


def _adjacent(node: cst.ConcatenatedString, frame: Frame) -> Value:
    value = strings.adjacent(node, frame)
    return _composed(node, frame, value)


def _f_string(node: cst.FormattedString, frame: Frame) -> Value:
    return _composed(node, frame, strings.f_string(node, frame))


def _composed(node: cst.BaseExpression, frame: Frame, value: Value) -> Value:
    if isinstance(value, Text):
        frame.machine.compose(frame, node, value)
    return value


def _binary(node: cst.BinaryOperation, frame: Frame) -> Value:
    if isinstance(node.operator, cst.Add):
        return _sum(node, frame)
    left = frame.value(node.left)
    if isinstance(node.operator, cst.Modulo) and isinstance(left, Text):
        text = strings.percent(frame.machine, left, frame.lazy(node.right), frame.site(node))
        return _composed(node, frame, text)
    right = frame.value(node.right)
    if isinstance(node.operator, cst.FloorDivide) and isinstance(left, Opaque) and left.instant is not None:
        return clocks.floor_divided(left, right)
    if isinstance(node.operator, cst.BitOr):
        united = lists.united(left, right)
        return calls.piped(left, right) if united is UNKNOWN else united
    if isinstance(node.operator, cst.BitAnd | cst.Subtract) and isinstance(left, Listing):
        return left
    if isinstance(node.operator, cst.BitAnd) and isinstance(right, Listing):
        return right
    if isinstance(node.operator, cst.Multiply) and isinstance(left, Text) and not isinstance(right, Text):
        return Text(tuple(part for part in left.fragments))
    if isinstance(node.operator, cst.Multiply) and isinstance(left, Constant) and isinstance(right, Constant):
        return Constant((left.value or 0) * (right.value or 0), left.site)
    if isinstance(node.operator, cst.Power) and isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(2 ** int(right.value or 0) if left.value == 2 and (right.value or 0) < 64 else None)
    if isinstance(node.operator, cst.Divide) and classes.is_path(left):
        return classes.path_joined(frame.machine, left, right)
    return lists.mixed(left, right)


def _sum(node: cst.BinaryOperation, frame: Frame) -> Value:
    """A chain of `+`, from the left, without recursion: some are hundreds long."""
    chain: list[cst.BinaryOperation] = [node]
    while isinstance(chain[-1].left, cst.BinaryOperation) and isinstance(chain[-1].left.operator, cst.Add):
        chain.append(chain[-1].left)
    first = chain[-1].left
    value = frame.value(first)
    name = strings.spelled(first)
    for link in reversed(chain):
        right = frame.value(link.right)
        if isinstance(right, Text) and not isinstance(value, Text) and not isinstance(value, Constant):
            value = Text(text_of(frame.machine, value, frame.site(first), name))
        if isinstance(value, Text) and not isinstance(right, Text):
            right = Text(text_of(frame.machine, right, frame.site(link.right), strings.spelled(link.right)))
        value = changes.added(frame, value, right, link, name)
    return value


def _conditional(node: cst.IfExp, frame: Frame) -> Value:
    frame.lazy(node.test)
    body, orelse = frame.value(node.body), frame.value(node.orelse)
    if _is_sometimes(body, orelse) and _OF_THE_TURN.search(frame.source.code(node.test)):
        return Opaque(Piece(None, Cadence.TURN, Origin.STATE, site=frame.site(node), detail="conditional sentence"))
    return either(body, orelse)


def _is_sometimes(body: Value, orelse: Value) -> bool:
    """A constant sentence that is there or not."""
    texts = [value.literal for value in (body, orelse) if isinstance(value, Text)]
    return len(texts) == 2 and None not in texts and bool(texts[0]) != bool(texts[1])


def _boolean(node: cst.BooleanOperation, frame: Frame) -> Value:
    left, right = frame.value(node.left), frame.value(node.right)
    if isinstance(node.operator, cst.And):
        return either(right, literal("")) if isinstance(right, Text) else right
    if isinstance(left, Opaque) and left.piece.cadence is None and not isinstance(right, Text):
        return right if isinstance(right, Opaque) and right.piece.cadence is not None else left
    if isinstance(left, Constant) and not left.value:
        return right
    return either(left, right)


def _unary(node: cst.UnaryOperation, frame: Frame) -> Value:
    value = frame.value(node.expression)
    if isinstance(node.operator, cst.Minus) and isinstance(value, Constant) and value.value is not None:
        return Constant(-value.value, frame.site(node))
    return UNKNOWN if isinstance(node.operator, cst.Not) else value


def _comparison(node: cst.Comparison, frame: Frame) -> Value:
    frame.lazy(node.left)
    for part in node.comparisons:
        frame.lazy(part.comparator)
    return UNKNOWN


def _lambda(node: cst.Lambda, frame: Frame) -> Value:
    return Function(frame.source, node, closure=frame)


def _await(node: cst.Await, frame: Frame) -> Value:
    return frame.lazy(node.expression)


def _walrus(node: cst.NamedExpr, frame: Frame) -> Value:
    value = frame.lazy(node.value)
    frame.machine.bind(frame, node.target, value)
    return value


def _yield(node: cst.Yield, frame: Frame) -> Value:
    if isinstance(node.value, cst.From):
        frame.yields.append(frame.lazy(node.value.item))
    elif node.value is not None:
        frame.yields.append(frame.lazy(node.value))
    return UNKNOWN


def _starred(node: cst.StarredElement, frame: Frame) -> Value:
    return frame.lazy(node.value)


Rule = Callable[[Any, Frame], Value]

RULES: dict[type[cst.CSTNode], Rule] = {
    cst.Name: _name,
    cst.Attribute: classes.attribute,
    cst.Integer: _integer,
    cst.Float: _float,
    cst.SimpleString: _string,
    cst.ConcatenatedString: _adjacent,
    cst.FormattedString: _f_string,
    cst.BinaryOperation: _binary,
    cst.BooleanOperation: _boolean,
    cst.UnaryOperation: _unary,
    cst.Comparison: _comparison,
    cst.IfExp: _conditional,
    cst.Lambda: _lambda,
    cst.Await: _await,
    cst.NamedExpr: _walrus,
    cst.Yield: _yield,
    cst.StarredElement: _starred,
    cst.Call: calls.call,
    cst.Subscript: lists.subscript,
    cst.List: lists.listing,
    cst.Tuple: lists.listing,
    cst.Set: lists.listing,
    cst.Dict: lists.mapping,
    cst.ListComp: lists.comprehension,
    cst.SetComp: lists.comprehension,
    cst.GeneratorExp: lists.comprehension,
    cst.DictComp: lists.dict_comprehension,
}
