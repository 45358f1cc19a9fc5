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
    r"(?P<opener>(?<!\{)#|\{#-?|<!--)[ \t]*promptlint:[ \t]*(?P<verb>[\w-]+)[ \t]*(?:\[(?P<words>[^\]\n]*)\])?"
)
OTHER_COMMENT = re.compile(r"[ \t]+(?=#[ \t]*[^\W\d])")
"""What begins another comment on the line, as of another tool; a number sign in a reason (`see #12`) does not."""
CLOSERS = {"{#": "#}", "{#-": "#}", "<!--": "-->"}
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
    closed: bool = True
    """It ends on the line that it begins on."""

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
            end, closed = _end(line, match)
            alone = not line[: match.start()].strip() and not line[end:].strip()
            covered = _next_text_line(lines, number) if alone else number
            yield _suppression(match, (number, match.start(), end), (covered, covered), alone=alone, closed=closed)


def _end(line: str, match: re.Match[str]) -> tuple[int, bool]:
    """Where the comment ends, and whether it does so on this line."""
    closer = CLOSERS.get(match["opener"])
    if closer is not None:
        found = line.find(closer, match.end())
        return (len(line.rstrip()), False) if found < 0 else (found + len(closer), True)
    other = OTHER_COMMENT.search(line, match.end())
    return (other.end() if other else len(line.rstrip())), True


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
        match = DIRECTIVE.search(comment)
        if match is None or comment[: match.start()].rstrip(" \t") == comment[: match.start()] != "":
            continue  # quoted in a sentence; a comment behind another one has a blank between
        below = not lines[number - 1][:column].strip()
        end, _ = _end(comment, match)
        span = (number, column + match.start(), column + end)
        alone = below and comment[: match.start()] == "" and end == len(comment.rstrip())
        yield _suppression(match, span, _covered(number, statements, alone=below), alone=alone)


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


def _suppression(
    match: re.Match[str], span: tuple[int, int, int], covered: tuple[int, int], *, alone: bool, closed: bool = True
) -> Suppression:
    """`span`: the line, counted from 1, and where the comment begins and ends in it, counted from 0."""
    words = tuple(word.strip() for word in (match["words"] or "").split(",") if word.strip())
    line, start, end = span
    return Suppression(line, start + 1, end + 1, match["verb"], words, *covered, alone, closed)


def to_json(suppression: Suppression) -> list[Any]:
    s = suppression
    return [s.line, s.column, s.end_column, s.verb, list(s.words), s.first_line, s.last_line, s.alone, s.closed]


def from_json(data: list[Any]) -> Suppression:
    line, column, end_column, verb, words, first_line, last_line, alone, closed = data
    return Suppression(line, column, end_column, verb, tuple(words), first_line, last_line, alone, closed)
