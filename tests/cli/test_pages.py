"""Rules, pages, configuration, strips and completion on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from promptlint_cli.commands import COMMANDS
from promptlint_cli.generated_docs import pages
from promptlint_linter.config import KEYS
from promptlint_rules.registry import RULES

Run = Callable[..., Any]
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("word", ["KV101", "kv101", "clock-first", "Clock-First"])
def test_a_rule_is_printed_by_id_or_name(run: Run, word: str) -> None:
    ran = run("rule", word)

    assert (ran.status, ran.out.split("\n")[0]) == (0, "clock-first (KV101)")
    assert "Why it costs" in ran.out


def test_a_rule_that_is_none_is_a_sentence_with_the_nearest(run: Run) -> None:
    ran = run("rule", "clok-first")

    assert (ran.status, "no rule 'clok-first'; did you mean clock-first?" in ran.err) == (2, True)


def test_a_page_without_docstrings_says_why(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RULES[0], "__doc__", None)

    assert "-OO" in run("rule", RULES[0].id).out


def test_all_rules_are_listed(run: Run) -> None:
    assert len(run("rules").out.strip().split("\n")) == len(RULES)
    assert [row["id"] for row in json.loads(run("rules", "--output-format", "json").out)] == [r.id for r in RULES]
    assert run("rules", "--output-format", "markdown").out.startswith("| id | name |")


def test_the_configuration_tells_values_and_origins(folder: Path, run: Run) -> None:
    (folder / "promptlint.toml").write_text('select = ["KV1"]\n')

    lines = run("config").out.split("\n")

    assert lines[0] == f"# root: {folder}"
    assert any(line.startswith('select = ["KV1"]') and f"# {folder}/promptlint.toml:" in line for line in lines)
    assert any(line.startswith("jobs = 0") and "# default:" in line for line in lines)


def test_show_draws_the_prompts_of_a_file_and_of_one_function(folder: Path, run: Run) -> None:
    (folder / "ask.j2").write_text("You are a clerk. It is {{ now() }}. Answer in two sentences, please.")

    ran = run("show", "ask.j2", "--width", "40")
    assert ran.status == 0
    assert "a cache stops here" in ran.out
    assert run("show", "ask.j2:ask").status == 0
    other = run("show", "ask.j2:other")
    assert (other.status, "has no prompt in 'other'; it has ask" in other.err) == (2, True)
    assert run("show", "gone.py").status == 2


def test_show_says_when_there_is_no_prompt_and_why_a_file_cannot_be_read(folder: Path, run: Run) -> None:
    (folder / "a.py").write_text("x = 1\n")
    (folder / "b.py").write_text("prompt = (\n")

    assert run("show", "a.py").out == "no prompt found in a.py\n"
    assert "b.py:1: cannot be parsed" in run("show", "b.py").err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_completion(run: Run, shell: str) -> None:
    ran = run("completion", shell)

    assert (ran.status, "_PROMPTLINT_COMPLETE" in ran.out) == (0, True)


def test_generated_pages_are_written_checked_and_cleaned_up(folder: Path, run: Run) -> None:
    (folder / "docs" / "rules").mkdir(parents=True)
    (folder / "docs" / "rules" / "gone-rule.md").write_text("old")

    assert run("docs", "--check").status == 1
    assert run("docs").status == 0
    assert run("docs", "--check").status == 0
    assert not (folder / "docs" / "rules" / "gone-rule.md").exists()

    (folder / "docs" / "cli.md").write_text("changed")
    stale = run("docs", "--check")
    assert (stale.status, stale.err) == (1, "docs/cli.md is stale: run `make docs`\n")


def test_docs_outside_of_a_checkout_is_a_sentence(folder: Path, run: Run) -> None:
    assert run("docs").status == 2


def test_every_rule_and_every_command_has_its_page() -> None:
    made = pages()

    assert {f"rules/{rule.name}.md" for rule in RULES} <= set(made)
    assert [name for name in COMMANDS if f"## `promptlint {name}`" not in made["cli.md"]] == []
    assert "| option | meaning |\n|---|---|\n" in made["cli.md"]


def test_the_guide_to_the_configuration_names_every_key() -> None:
    guide = (ROOT / "docs" / "configuration.md").read_text()

    assert [key.name for key in KEYS if f"| `{key.name}` |" not in guide] == []


def test_help_names_every_command_and_the_version_is_told(run: Run) -> None:
    told = run("--help").out

    assert [name for name in COMMANDS if f"  {name}" not in told] == []
    assert run("--version").out.startswith("promptlint ")
    assert "Usage: promptlint" in run().err
