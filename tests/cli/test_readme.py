"""What the README shows is what the commands print."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from promptlint_cli.commands import COMMANDS
from promptlint_cli.main import cli

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


GUIDES = [ROOT / "README.md", *(path for path in (ROOT / "docs").glob("*.md") if path.name != "cli.md")]
SHOWN = sorted(
    {
        line
        for page in GUIDES
        for line in re.findall(r"^(?:\$ )?promptlint (.+)$", page.read_text().replace("\\\n", " "), re.MULTILINE)
    }
)


@pytest.mark.parametrize("line", SHOWN)
def test_a_command_that_a_page_shows_has_all_that_it_needs(line: str) -> None:
    """Its options exist and none is missing; files that it names need not be there."""
    words = shlex.split(re.split(r" [<>|] ", line)[0], comments=True)
    name, args = (words[0], words[1:]) if words[0] in COMMANDS else ("check", words)
    group = click.Context(cli)
    command = cli.get_command(group, name)
    assert command is not None

    wrong = ""
    try:
        command.make_context(name, args, parent=group)
    except click.UsageError as error:
        wrong = error.format_message()
    assert not wrong or "does not exist" in wrong


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
