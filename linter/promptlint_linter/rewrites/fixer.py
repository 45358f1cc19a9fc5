"""Which rules' findings can be fixed, and the fixes of the findings of one file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from promptlint_linter.fixes import apply_edits
from promptlint_linter.reported import Reported
from promptlint_linter.sources.kinds import PYTHON, STDIN_WITHOUT_NAME
from promptlint_rules.base import Edit, Fix, Severity

if TYPE_CHECKING:
    from promptlint_linter.rewrites.source_tree import Rewrite, SourceTree

FIXABLE = frozenset({"KV101", "KV102", "KV201", "KV204", "KV205", "KV208", "KV701"})
"""Rules with a rewrite in Python source; not every finding of theirs has one."""


def with_fixes(findings: Iterable[Reported], read: Callable[[str], str | None]) -> list[Reported]:
    """The findings, with a fix where one is known; `read` gives the text of a file by the path of the finding."""
    trees: dict[str, SourceTree | None] = {}
    texts: dict[str, str] = {}
    fixed = []
    for finding in findings:
        if not _may_be_fixed(finding):
            fixed.append(finding)
            continue
        if finding.path not in trees:
            text = read(finding.path)
            texts[finding.path] = text or ""
            trees[finding.path] = _tree(finding.path, text) if text is not None else None
        tree = trees[finding.path]
        fix = _fix(tree, finding, texts[finding.path]) if tree is not None else None
        fixed.append(replace(finding, fix=fix) if fix else finding)
    return fixed


def _may_be_fixed(finding: Reported) -> bool:
    """What is told as information may be meant as it is: a draw for each prompt, say."""
    is_fault = finding.rule in FIXABLE and finding.severity is not Severity.INFO
    is_python = finding.path.endswith(tuple(PYTHON)) or finding.path == STDIN_WITHOUT_NAME
    return is_fault and finding.fix is None and is_python


@lru_cache(maxsize=2)  # a value that several files send is told by each of them
def _tree(path: str, text: str) -> SourceTree | None:
    from libcst import ParserSyntaxError  # takes a while, and few files have a finding

    from promptlint_linter.rewrites.source_tree import SourceTree

    try:
        return SourceTree(path, text)
    except (ParserSyntaxError, RecursionError):
        return None


def _fix(tree: SourceTree, finding: Reported, text: str) -> Fix | None:
    rewrite = _rewrites()[finding.rule](tree, finding)
    if rewrite is None:
        return None
    edit = Edit(tree.place(rewrite.node), rewrite.code)
    try:
        ast.parse(apply_edits(text, [edit]))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return Fix(rewrite.safe, (edit,), rewrite.note)


def _rewrites() -> dict[str, Callable[[SourceTree, Reported], Rewrite | None]]:
    from promptlint_linter.rewrites import arguments, clocks, ordering

    return {
        "KV101": clocks.to_the_date,
        "KV102": arguments.switched_off,
        "KV201": ordering.in_order,
        "KV204": arguments.keys_sorted,
        "KV205": ordering.in_order,
        "KV208": arguments.drawn_from_seed,
        "KV701": arguments.switched_on,
    }
