"""The kind of the difference between two lists of tools."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from promptlint_core.cadence import Origin
from promptlint_core.exchange import Piece, PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_proxy.compare.classify_text import judge_text
from promptlint_proxy.compare.spans import spans_of
from promptlint_rules.difference import Difference, Kind, Span
from promptlint_rules.traffic import Relation

_SHOWN_NAMES = 5
_NAME_BORDER = re.compile(r"[_.:/-]+")
_NUMBERED = re.compile(r"[a-z]*\d{1,3}")
"""`v2`, `page3`: a number that somebody chose."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    pieces: tuple[Piece, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class ToolsJudged:
    kind: Kind
    detail: str
    differences: tuple[Difference, ...]


def tools_of(request: Request) -> tuple[Tool, ...]:
    """The tools of a request in the order sent."""
    tools: list[Tool] = []
    current: list[Piece] = []
    for piece in request.pieces:
        if piece.part is not Part.TOOLS:
            continue
        if piece.kind is PieceKind.NAME and current:
            tools.append(Tool(current[0].text, tuple(current)))
            current = []
        current.append(piece)
    if current:
        tools.append(Tool(current[0].text, tuple(current)))
    return tuple(tools)


def judge_tools(earlier: Request, later: Request, relation: Relation) -> ToolsJudged | None:
    """The kind of the first difference in the tools; None where they are equal."""
    old, new = tools_of(earlier), tools_of(later)
    if [tool.texts for tool in old] == [tool.texts for tool in new]:
        return None
    names_old, names_new = [tool.name for tool in old], [tool.name for tool in new]
    if names_old != names_new:
        return _judge_names(old, new)
    for before, after in zip(old, new, strict=True):
        if before.texts != after.texts:
            return _judge_tool(before, after, relation)
    return None


def _judge_names(old: tuple[Tool, ...], new: tuple[Tool, ...]) -> ToolsJudged:
    names_old, names_new = [tool.name for tool in old], [tool.name for tool in new]
    if sorted(names_old) == sorted(names_new):
        first = next(i for i, (a, b) in enumerate(zip(names_old, names_new, strict=True)) if a != b)
        pair = Difference(old[first].pieces[0], new[first].pieces[0])
        return ToolsJudged(Kind.TOOL_ORDER, f"{len(new)} tools", (pair,))
    removed = [tool for tool in old if tool.name not in names_new]
    added = [tool for tool in new if tool.name not in names_old]
    if len(removed) == len(added):
        spans = [_renamed(a, b) for a, b in zip(removed, added, strict=True)]
        if all(found is not None for found in spans):
            changed = tuple(
                Difference(a.pieces[0], b.pieces[0], (found,) if found else ())
                for a, b, found in zip(removed, added, spans, strict=True)
            )
            return ToolsJudged(Kind.RANDOM, spans[0].detail if spans[0] else "", changed)
    differences = (
        *(Difference(tool.pieces[0], None) for tool in removed),
        *(Difference(None, tool.pieces[0]) for tool in added),
    )
    return ToolsJudged(Kind.TOOL_SET, _told(added, removed), differences)


def _renamed(before: Tool, after: Tool) -> Span | None:
    """The generated part of the name of a tool that is otherwise the same; None for two tools, or names made by people.

    A part of the name that holds a digit on both sides is generated: `search_8fk2` and `search_0qz7`.
    """
    found = spans_of(before.name, after.name)
    if len(found) == 1 and found[0].origin in (Origin.RANDOM, Origin.CLOCK):
        return found[0]
    if [p.text for p in before.pieces[1:]] != [p.text for p in after.pieces[1:]]:
        return None
    old, new = (_NAME_BORDER.split(tool.name) for tool in (before, after))
    differ = [(a, b) for a, b in zip(old, new, strict=False) if a != b]
    if len(old) != len(new) or not all(_is_generated(a) and _is_generated(b) for a, b in differ):
        return None
    return Span(differ[0][0], differ[0][1], after.name.find(differ[0][1]), Origin.RANDOM, "a part of the name")


def _is_generated(part: str) -> bool:
    return any(c.isdigit() for c in part) and not _NUMBERED.fullmatch(part)


def _told(added: list[Tool], removed: list[Tool]) -> str:
    parts = []
    for word, tools in (("added", added), ("removed", removed)):
        if tools:
            names = ", ".join(tool.name for tool in tools[:_SHOWN_NAMES])
            more = f" and {len(tools) - _SHOWN_NAMES} more" if len(tools) > _SHOWN_NAMES else ""
            parts.append(f"{word} {names}{more}")
    return "; ".join(parts)


def _judge_tool(before: Tool, after: Tool, relation: Relation) -> ToolsJudged:
    if len(before.pieces) != len(after.pieces):
        first = next((p for p in after.pieces if p.text not in before.texts), after.pieces[0])
        return ToolsJudged(Kind.TOOL_SET, f"definition of {after.name} changed", (Difference(None, first),))
    old, new = next((a, b) for a, b in zip(before.pieces, after.pieces, strict=True) if a.text != b.text)
    if new.kind is PieceKind.SCHEMA and equal_as_data(old.text, new.text):
        keys = "keys" if _load(old.text) == _load(new.text) else "lists"
        return ToolsJudged(Kind.SCHEMA_ORDER, f"{keys} of {after.name}", (Difference(old, new),))
    judged = judge_text(old.text, new.text, relation)
    kind = judged.kind
    if kind in (Kind.JSON_BYTES, Kind.ITEM_ORDER) and new.kind is PieceKind.SCHEMA:
        kind = Kind.SCHEMA_ORDER
    stated = (Kind.CLOCK, Kind.FRAMEWORK_CLOCK, Kind.RANDOM, Kind.SCHEMA_ORDER, Kind.ITEM_ORDER, Kind.IDENTITY)
    if kind not in stated:
        return ToolsJudged(Kind.TOOL_SET, f"definition of {after.name} changed", (Difference(old, new, judged.spans),))
    return ToolsJudged(kind, judged.detail, (Difference(old, new, judged.spans),))


def _load(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def equal_as_data(a: str, b: str) -> bool:
    """Whether two JSON texts hold the same data, the order of keys and of lists left out.

    >>> equal_as_data('{"a": 1, "enum": [2, 3]}', '{"enum":[3,2],"a":1}'), equal_as_data("{", "}")
    (True, False)
    """
    left, right = _load(a), _load(b)
    if isinstance(left, str) or isinstance(right, str):
        return False
    return _canonical(left) == _canonical(right)


def _canonical(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{key!r}:{_canonical(item)}" for key, item in value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted(_canonical(item) for item in value)) + "]"
    return json.dumps(value)
