"""A reader of Jinja's block structure. Nothing is rendered: text, outputs and tags with their places, as a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

OPENING = re.compile(r"\{\{|\{%|\{#")
CLOSING = {"{{": "}}", "{%": "%}", "{#": "#}"}
STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.DOTALL)
ENDRAW = re.compile(r"\{%[-+]?\s*endraw\s*[-+]?%\}")


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    """`text`, `{{` or `{%`."""
    body: str
    offset: int
    """Of the body's first character in the file."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that keeps Jinja from reading the template."""

    message: str
    offset: int


@dataclass(slots=True)
class Node:
    """One piece of a template with the pieces inside it."""

    kind: str
    """`text`, `output`, `set`, `if`, `for`, `macro`, `with`, `now` or `group`."""
    body: str = ""
    offset: int = 0
    branches: list[list[Node]] = field(default_factory=list)
    """`if`: one list a branch; `for`, `macro`, `group` and a block of `set`: one list."""


def tokens_of(text: str) -> Iterator[Token | Fault]:
    """Split a template; comments are left out, what follows an unclosed opening is text."""
    at = 0
    strip_next = False
    while at < len(text):
        match = OPENING.search(text, at)
        start = match.start() if match else len(text)
        yield from _text_token(text, at, start, strip_left=strip_next, strip_right=text[start + 2 : start + 3] == "-")
        if match is None:
            return
        end = _closing(text, match.end(), CLOSING[match[0]])
        if end is None:
            yield Fault(f"`{match[0]}` is never closed by `{CLOSING[match[0]]}`", start)
            yield from _text_token(text, start, len(text), strip_left=False, strip_right=False)
            return
        strip_next = text[end - 1] == "-"
        body_start = match.end() + (text[match.end()] in "-+")
        body = text[body_start : end - (text[end - 1] in "-+")]
        at = end + 2
        if match[0] == "{%" and body.strip() == "raw":
            raw_end = ENDRAW.search(text, at)
            if raw_end is None:
                yield Fault("`{% raw %}` is never closed", start)
            yield from _text_token(
                text, at, raw_end.start() if raw_end else len(text), strip_left=False, strip_right=False
            )
            at = raw_end.end() if raw_end else len(text)
        elif match[0] != "{#":
            yield Token(match[0], body, body_start)


def _text_token(text: str, start: int, end: int, *, strip_left: bool, strip_right: bool) -> Iterator[Token]:
    body = text[start:end]
    if strip_left:
        start += len(body) - len(body.lstrip())
        body = body.lstrip()
    if strip_right:
        body = body.rstrip()
    if body:
        yield Token("text", body, start)


def _closing(text: str, at: int, closing: str) -> int | None:
    """Where the closing delimiter stands, strings skipped."""
    while True:
        end = text.find(closing, at)
        if end < 0 or closing == "#}":
            return None if end < 0 else end
        quote = STRING.search(text, at, len(text))
        if quote is None or quote.start() > end or "\n\n" in quote[0]:
            return end
        at = quote.end()


OPENERS = frozenset(("if", "for", "macro", "block", "call", "filter", "with", "trans", "autoescape", "generation"))
GROUPS = OPENERS - {"if", "for", "macro", "with"}
BRANCHES = ("elif", "else", "pluralize")


def parse(text: str) -> tuple[list[Node], list[Fault]]:
    """The tree of a template and what is wrong with it; a wrong tag does not keep the rest from being read."""
    faults: list[Fault] = []
    root = Node("group", branches=[[]])
    open_nodes: list[tuple[str, Node]] = [("", root)]
    for token in tokens_of(text):
        here = open_nodes[-1][1].branches[-1]
        if isinstance(token, Fault):
            faults.append(token)
        elif token.kind == "text":
            here.append(Node("text", token.body, token.offset))
        elif token.kind == "{{":
            here.append(Node("output", token.body, token.offset))
        else:
            _add_tag(token, open_nodes, faults)
    faults += [Fault(f"`{{% {word} %}}` is never closed", node.offset) for word, node in open_nodes[1:]]
    return root.branches[0], faults


def _add_tag(token: Token, open_nodes: list[tuple[str, Node]], faults: list[Fault]) -> None:
    word, _, rest = token.body.strip().partition(" ")
    start = token.offset + token.body.find(rest) if rest else token.offset
    here = open_nodes[-1][1].branches[-1]
    if word.startswith("end"):
        expected = open_nodes[-1][0]
        if expected and word[3:] == expected:
            open_nodes.pop()
        else:
            instead = f", `{{% end{expected} %}}` is expected" if expected else ""
            faults.append(Fault(f"`{{% {word} %}}` closes nothing{instead}", token.offset))
    elif word in BRANCHES:
        if open_nodes[-1][0] in ("if", "for", "trans"):
            open_nodes[-1][1].branches.append([])
        else:
            faults.append(Fault(f"`{{% {word} %}}` stands outside of an `if`", token.offset))
    elif word == "set" and "=" not in STRING.sub("", rest):
        _open("set", Node("set", rest.split("|")[0].strip(), start, [[]]), open_nodes)
    elif word in OPENERS:
        kind = "group" if word in GROUPS else word
        _open(word, Node(kind, rest, start, [[]]), open_nodes)
    elif word in ("set", "now"):
        here.append(Node(word, rest, start))


def _open(word: str, node: Node, open_nodes: list[tuple[str, Node]]) -> None:
    open_nodes[-1][1].branches[-1].append(node)
    open_nodes.append((word, node))
