"""The house stays small and tidy: sizes of files and functions, and words that no module is named by."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOTS = ("core", "rules", "linter", "proxy", "report", "cli")
MODULES = [
    path.relative_to(ROOT).as_posix()
    for root in ROOTS
    for path in sorted((ROOT / root).rglob("*.py"))
    if "__pycache__" not in path.parts
]
MOST_LINES, MOST_RULE_LINES, MOST_FUNCTION_LINES = 400, 300, 60
LONGER: dict[str, str] = {}
"""Path, or path and function, to the reason why it may be longer. The list starts empty and should stay so."""
EMPTY_WORDS = ("util", "utils", "helper", "helpers", "common", "manager", "misc")


def lines_of(module: str) -> int:
    return (ROOT / module).read_text(encoding="utf-8").count("\n")


def functions_of(module: str) -> list[tuple[str, int]]:
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    return [
        (node.name, (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_fits_its_budget(module: str) -> None:
    most = MOST_RULE_LINES if module.startswith("rules/") else MOST_LINES

    assert module in LONGER or lines_of(module) <= most
    long = [name for name, length in functions_of(module) if length > MOST_FUNCTION_LINES]
    assert [name for name in long if f"{module}:{name}" not in LONGER] == []


def test_the_list_of_exceptions_holds_only_what_needs_it() -> None:
    assert [key for key, reason in LONGER.items() if not (ROOT / key.split(":")[0]).is_file() or not reason] == []


@pytest.mark.parametrize("module", MODULES)
def test_a_module_says_what_it_is_for_and_is_named_after_it(module: str) -> None:
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))

    assert ast.get_docstring(tree), "one sentence at the top"
    assert not set(re.split(r"[_/.]", module)) & set(EMPTY_WORDS)


def test_each_top_level_folder_holds_one_package() -> None:
    for root in ROOTS:
        packages = [path.parent.name for path in (ROOT / root).glob("*/__init__.py")]
        assert packages == [f"promptlint_{root}"]


def test_no_file_of_the_repository_is_large() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    names = [name for name in listed.stdout.decode().split("\0") if name]

    assert [name for name in names if (ROOT / name).is_file() and (ROOT / name).stat().st_size > 1_000_000] == []
