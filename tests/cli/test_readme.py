"""What the README shows is what the commands print."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from promptlint_cli.commands import COMMANDS

Run = Callable[..., Any]
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
FAULT = re.compile(r" *# fau?l?t?:?[^\n…]*…?")


def without_marks(text: str) -> list[str]:
    """The lines without the example's remarks on its faults, which a reader of the README need not see."""
    return [FAULT.sub("", line).rstrip() for line in text.split("\n")]


@pytest.mark.parametrize(
    "command", re.findall(r"^\$ promptlint ((?:show )?examples/\S+(?: --width \d+)?)$", README, re.MULTILINE)
)
def test_an_output_in_the_readme_is_what_the_command_prints(
    command: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    shown = README.split(f"$ promptlint {command}\n")[1].split("```")[0].split("\n$ ")[0].split("\n…")[0]

    printed = set(without_marks(run(*command.split()).out))

    assert [line for line in without_marks(shown) if line and line not in printed] == []


def test_the_readme_fits_its_budget_and_names_only_commands_that_exist() -> None:
    named = {match for match in re.findall(r"^\$ promptlint (\w+) ", README, re.MULTILINE) if match != "examples"}

    assert README.count("\n") <= 150
    assert named <= set(COMMANDS)


def test_links_of_the_readme_and_the_guides_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    broken = [
        f"{page.name}: {link}"
        for page in pages
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text())
        if "://" not in link and not (page.parent / link).exists()
    ]

    assert broken == []
