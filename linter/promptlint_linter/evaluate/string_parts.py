"""Where the constant parts of an f-string stand: the standard parser gives them the place of the whole.

Asked only for what is reported. libcst keeps every character of the source, quotes, prefixes and comments included.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True, slots=True)
class Span:
    """Lines and columns in characters, both from 0, the end not included."""

    line: int
    column: int
    end_line: int
    end_column: int

    def within(self, outer: Span) -> Span:
        """This span of the text of another, in the text that holds the other."""
        return Span(
            self.line + outer.line,
            self.column + (0 if self.line else outer.column),
            self.end_line + outer.line,
            self.end_column + (0 if self.end_line else outer.column),
        )


def part_span(source: str, whole: ast.JoinedStr, part: ast.Constant) -> Span:
    """The span, in the source of an f-string and of the strings beside it, of one of its constant parts.

    The whole where the two parsers do not agree about the parts, or libcst does not know the syntax.
    """
    constants = [value for value in whole.values if isinstance(value, ast.Constant)]
    runs = list(_runs(source))
    if len(runs) != len(constants):
        return _between(source, 0, len(source))
    return _between(source, *runs[next(index for index, value in enumerate(constants) if value is part)])


def _between(source: str, start: int, end: int) -> Span:
    first, last = source.count("\n", 0, start), source.count("\n", 0, end)
    return Span(first, start - source.rfind("\n", 0, start) - 1, last, end - source.rfind("\n", 0, end) - 1)


def _runs(source: str) -> Iterator[tuple[int, int]]:
    """Offsets of the runs of constant text, each up to the next expression."""
    import libcst as cst  # takes a while, and few runs report a constant part

    try:
        tree = cst.parse_expression(f"({source})")
    except cst.ParserSyntaxError:
        return
    at = 0
    start = end = -1
    for code, is_constant, is_end in _pieces(tree):
        if is_constant and code:
            start, end = at if start < 0 else start, at + len(code)
        if is_end and start >= 0:
            yield start, end
            start = -1
        at += len(code)
    if start >= 0:
        yield start, end


def _pieces(node: cst.BaseExpression) -> Iterator[tuple[str, bool, bool]]:
    """The source in pieces: its text, whether it is constant text, and whether constant text ends there."""
    import libcst as cst

    code = cst.Module([]).code_for_node
    if isinstance(node, cst.ConcatenatedString):
        yield from _pieces(node.left)
        yield code(node.whitespace_between), False, False
        yield from _pieces(node.right)
    elif isinstance(node, cst.SimpleString):
        opened, closed = len(node.prefix) + len(node.quote), len(node.quote)
        yield node.value[:opened], False, False
        yield node.value[opened:-closed], True, False
        yield node.value[-closed:], False, False
    elif isinstance(node, cst.FormattedString):
        yield node.start, False, False
        for part in node.parts:
            is_constant = isinstance(part, cst.FormattedStringText)
            # `{name=}` is constant text and a value
            is_shown = isinstance(part, cst.FormattedStringExpression) and part.equal is not None
            yield code(part), is_constant or is_shown, not is_constant
        yield node.end, False, False
