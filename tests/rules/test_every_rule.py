"""What every rule promises: its name, its page, its example, its better form, its place in the documentation."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from promptlint_linter.check import check_text
from promptlint_linter.config import Config
from promptlint_rules.base import Rule, Severity
from promptlint_rules.pages import CODE, HEADINGS, page_of
from promptlint_rules.registry import RULES

ROOT = Path(__file__).parents[2]
STATIC = [rule for rule in RULES if rule.is_static()]
FAMILIES = {
    "1": "order",
    "2": "determinism",
    "3": "history",
    "4": "caching",
    "5": "size",
    "6": "measurement",
    "7": "serving",
    "9": "tool",
}
NAMES = {
    "python": "example.py",
    "jinja": "example.j2",
    "yaml": "compose.yaml",
    "sh": "start.sh",
    "bash": "start.sh",
    "dockerfile": "Dockerfile",
    "json": "prompt.json",
    "markdown": "prompt.md",
}
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
each_static_rule = pytest.mark.parametrize("rule", STATIC, ids=lambda rule: rule.id)


def found(rule: type[Rule], heading: str, folder: Path) -> list[tuple[str, str]]:
    """Rule and severity of all that is found in the first code block of a section."""
    match = CODE.search(page_of(rule).sections[heading])
    assert match, f"{rule.id}: no code under {heading}"
    config = Config(root=folder, min_severity=Severity.INFO, cache=False)
    outcome = check_text(match[2].encode(), Path(NAMES[match[1]]), config)
    return [(finding.rule, finding.severity.value) for finding in outcome.findings]


def test_ids_are_unique_and_in_order() -> None:
    ids = [rule.id for rule in RULES]

    assert ids == sorted(set(ids))
    assert len({rule.name for rule in RULES}) == len(RULES)


@each_rule
def test_the_file_is_named_after_the_rule_and_lies_in_its_family(rule: type[Rule]) -> None:
    path = Path(inspect.getfile(rule))

    assert (path.stem.replace("_", "-"), path.parent.name) == (rule.name, FAMILIES[rule.id[2]])


@each_rule
def test_the_page_has_known_headings_in_order(rule: type[Rule]) -> None:
    page = page_of(rule)
    wanted = ["What it does", "Why it costs"]
    wanted += ["Example", "Use instead"] if rule.is_static() else []
    wanted += ["On the wire"] if rule.is_live() else []

    assert page.summary.endswith("."), "the first paragraph is one sentence"
    assert "\n" not in page.summary
    assert list(page.sections) == [heading for heading in HEADINGS if heading in page.sections]
    assert [heading for heading in wanted if not page.sections.get(heading)] == []


@each_rule
def test_the_code_of_the_page_is_what_was_written(rule: type[Rule]) -> None:
    """A `\\n` in a docstring that is not raw becomes a line break and tears the page apart."""
    text = page_of(rule).text

    assert not re.search(r"^ +## ", text, re.MULTILINE)
    for language, code in CODE.findall(text):
        if language == "python":
            ast.parse(code)


@each_static_rule
def test_the_example_is_found_by_this_rule_and_no_other(
    rule: type[Rule], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert {id_ for id_, _ in found(rule, "Example", tmp_path)} == {rule.id}


@each_static_rule
def test_the_better_form_is_clean(rule: type[Rule], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert found(rule, "Use instead", tmp_path) == []


@each_rule
def test_the_changelog_names_the_rule(rule: type[Rule]) -> None:
    assert f"{rule.id} `{rule.name}`" in (ROOT / "CHANGELOG.md").read_text()


def test_the_table_of_rules_lists_every_file_of_a_rule() -> None:
    folder = ROOT / "rules" / "promptlint_rules"
    registered = {Path(inspect.getfile(rule)).relative_to(folder).as_posix() for rule in RULES}
    written = {
        path.relative_to(folder).as_posix()
        for family in FAMILIES.values()
        for path in (folder / family).glob("*.py")
        if re.search(r"^class \w+\(Rule\):", path.read_text(), re.MULTILINE)
    }

    assert written == registered
