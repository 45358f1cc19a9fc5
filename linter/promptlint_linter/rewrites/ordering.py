"""What has no fixed order, sorted where it is read or where it is gone through."""

from __future__ import annotations

import libcst as cst

from promptlint_linter.reported import Reported
from promptlint_linter.rewrites.source_tree import Rewrite, SourceTree, method_called

_LISTINGS = frozenset({"listdir", "glob", "iglob", "rglob", "iterdir"})
_LISTS = frozenset({"os.listdir", "glob.glob"})
_TAKE_ANY = frozenset(
    {"list", "tuple", "enumerate", "zip", "map", "filter", "join", "dict"}
    | {"sum", "max", "min", "any", "all", "reversed", "extend", "islice", "chain", "str", "repr"}
)
"""What is called with an iterator and is as content with a list."""
_TAKE_NO_LIST = frozenset({"next", "anext"})
_NOTE = "in sorted order"


def in_order(tree: SourceTree, finding: Reported) -> Rewrite | None:
    """`sorted(…)` around a listing of files, what is joined, or what a loop goes through."""
    for node in tree.at(finding.line, finding.column):
        if method_called(node) in _LISTINGS:
            return _listed(tree, node)
    for step in finding.flow:
        if step.path != finding.path or step.note != "joined here":
            continue
        for node in tree.at(step.line, step.column):
            if (
                method_called(node) == "join"
                and isinstance(node, cst.Call)
                and len(node.args) == 1
                and not node.args[0].star
            ):
                return _joined(tree, node.args[0].value)
    for node in tree.at(finding.line, finding.column):
        parent = tree.parent(node)
        if tree.call_around(node) == "join":
            return _joined(tree, node)
        if isinstance(parent, cst.CompFor | cst.For) and parent.iter is node:
            if parent.asynchronous or isinstance(node, cst.Tuple | cst.List):
                return None
            return _sorted(tree, node, safe=_holds_strings(node))
    return None


def _listed(tree: SourceTree, node: cst.BaseExpression) -> Rewrite | None:
    """A list is one sorted too; an iterator, such as of `Path.iterdir`, is no longer what `next` can be called with."""
    parent = tree.parent(node)
    if _is_sorted(tree, node) or isinstance(parent, cst.Await):
        return None
    if isinstance(parent, cst.For | cst.CompFor):
        return None if parent.asynchronous else _sorted(tree, node, safe=True)
    called = tree.call_around(node)
    if called in ("set", "frozenset"):
        return None  # whatever comes in, no order comes out
    function = node.func if isinstance(node, cst.Call) else node
    if tree.imported(function) in _LISTS or method_called(node) == "listdir":
        return _sorted(tree, node, safe=True)
    if isinstance(parent, cst.Arg):
        return None if called in _TAKE_NO_LIST else _sorted(tree, node, safe=called in _TAKE_ANY)
    return _sorted(tree, node, safe=isinstance(parent, cst.FormattedStringExpression | cst.StarredElement))


def _joined(tree: SourceTree, items: cst.BaseExpression) -> Rewrite | None:
    if isinstance(items, cst.GeneratorExp | cst.ListComp):
        loop = items.for_in
        if (
            isinstance(loop.iter, cst.Tuple | cst.List)
            or loop.asynchronous
            or loop.inner_for_in
            or _is_sorted(tree, loop.iter)
        ):
            return None  # of several loops, it is not known here which has no order
        return _sorted(tree, loop.iter, safe=False)
    return None if _is_sorted(tree, items) else _sorted(tree, items, safe=True)  # only strings can be joined


def _sorted(tree: SourceTree, node: cst.BaseExpression, *, safe: bool) -> Rewrite:
    code = tree.code(node)
    is_bare = isinstance(node, cst.Tuple) and not node.lpar
    return Rewrite(node, f"sorted(({code}))" if is_bare else f"sorted({code})", safe, _NOTE)


def _is_sorted(tree: SourceTree, node: cst.CSTNode) -> bool:
    return method_called(node) == "sorted" or tree.call_around(node) == "sorted"


def _holds_strings(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Set) and all(isinstance(element.value, cst.SimpleString) for element in node.elements)
