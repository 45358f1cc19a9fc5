"""A clock value cut to the date, which changes once a day."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from promptlint_linter.reported import Reported
from promptlint_linter.rewrites.source_tree import Rewrite, SourceTree, method_called

_NOTE = "tell the date only"
_READINGS = frozenset({"now", "utcnow", "localtime"})
_SAME_INSTANT = frozenset({"astimezone", "replace", "localize"})
_DIRECTIVE = re.compile(r"%[-#_0^:]*([A-Za-z%])")
_TIME = frozenset("HIMSfpXTRZzsrklNPc")
_DATE = frozenset("aAdbBmyYjUWxGuVwDFehCg")
_AFTER_DATE = re.compile(r"(?:[\s,;:@|(\[-]|T(?=$)|\b(?:at|um|à|kl\.?)(?=\s*$))+$")
_BEFORE_DATE = re.compile(r"^[\s,;:|)\]-]+")


def to_the_date(tree: SourceTree, finding: Reported) -> Rewrite | None:
    """Cut the format that writes the time, or take the date of a reading that is written as it is."""
    if finding.cadence != "call":
        return None
    readings = list(tree.at(finding.line, finding.column))
    for node in readings:
        found = _cut(tree, node, is_instant=method_called(node) in _READINGS)
        if found is not None:
            return found
    names = {name for node in readings for name in _bound_names(tree, node)}
    for step in finding.flow:
        if step.path != finding.path:
            continue
        for node in tree.at(step.line, step.column):
            found = _cut(tree, node, is_instant=isinstance(node, cst.Name) and node.value in names)
            if found is not None:
                return found
    return None


def _bound_names(tree: SourceTree, node: cst.BaseExpression) -> Iterator[str]:
    """The name that holds the reading itself."""
    parent = tree.parent(node)
    if method_called(node) not in _READINGS or not isinstance(parent, cst.Assign):
        return
    for target in parent.targets:
        if isinstance(target.target, cst.Name):
            yield target.target.value


def _cut(tree: SourceTree, node: cst.BaseExpression, *, is_instant: bool) -> Rewrite | None:
    if method_called(node) == "strftime":
        return _cut_literal(tree, node)
    parent = tree.parent(node)
    if isinstance(parent, cst.Attribute) and parent.value is node:
        call = tree.parent(parent)
        if not isinstance(call, cst.Call) or call.func is not parent:
            return None
        if parent.attr.value == "strftime":
            return _cut_literal(tree, call)
        if parent.attr.value in _SAME_INSTANT:
            return _cut(tree, call, is_instant=is_instant)
        if parent.attr.value == "isoformat" and is_instant:
            return Rewrite(call, f"{tree.code(node)}.date().isoformat()", False, _NOTE)
        return None
    if isinstance(parent, cst.FormattedStringExpression):
        if parent.format_spec:
            return _cut_specification(parent)
        is_plain = parent.conversion is None and parent.equal is None
        return Rewrite(node, f"{tree.code(node)}.date()", False, _NOTE) if is_instant and is_plain else None
    if isinstance(parent, cst.Arg) and is_instant and method_called(call := tree.parent(parent) or parent) == "str":
        return Rewrite(node, f"{tree.code(node)}.date()", False, _NOTE) if isinstance(call, cst.Call) else None
    return None


def _cut_specification(expression: cst.FormattedStringExpression) -> Rewrite | None:
    parts = expression.format_spec or ()
    if len(parts) != 1 or not isinstance(parts[0], cst.FormattedStringText):
        return None
    cut = date_part(parts[0].value)
    return Rewrite(parts[0], cut, False, _NOTE) if cut else None


def _cut_literal(tree: SourceTree, call: cst.CSTNode) -> Rewrite | None:
    """The format of a call of `strftime`."""
    del tree
    literal = next((a.value for a in getattr(call, "args", ()) if isinstance(a.value, cst.SimpleString)), None)
    if literal is None:
        return None
    cut = date_part(literal.raw_value)
    if not cut:
        return None
    return Rewrite(literal, f"{literal.prefix}{literal.quote}{cut}{literal.quote}", False, _NOTE)


def date_part(form: str) -> str:
    """The part of a format that writes the date, where it stands by itself; empty where there is none.

    >>> date_part("%A, %d %B %Y, %H:%M:%S")
    '%A, %d %B %Y'
    >>> date_part("%H:%M on %d.%m.")
    'on %d.%m.'
    """
    found = [match for match in _DIRECTIVE.finditer(form) if match[1] != "%"]
    kinds = ["time" if match[1] in _TIME else "date" if match[1] in _DATE else "" for match in found]
    if "c" in [match[1] for match in found] or "" in kinds or {"time", "date"} - set(kinds):
        return ""
    first = kinds.index("time")
    last = len(kinds) - 1 - kinds[::-1].index("time")
    if "date" not in kinds[first:]:
        return _AFTER_DATE.sub("", form[: found[first].start()])
    if "date" not in kinds[: last + 1]:
        return _BEFORE_DATE.sub("", form[found[last].end() :])
    return ""
