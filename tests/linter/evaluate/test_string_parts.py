"""The constant parts of an f-string are found again in the source, whatever stands around and between them."""

from __future__ import annotations

import ast

import pytest

from promptlint_linter.evaluate.string_parts import Span, part_span

SOURCES = {
    "one part": ("f'Now {x}'", ["Now "]),
    "parts between expressions": ("f'a{x}b{y}c'", ["a", "b", "c"]),
    "no part": ("f'{x}{y}'", []),
    "a conversion and a specification": ("f'a{x!r:>{width}}b'", ["a", "b"]),
    "a call with a string in it": ("f\"a{d['k']}b\"", ["a", "b"]),
    "doubled braces": ("f'{{a}}{x}'", ["{{a}}"]),
    "strings beside it": ("'a' 'b' f'c{x}' 'd'", ["a' 'b' f'c", "d"]),
    "an empty string beside it": ("'' f'a{x}' ''", ["a"]),
    "a debugging expression": ("f'a{x=}b'", ["a{x=}", "b"]),
    "several lines": ('f"""\n  é {x}\n{y} end\n"""', ["\n  é ", "\n", " end\n"]),
    "a comment between": ("'a'  # 'no'\n  f'b{x}'", ["a'  # 'no'\n  f'b"]),
    "raw and escaped": ("rf'\\d{x}' 'b\\n'", ["\\d", "b\\n"]),
}


def _between(source: str, span: Span) -> str:
    lines = source.split("\n")[span.line : span.end_line + 1]
    lines[-1] = lines[-1][: span.end_column]
    lines[0] = lines[0][span.column :]
    return "\n".join(lines)


@pytest.mark.parametrize(("source", "parts"), SOURCES.values(), ids=SOURCES.keys())
def test_each_constant_part_has_its_own_span(source: str, parts: list[str]) -> None:
    (statement,) = ast.parse(f"({source})").body
    assert isinstance(statement, ast.Expr)
    whole = statement.value
    assert isinstance(whole, ast.JoinedStr)

    spans = [part_span(source, whole, value) for value in whole.values if isinstance(value, ast.Constant)]

    assert [_between(source, span) for span in spans] == parts


def test_a_part_that_the_parsers_count_differently_has_the_span_of_the_whole() -> None:
    source = "f'a{x}\\\n'"  # the last part is a line that goes on: nothing
    (statement,) = ast.parse(source).body
    assert isinstance(statement, ast.Expr)
    whole = statement.value
    assert isinstance(whole, ast.JoinedStr)
    (part,) = [value for value in whole.values if isinstance(value, ast.Constant)]

    assert _between(source, part_span(source, whole, part)) == source


def test_a_span_within_another_moves_the_first_line_alone() -> None:
    outer = Span(10, 4, 12, 1)

    assert Span(0, 2, 0, 5).within(outer) == Span(10, 6, 10, 9)
    assert Span(0, 2, 2, 5).within(outer) == Span(10, 6, 12, 5)
    assert Span(1, 2, 1, 5).within(outer) == Span(11, 2, 11, 5)
