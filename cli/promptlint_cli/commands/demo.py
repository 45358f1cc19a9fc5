"""`promptlint demo`: all of it on this machine."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import click

from promptlint_core.errors import PromptlintError

WIDTH = 120
"""Columns where no terminal says how many there are."""


@click.command("demo")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Keep the records in this folder.")
def command(keep: Path | None) -> None:
    """Lint an example application, watch it through the proxy in front of a simulated server, and report.

    Nothing leaves this machine and nothing is left behind; it takes less than a minute.
    """
    try:
        from rich.console import Console

        from promptlint_cli.demo.stages import run
    except ImportError as error:
        raise PromptlintError(f"the demonstration needs pip install 'promptlint-prefix[all]' ({error.name})") from None
    # Ended by a signal it must still end the processes that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    console = Console()
    run(console if console.is_terminal else Console(width=WIDTH), keep=keep)
