"""`promptlint check`: find prompts that break the prefix cache in source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from promptlint_core import exit_status


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--isolated", is_flag=True)
@click.option("--min-severity", default=None)
@click.option("--output-format", default=None)
@click.option("--jobs", "-j", type=int, default=None)
def command(paths: tuple[Path, ...], isolated: bool, **options: Any) -> int:  # noqa: FBT001
    """Find prompts that break the prefix cache."""
    from promptlint_linter.check import check
    from promptlint_linter.config import BY_NAME, load_config, override
    from promptlint_linter.output.formats import renderer

    paths = paths or (Path(),)
    config = load_config(paths[0], isolated=isolated)
    for name, value in options.items():
        if value is not None:
            options[name] = BY_NAME[name.replace("_", "-")].read(value)
    config = override(config, **options)
    outcome = check(paths, config)
    click.echo(renderer(config.output_format)(outcome))
    return exit_status.FINDINGS if outcome.findings else exit_status.CLEAN
