"""The example application shows its faults, all of them and nothing else, and its twin has none."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from promptlint_linter.check import Outcome, check
from promptlint_linter.config import Config
from promptlint_rules.base import Severity
from promptlint_rules.registry import RULES

EXAMPLES = Path(__file__).parents[2] / "examples"
STATIC = {rule.id for rule in RULES if rule.is_static()}
FAULT = re.compile(r"#\s*fault: (KV\d+(?:, KV\d+)*)")
IN_TEXT = {
    ("handover.yaml", 3, "KV105"),  # a comment would be part of the prompt
}


def lint(name: str, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    monkeypatch.chdir(EXAMPLES.parent)
    config = Config(root=EXAMPLES / name, min_severity=Severity.INFO, jobs=1)
    return check([EXAMPLES / name], config)


def marked() -> set[tuple[str, int, str]]:
    found = set(IN_TEXT)
    for path in sorted((EXAMPLES / "support_desk" / "support_desk").rglob("*.*")):
        if path.suffix not in (".py", ".j2"):
            continue
        for number, line in enumerate(path.read_text().split("\n"), 1):
            for match in FAULT.finditer(line):
                found.update((path.name, number, rule) for rule in match[1].split(", "))
    return found


def test_every_fault_is_found_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault is marked in the line that a person would change: the finding lies there or passes it on its way."""
    faults = {fault for fault in marked() if fault[2] in STATIC}
    ways = [
        {(Path(path).name, line, f.rule) for path, line in [(f.path, f.line), *((s.path, s.line) for s in f.flow)]}
        for f in lint("support_desk", monkeypatch).findings
    ]

    assert [fault for fault in sorted(faults) if not any(fault in way for way in ways)] == []
    assert [sorted(way) for way in ways if not faults & way] == []


def test_there_are_faults_of_many_kinds() -> None:
    assert len(marked()) >= 15
    assert len({rule for _, _, rule in marked()}) >= 10


def test_the_twin_is_clean_even_of_information(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = lint("support_desk_fixed", monkeypatch)

    assert outcome.findings == ()
    assert outcome.summary.prompts >= 6


@pytest.mark.parametrize("name", ["support_desk", "support_desk_fixed"])
def test_the_twins_have_the_same_modules_with_the_same_functions(name: str) -> None:
    modules = sorted(path.name for path in (EXAMPLES / name / "support_desk").glob("*.py"))

    assert modules == sorted(path.name for path in (EXAMPLES / "support_desk" / "support_desk").glob("*.py"))
    for module in modules:
        ast.parse((EXAMPLES / name / "support_desk" / module).read_text())
