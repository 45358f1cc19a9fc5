"""What has no fixed order, sorted where it is read or where it is gone through."""

from __future__ import annotations

import libcst as cst

from promptlint_linter.reported import Reported
from promptlint_linter.rewrites.source_tree import Rewrite, SourceTree, method_called

_LISTINGS = frozenset({"listdir", "glob", "iglob", "rglob", "iterdir"})
_NOTE = "in sorted order"


def in_order(tree: SourceTree, finding: Reported) -> Rewrite | None:
    """`sorted(…)` around a listing of files, what is joined, or what a loop goes through."""
    for node in tree.at(finding.line, finding.column):
        if method_called(node) in _LISTINGS:
            return None if _is_sorted(tree, node) else _sorted(tree, node, safe=True)
    for step in finding.flow:
        if step.path != finding.path or step.note != "joined here":
            continue
        for node in tree.at(step.line, step.column):
            if method_called(node) == "join" and isinstance(node, cst.Call) and len(node.args) == 1:
                return _joined(tree, node.args[0].value)
    for node in tree.at(finding.line, finding.column):
        parent = tree.parent(node)
        if isinstance(parent, cst.Arg) and method_called(tree.parent(parent) or parent) == "join":
            return _joined(tree, node)
        if isinstance(parent, cst.CompFor | cst.For) and parent.iter is node:
            return _sorted(tree, node, safe=_holds_strings(node))
    return None


def _joined(tree: SourceTree, items: cst.BaseExpression) -> Rewrite | None:
    if isinstance(items, cst.GeneratorExp | cst.ListComp):
        return _sorted(tree, items.for_in.iter, safe=False)
    return None if _is_sorted(tree, items) else _sorted(tree, items, safe=True)  # only strings can be joined


def _sorted(tree: SourceTree, node: cst.BaseExpression, *, safe: bool) -> Rewrite:
    return Rewrite(node, f"sorted({tree.code(node)})", safe, _NOTE)


def _is_sorted(tree: SourceTree, node: cst.CSTNode) -> bool:
    parent = tree.parent(node)
    return method_called(node) == "sorted" or (
        isinstance(parent, cst.Arg) and method_called(tree.parent(parent) or parent) == "sorted"
    )


def _holds_strings(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Set) and all(isinstance(element.value, cst.SimpleString) for element in node.elements)
