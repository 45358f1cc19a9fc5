"""The page on capacity prints what the command prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from promptlint_cli.main import cli

PAGE = (Path(__file__).parents[3] / "docs" / "capacity.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```console\n\$ promptlint (.+)\n((?:.*\n)*?)```", PAGE)


@pytest.mark.parametrize(("command", "printed"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_an_example_of_the_page_is_what_the_command_prints(command: str, printed: str) -> None:
    ran = CliRunner().invoke(cli, shlex.split(command))

    assert printed.rstrip() == ran.output.rstrip()


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) == 5
