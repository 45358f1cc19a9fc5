"""A clock value cut to the date, which changes once a day."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from promptlint_linter.reported import Reported
from promptlint_linter.rewrites.source_tree import Rewrite, SourceTree, method_called

_NOTE = "tell the date only"
_READINGS = frozenset({"now", "utcnow"})
_SAME_INSTANT = frozenset({"astimezone", "replace", "localize"})
_DIRECTIVE = re.compile(r"%[-#_0^:]*([A-Za-z%])")
_TIME = frozenset("HIMSfpXTRZzsrklNPc")
_DATE = frozenset("aAdbBmyYjUWxGuVwDFehCg")
_SUFFIX = re.compile(r"(?!T$)[^\s,;:@|(\[{<\\-]*")
"""What belongs to the date before it: `日`, `.`, `th`; not the T of ISO 8601."""
_PREFIX = re.compile(r"[^\s,;:|)\]}>-]*$")
_BLANK = re.compile(r"\\[nrt]")
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_MOST_WORDS = 2
"""More words next to the time than `o'clock` or `local time` are a sentence of its own."""


def to_the_date(tree: SourceTree, finding: Reported) -> Rewrite | None:
    """Cut the format that writes the time, or take the date of a reading that is written as it is."""
    if finding.cadence != "call":
        return None
    readings = list(tree.at(finding.line, finding.column))
    for node in readings:
        found = _cut(tree, node, is_instant=method_called(node) in _READINGS)
        if found is not None:
            return found
    names = {(name, tree.scope(node)) for node in readings for name in _bound_names(tree, node)}
    for step in finding.flow:
        if step.path != finding.path:
            continue
        for node in tree.at(step.line, step.column):
            is_held = isinstance(node, cst.Name) and (node.value, tree.scope(node)) in names
            found = _cut(tree, node, is_instant=is_held)
            if found is not None:
                return found
    return None


def _bound_names(tree: SourceTree, node: cst.BaseExpression) -> Iterator[str]:
    """The name that holds the reading itself, and nothing else ever."""
    parent = tree.parent(node)
    if method_called(node) not in _READINGS:
        return
    targets: list[cst.BaseExpression] = (
        [target.target for target in parent.targets] if isinstance(parent, cst.Assign) else []
    )
    if isinstance(parent, cst.AnnAssign | cst.NamedExpr):
        targets = [parent.target]
    for target in targets:
        if isinstance(target, cst.Name) and tree.bindings(target.value, tree.scope(target)) == 1:
            yield target.value


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
        if parent.attr.value == "isoformat" and is_instant and _begins_with_date(tree, call):
            return Rewrite(call, f"{tree.code(node)}.date().isoformat()", False, _NOTE)
        return None
    if isinstance(parent, cst.FormattedStringExpression):
        if parent.format_spec:
            return _cut_specification(parent)
        is_plain = parent.conversion is None and parent.equal is None
        return Rewrite(node, f"{tree.code(node)}.date()", False, _NOTE) if is_instant and is_plain else None
    call = tree.parent(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return None
    if method_called(call) == "strftime":
        return _cut_literal(tree, call)
    if method_called(call) == "str" and is_instant and _begins_with_date(tree, call):
        return Rewrite(node, f"{tree.code(node)}.date()", False, _NOTE)
    return None


def _begins_with_date(tree: SourceTree, text: cst.CSTNode) -> bool:
    """Whether what is made of the text is of its beginning: `[:16]`, `.split("T")[0]`; not the time cut out of it."""
    is_split = False
    while True:
        parent = tree.parent(text)
        if isinstance(parent, cst.Subscript) and parent.value is text:
            part = parent.slice[0].slice
            if isinstance(part, cst.Index):
                if not is_split or not isinstance(part.value, cst.Integer) or part.value.value != "0":
                    return False
            elif not isinstance(part, cst.Slice) or part.lower is not None:
                return False
            is_split = False
            text = parent
        elif isinstance(parent, cst.Attribute) and parent.value is text:
            call = tree.parent(parent)
            is_split = is_split or "split" in parent.attr.value or "partition" in parent.attr.value
            text = call if isinstance(call, cst.Call) else parent
        else:
            return not is_split


def _cut_specification(expression: cst.FormattedStringExpression) -> Rewrite | None:
    parts = expression.format_spec or ()
    if len(parts) != 1 or not isinstance(parts[0], cst.FormattedStringText):
        return None
    cut = date_part(parts[0].value)
    return Rewrite(parts[0], cut, False, _NOTE) if cut else None


def _cut_literal(tree: SourceTree, call: cst.CSTNode) -> Rewrite | None:
    """The format of a call of `strftime`."""
    if not _begins_with_date(tree, call):
        return None
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
    '%d.%m.'
    """
    found = [match for match in _DIRECTIVE.finditer(form) if match[1] != "%"]
    kinds = ["time" if match[1] in _TIME else "date" if match[1] in _DATE else "" for match in found]
    if "c" in [match[1] for match in found] or "" in kinds or {"time", "date"} - set(kinds):
        return ""
    first = kinds.index("time")
    last = len(kinds) - 1 - kinds[::-1].index("time")
    if "date" not in kinds[first:]:
        date_end = found[first - 1].end()
        suffix = _SUFFIX.match(form[date_end : found[first].start()])
        kept = form[: date_end + (suffix.end() if suffix else 0)]
        dropped = form[len(kept) :]
        kept += "".join(_CLOSING[one] for one in kept[:1] if one in _CLOSING and form.endswith(_CLOSING[one]))
    elif "date" not in kinds[: last + 1]:
        between = _BLANK.sub(" ", form[found[last].end() : found[last + 1].start()])
        prefix = _PREFIX.search(between)
        kept = (prefix[0] if prefix else "") + form[found[last + 1].start() :]
        dropped = form[: len(form) - len(kept)]
    else:
        return ""
    return kept if len(re.findall(r"[^\W\d_]{2,}", _DIRECTIVE.sub(" ", dropped))) <= _MOST_WORDS else ""
