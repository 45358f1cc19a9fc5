"""Arguments that are added or turned the other way, and draws that are made from a fixed seed."""

from __future__ import annotations

import libcst as cst

from promptlint_linter.reported import Reported
from promptlint_linter.rewrites.source_tree import Rewrite, SourceTree, method_called

_SORTS_KEYS = frozenset({"json", "simplejson", "ujson", "rapidjson"})
"""Modules whose `dumps` takes `sort_keys`; that of orjson, say, does not."""
_REPEATS = (cst.For, cst.While, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp, cst.Lambda)


def switched_off(tree: SourceTree, finding: Reported) -> Rewrite | None:
    """`switch=True` becomes `switch=False`."""
    return _turned(tree, finding, "True", "False")


def switched_on(tree: SourceTree, finding: Reported) -> Rewrite | None:
    """`switch=False` becomes `switch=True`."""
    return _turned(tree, finding, "False", "True")


def _turned(tree: SourceTree, finding: Reported, old: str, new: str) -> Rewrite | None:
    for node in tree.at(finding.line, finding.column):
        if isinstance(node, cst.Name) and node.value == old:
            return Rewrite(node, new, False, f"{old} becomes {new}")
    return None


def keys_sorted(tree: SourceTree, finding: Reported) -> Rewrite | None:
    """`json.dumps(…, sort_keys=True)`; keys of several kinds cannot be sorted."""
    for node in tree.at(finding.line, finding.column):
        if not isinstance(node, cst.Call) or method_called(node) != "dumps" or not node.args:
            continue
        module, _, function = tree.imported(node.func).rpartition(".")
        if function != "dumps" or module.rpartition(".")[2] not in _SORTS_KEYS:
            return None
        if any(argument.star or (argument.keyword and argument.keyword.value == "sort_keys") for argument in node.args):
            return None
        last = node.args[-1]
        if isinstance(last.value, cst.GeneratorExp):
            return None
        return Rewrite(last, f"{tree.code(last)}, sort_keys=True", False, "with sorted keys")
    return None


def drawn_from_seed(tree: SourceTree, finding: Reported) -> Rewrite | None:
    """`random.sample(…)` becomes `random.Random(0).sample(…)`: the same draw each time.

    What is drawn again and again would be the same each time within one prompt too.
    """
    for node in tree.at(finding.line, finding.column):
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            continue
        module = node.func.value
        if not isinstance(module, cst.Name) or tree.imported(module) != "random" or node.func.attr.value[:1].isupper():
            continue
        if any(isinstance(above, _REPEATS) for above in tree.above(node)):
            return None
        return Rewrite(module, f"{module.value}.Random(0)", False, "drawn from a fixed seed")
    return None
