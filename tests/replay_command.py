"""The replay command as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from promptlint_cli.commands.replay import command


def run(*args: str | Path) -> Result:
    return CliRunner().invoke(command, [str(arg) for arg in args], standalone_mode=False, catch_exceptions=True)


def told(*args: str | Path) -> dict[str, Any]:
    """The JSON that it writes."""
    result = run(*args, "--output-format", "json")
    assert result.exception is None, result.exception
    report: dict[str, Any] = json.loads(result.stdout)
    return report
