"""Suppression comments: `# promptlint: ignore[KV101] reason`, `ignore-file[…]`, and the same in Jinja and Markdown."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from promptlint_linter.sources.kinds import Kind

DIRECTIVE = re.compile(
    r"(?:#|\{#-?|<!--)[ \t]*promptlint:[ \t]*(?P<verb>[\w-]+)[ \t]*(?:\[(?P<words>[^\]\n]*)\])?(?P<rest>[^\n]*)"
)
TAIL = re.compile(r"\s*(?:-?#\}|-->)\s*$")
VERBS = ("ignore", "ignore-file")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment. Lines and columns count from 1; `end_column` is exclusive."""

    line: int
    column: int
    end_column: int
    verb: str
    words: tuple[str, ...]
    """Ids, prefixes or names as written; empty: all rules."""
    first_line: int
    """The lines that it covers, first and last; a suppression for the file covers all."""
    last_line: int
    alone: bool = False
    """Nothing else stands on its line."""

    @property
    def whole_file(self) -> bool:
        return self.verb == "ignore-file"

    def covers(self, line: int) -> bool:
        return self.whole_file or self.first_line <= line <= self.last_line


def find_suppressions(text: str, kind: Kind) -> tuple[Suppression, ...]:
    """All suppression comments of a file, in order."""
    if "promptlint:" not in text:
        return ()
    if kind is Kind.PYTHON:
        return tuple(_in_python(text))
    return tuple(_in_lines(text.split("\n")))


def _in_lines(lines: list[str]) -> Iterator[Suppression]:
    for number, line in enumerate(lines, 1):
        match = DIRECTIVE.search(line)
        if match:
            alone = not line[: match.start()].strip()
            covered = _next_text_line(lines, number) if alone else number
            yield _suppression(match, number, match.start(), (covered, covered), alone=alone)


def _next_text_line(lines: list[str], number: int) -> int:
    for later in range(number, len(lines)):
        if lines[later].strip() and not DIRECTIVE.search(lines[later]):
            return later + 1
    return number


def _in_python(text: str) -> Iterator[Suppression]:
    """Comments proper, never text inside a string; each covers the statement that it belongs to."""
    comments: list[tuple[int, int, str]] = []
    statements: list[tuple[int, int]] = []
    first: int | None = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                comments.append((token.start[0], token.start[1], token.string))
            elif token.type == tokenize.NEWLINE:
                statements.append((first or token.start[0], token.start[0]))
                first = None
            elif first is None and token.type not in LAYOUT:
                first = token.start[0]
    except (tokenize.TokenError, SyntaxError):
        yield from _in_lines(text.split("\n"))  # the file is reported as unreadable anyway
        return
    lines = text.split("\n")
    for number, column, comment in comments:
        match = DIRECTIVE.match(comment)
        if match:
            alone = not lines[number - 1][:column].strip()
            yield _suppression(match, number, column, _covered(number, statements, alone=alone), alone=alone)


LAYOUT = frozenset((tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER))


def _covered(number: int, statements: Iterable[tuple[int, int]], *, alone: bool) -> tuple[int, int]:
    """The lines that a comment covers: its statement, the one below it, or one line inside a long statement."""
    for first, last in statements:
        if number > last:
            continue
        if number < first:
            return (first, last) if alone else (number, number)
        if alone:
            return (number + 1, number + 1)
        return (first, last) if number in (first, last) else (number, number)
    return (number, number)


def _suppression(match: re.Match[str], line: int, column: int, covered: tuple[int, int], *, alone: bool) -> Suppression:
    words = tuple(word.strip() for word in (match["words"] or "").split(",") if word.strip())
    end = column + len(match[0].rstrip())
    return Suppression(line, column + 1, end + 1, match["verb"], words, covered[0], covered[1], alone)


def to_json(suppression: Suppression) -> list[Any]:
    s = suppression
    return [s.line, s.column, s.end_column, s.verb, list(s.words), s.first_line, s.last_line, s.alone]


def from_json(data: list[Any]) -> Suppression:
    line, column, end_column, verb, words, first_line, last_line, alone = data
    return Suppression(line, column, end_column, verb, tuple(words), first_line, last_line, alone)
