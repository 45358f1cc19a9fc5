"""`promptlint config`: the effective configuration and where each value came from."""

from __future__ import annotations

from pathlib import Path

import click

from promptlint_cli.options import isolation_options
from promptlint_core import exit_status


@click.command("config")
@click.argument("path", default=".", type=click.Path(path_type=Path))
@isolation_options
def command(path: Path, isolated: bool, config_file: str | None) -> int:
    """Show the configuration that holds for PATH, and where each value came from."""
    from promptlint_cli.terminal import tell, write
    from promptlint_linter.config import load_config, told_values

    config = load_config(path, isolated=isolated, config_file=Path(config_file) if config_file else None)
    tell(config.notes)
    rows = list(told_values(config))
    width = max(len(f"{key.name} = {value}") if len(value) < 60 else 0 for key, value, _ in rows)
    lines = [f"# root: {config.root}"]
    for key, value, origin in rows:
        setting = f"{key.name} = {value}"
        lines.append(f"{setting:<{width}}  # {origin}: {key.meaning}")
    write("\n".join(lines))
    return exit_status.CLEAN
