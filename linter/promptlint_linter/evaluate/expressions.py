"""Which rule evaluates which kind of expression."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from promptlint_core.cadence import Cadence, Origin
from promptlint_linter.evaluate import calls, changes, classes, clocks, lists, strings, switches
from promptlint_linter.evaluate.branches import either
from promptlint_linter.evaluate.fragments import FALLBACK, change
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

_MOST_COPIES = 100
_OF_THE_TURN = re.compile(r"(?i)(?<![a-z])(?:turns?|steps?|iteration|attempt|round|history|first)(?![a-z])")
"""In a condition: it comes out otherwise from one turn or step to the next."""


_LARGEST = 1 << 64
"""Of a product: beyond it nothing is written out."""


def _name(node: ast.Name, frame: Frame) -> Value:
    value = frame.lookup(node.id)
    return value if value is not None else Opaque(UNKNOWN_PIECE, name=node.id)


def _constant(node: ast.Constant, frame: Frame) -> Value:
    value = node.value
    if isinstance(value, str | bytes):
        return literal(strings.text_value(node), frame.site(node))
    return Constant(value, frame.site(node)) if value is None or isinstance(value, int | float) else UNKNOWN


def _f_string(node: ast.JoinedStr, frame: Frame) -> Value:
    return _composed(node, frame, strings.f_string(node, frame))


def _composed(node: ast.expr, frame: Frame, value: Value) -> Value:
    if isinstance(value, Text):
        frame.machine.compose(frame, node, value)
    return value


def _binary(node: ast.BinOp, frame: Frame) -> Value:
    if isinstance(node.op, ast.Add):
        return _sum(node, frame)
    left = frame.value(node.left)
    if isinstance(node.op, ast.Mod) and isinstance(left, Text):
        text = strings.percent(frame.machine, left, frame.lazy(node.right), frame.site(node))
        return _composed(node, frame, text)
    right = frame.value(node.right)
    if isinstance(node.op, ast.FloorDiv) and isinstance(left, Opaque) and left.instant is not None:
        return clocks.floor_divided(left, right)
    if isinstance(node.op, ast.BitOr):
        united = lists.united(left, right)
        return calls.piped(left, right) if united is UNKNOWN else united
    if isinstance(node.op, ast.BitAnd | ast.Sub) and isinstance(left, Listing):
        return left
    if isinstance(node.op, ast.BitAnd) and isinstance(right, Listing):
        return right
    if isinstance(node.op, ast.Mult) and isinstance(left, Text) and not isinstance(right, Text):
        return _times(left, right)
    if isinstance(node.op, ast.Mult) and isinstance(left, Constant) and isinstance(right, Constant):
        product = (left.value or 0) * (right.value or 0)
        return Constant(product if abs(product) < _LARGEST else None, left.site)
    if isinstance(node.op, ast.Pow) and isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(2 ** int(right.value or 0) if left.value == 2 and (right.value or 0) < 64 else None)
    if isinstance(node.op, ast.Div) and classes.is_path(left):
        return classes.path_joined(frame.machine, left, right)
    return lists.mixed(left, right)


def _times(text: Text, number: Value) -> Text:
    """`text * 3`; as often as it may be, at least once, where the number is not known."""
    known = number.value if isinstance(number, Constant) and isinstance(number.value, int) else 1
    return Text(strings.merged(text.fragments * max(min(known, _MOST_COPIES), 0)))


def _sum(node: ast.BinOp, frame: Frame) -> Value:
    """A chain of `+`, from the left, without recursion: some are hundreds long."""
    chain: list[ast.BinOp] = [node]
    while isinstance(chain[-1].left, ast.BinOp) and isinstance(chain[-1].left.op, ast.Add):
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


def _conditional(node: ast.IfExp, frame: Frame) -> Value:
    frame.lazy(node.test)
    decided = switches.truth(frame, node.test)
    if decided is not None:
        return frame.value(node.body if decided else node.orelse)
    body, orelse = frame.value(node.body), frame.value(node.orelse)
    if _is_sometimes(body, orelse) and _OF_THE_TURN.search(frame.source.code(node.test)):
        return Opaque(Piece(None, Cadence.TURN, Origin.STATE, site=frame.site(node), detail="conditional sentence"))
    return either(body, orelse)


def _is_sometimes(body: Value, orelse: Value) -> bool:
    """A constant sentence that is there or not."""
    texts = [value.literal for value in (body, orelse) if isinstance(value, Text)]
    return len(texts) == 2 and None not in texts and bool(texts[0]) != bool(texts[1])


def _boolean(node: ast.BoolOp, frame: Frame) -> Value:
    value = frame.value(node.values[0])
    for operand in node.values[1:]:
        value = _either_operand(node.op, value, frame.value(operand))
    return value


def _either_operand(operator: ast.boolop, left: Value, right: Value) -> Value:
    if isinstance(operator, ast.And):
        return either(right, literal("")) if isinstance(right, Text) else right
    if isinstance(left, Constant) and not left.value:
        return right
    right = _as_fallback(right)
    if isinstance(left, Opaque) and left.piece.cadence is None and not isinstance(right, Text):
        return right if isinstance(right, Opaque) and right.piece.cadence is not None else left
    return either(left, right)


def _as_fallback(value: Value) -> Value:
    """`stored_id or new_id()`: a random value that is there only where none is kept."""

    def noted(piece: Piece) -> Piece:
        if piece.origin is not Origin.RANDOM or FALLBACK in piece.detail:
            return piece
        return replace(piece, detail=", ".join(part for part in (piece.detail, FALLBACK) if part))

    if isinstance(value, Text):
        return Text(change(value.fragments, noted), value.written)
    return replace(value, piece=noted(value.piece)) if isinstance(value, Opaque) else value


def _unary(node: ast.UnaryOp, frame: Frame) -> Value:
    value = frame.value(node.operand)
    if isinstance(node.op, ast.USub) and isinstance(value, Constant) and value.value is not None:
        return Constant(-value.value, frame.site(node))
    return UNKNOWN if isinstance(node.op, ast.Not) else value


def _comparison(node: ast.Compare, frame: Frame) -> Value:
    frame.lazy(node.left)
    for operand in node.comparators:
        frame.lazy(operand)
    return UNKNOWN


def _lambda(node: ast.Lambda, frame: Frame) -> Value:
    return Function(frame.source, node, closure=frame)


def _await(node: ast.Await, frame: Frame) -> Value:
    return frame.lazy(node.value)


def _walrus(node: ast.NamedExpr, frame: Frame) -> Value:
    value = frame.lazy(node.value)
    frame.machine.bind(frame, node.target, value)
    return value


def _yield(node: ast.Yield | ast.YieldFrom, frame: Frame) -> Value:
    if node.value is not None:
        frame.yields.append(frame.lazy(node.value))
    return UNKNOWN


def _starred(node: ast.Starred, frame: Frame) -> Value:
    return frame.lazy(node.value)


Rule = Callable[[Any, Frame], Value]

RULES: dict[type[ast.expr], Rule] = {
    ast.Name: _name,
    ast.Attribute: classes.attribute,
    ast.Constant: _constant,
    ast.JoinedStr: _f_string,
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.UnaryOp: _unary,
    ast.Compare: _comparison,
    ast.IfExp: _conditional,
    ast.Lambda: _lambda,
    ast.Await: _await,
    ast.NamedExpr: _walrus,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
    ast.Starred: _starred,
    ast.Call: calls.call,
    ast.Subscript: lists.subscript,
    ast.List: lists.listing,
    ast.Tuple: lists.listing,
    ast.Set: lists.listing,
    ast.Dict: lists.mapping,
    ast.ListComp: lists.comprehension,
    ast.SetComp: lists.comprehension,
    ast.GeneratorExp: lists.comprehension,
    ast.DictComp: lists.dict_comprehension,
}
