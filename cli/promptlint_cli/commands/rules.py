"""`promptlint rules`: the table of rules."""

from __future__ import annotations

import click

from promptlint_core import exit_status


@click.command("rules")
@click.option("--output-format", type=click.Choice(["text", "json", "markdown"]), default="text", help="Format.")
def command(output_format: str) -> int:
    """List all rules with severity and what they look at."""
    from promptlint_cli.rule_pages import TABLES
    from promptlint_cli.terminal import write

    write(TABLES[output_format]())
    return exit_status.CLEAN
