"""Jinja templates and chat templates: read, never rendered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from promptlint_core.cadence import Origin
from promptlint_core.clock import Precision, strftime_precision
from promptlint_core.prompt import Part, Prompt, Segment, Step
from promptlint_linter.sources.jinja_syntax import STRING, Node, parse
from promptlint_linter.sources.jinja_values import Value, Values, assignments, clock, evaluate, literal
from promptlint_linter.sources.lines import Lines
from promptlint_linter.sources.prompt_text import CHAT_TEMPLATE, is_clearly_prompt, role_of_name
from promptlint_linter.sources.unit import Problem, SourceFile, SourceUnit

MOST_BRANCHES = 4
"""Variants of one template that are looked at: the first, second … branch of every `if`."""
MOST_MACRO_DEPTH = 4


def read(source: SourceFile, *, explicit: bool = False) -> SourceUnit:
    """The prompt of a template file; nothing for a template of something else, a page or a configuration."""
    if not is_clearly_prompt(source, explicit=explicit):
        return SourceUnit(source.path)
    prompts, faults = prompts_of(source.text, Lines(source.path, source.text), PurePosixPath(source.path).stem)
    return SourceUnit(source.path, prompts, problems=faults)


def prompts_of(text: str, lines: Lines, name: str) -> tuple[tuple[Prompt, ...], tuple[Problem, ...]]:
    """The variants of one template's prompt, and what is wrong with the template.

    `name` says whose words they are: `user_prompt` is a user message.
    """
    nodes, faults = parse(text)
    role = role_of_name(name)
    part = Part.MESSAGES if role == "user" else Part.SYSTEM
    problems = tuple(Problem(lines.place(fault.offset, fault.offset + 2), fault.message) for fault in faults)
    prompts: list[Prompt] = []
    for branch in range(min(_most_branches(nodes), MOST_BRANCHES)):
        walk = _Walk(branch, part, role)
        walk.visit(nodes)
        segments = tuple(piece.segment(lines) for piece in walk.pieces)
        is_chat = CHAT_TEMPLATE.search(text) is not None
        prompt = Prompt(segments, lines.place(0, 0), name, chat_template=is_chat)
        if walk.pieces and all(prompt.segments != earlier.segments for earlier in prompts):
            prompts.append(prompt)
    return tuple(prompts), problems


def _most_branches(nodes: list[Node]) -> int:
    here = [len(node.branches) for node in nodes if node.kind == "if"]
    inner = [_most_branches(branch) for node in nodes for branch in node.branches]
    return max([1, *here, *inner])


@dataclass(frozen=True, slots=True)
class _Piece:
    """A value where it is printed."""

    value: Value
    used_at: int
    part: Part
    role: str
    repeated: bool

    def segment(self, lines: Lines) -> Segment:
        value = self.value
        read = lines.place(value.offset, value.offset + len(value.expression or value.text or ""))
        used = lines.place(self.used_at, self.used_at + 1)
        flow = (Step(read, "read here"), Step(used, "enters the prompt")) if read.line != used.line else ()
        return Segment(
            value.text,
            value.cadence,
            value.origin,
            value.evidence,
            self.part,
            self.role,
            read,
            value.expression,
            flow if value.text is None else (),
            repeated=self.repeated,
            detail=value.detail,
        )


@dataclass(slots=True)
class _Walk:
    """One pass over a template along one branch of every `if`."""

    branch: int
    part: Part
    role: str
    pieces: list[_Piece] = field(default_factory=list)
    known: dict[str, Values] = field(default_factory=dict)
    macros: dict[str, Node] = field(default_factory=dict)
    repeated: bool = False
    depth: int = 0

    def visit(self, nodes: list[Node]) -> None:
        for node in nodes:
            if node.kind == "text":
                self.add((literal(node.body, node.offset),), node.offset)
            elif node.kind == "output":
                self.output(node)
            elif node.kind == "now":
                self.add((_now_tag(node),), node.offset)
            elif node.kind == "set":
                self.assign(node)
            elif node.kind == "if":
                self.visit(node.branches[min(self.branch, len(node.branches) - 1)])
            elif node.kind == "for":
                self.loop(node)
            elif node.kind == "macro":
                self.macros[node.body.split("(")[0].strip()] = node
            else:
                self.known.update(assignments(node.body, node.offset, self.known) if node.kind == "with" else ())
                self.visit(node.branches[0])

    def output(self, node: Node) -> None:
        macro = self.macros.get(node.body.split("(")[0].strip())
        if macro is not None and self.depth < MOST_MACRO_DEPTH:
            self.known.update(self.handed_over(macro, node))
            self.depth += 1
            self.visit(macro.branches[0])
            self.depth -= 1
            return
        self.add(evaluate(node.body, node.offset, self.known), node.offset)

    def handed_over(self, macro: Node, call: Node) -> Iterator[tuple[str, Values]]:
        """The parameters of a macro with what a call gives them."""
        declared = macro.body.partition("(")[2].rpartition(")")[0]
        names = [parameter.partition("=")[0].strip() for parameter in declared.split(",")]
        head, _, rest = call.body.partition("(")
        given = assignments(rest.rpartition(")")[0], call.offset + len(head) + 1, self.known)
        for number, (name, values) in enumerate(given):
            if name or number < len(names):
                yield name or names[number], values

    def assign(self, node: Node) -> None:
        if node.branches:
            inner = _Walk(self.branch, self.part, self.role, known=self.known, macros=self.macros)
            inner.visit(node.branches[0])
            self.known[node.body] = tuple(piece.value for piece in inner.pieces)
            return
        name, _, rest = node.body.partition("=")
        offset = node.offset + len(name) + 1
        name = name.strip()
        if rest.strip().startswith("namespace("):
            inside = rest.partition("(")[2].rpartition(")")[0]
            for member, values in assignments(inside, offset + rest.find("(") + 1, self.known):
                self.known[f"{name}.{member}"] = values
            return
        values = evaluate(rest, offset, self.known)
        before = self.known.get(name, ())
        if max((value.volatility for value in before), default=-1) <= max((v.volatility for v in values), default=-1):
            self.known[name] = values  # set in one branch only, the more volatile value stays

    def loop(self, node: Node) -> None:
        targets, _, rest = STRING.sub(lambda m: " " * len(m[0]), node.body).partition(" in ")
        iterable = (
            node.body[len(targets) + 4 : len(targets) + 4 + len(rest)].partition(" if ")[0].removesuffix("recursive")
        )
        values = evaluate(iterable, node.offset + len(targets) + 4, self.known)
        history = any(value.origin is Origin.HISTORY for value in values)
        before = self.part, self.role, self.repeated
        if history:
            self.part, self.role = Part.MESSAGES, ""
        self.repeated = True
        for target in targets.split(","):
            self.known[target.strip()] = tuple(replace(value, text=None) for value in values)
        self.visit(node.branches[0])
        self.part, self.role, self.repeated = before

    def add(self, values: Values, used_at: int) -> None:
        self.pieces += [
            _Piece(value, used_at, self.part, self.role, self.repeated) for value in values if value.text != ""
        ]


def _now_tag(node: Node) -> Value:
    strings = [match[0][1:-1] for match in STRING.finditer(node.body)]
    precision = strftime_precision(strings[-1]) if strings and "%" in strings[-1] else Precision("minute")
    return clock(precision, f"now {node.body.strip()}", node.offset)
