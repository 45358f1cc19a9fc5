"""`promptlint check`: find prompts that break the prefix cache in source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from promptlint_cli.options import isolation_options, words_option

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit")


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True, readable=False))
@words_option("--select", "Rules to run: ids, prefixes such as KV1, names, or ALL.")
@words_option("--extend-select", "Rules to run in addition.")
@words_option("--ignore", "Rules not to run.")
@words_option("--exclude", "Patterns of files and folders not to lint, instead of the configured ones.")
@words_option("--extend-exclude", "Patterns of files and folders not to lint, in addition.")
@click.option("--force-exclude", is_flag=True, help="Apply excludes to files named on the command line too.")
@click.option("--respect-gitignore/--no-respect-gitignore", default=None, help="Leave out what git ignores.")
@click.option("--min-severity", type=click.Choice(["error", "warning", "info"]), help="Least severe to show.")
@click.option("--min-confidence", type=click.Choice(["proved", "named"]), help="Least sure to show.")
@click.option("--output-format", type=click.Choice(FORMATS), help="Format of the findings.")
@click.option("--output-file", "-o", type=click.Path(path_type=Path), help="Write the findings to this file.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule instead of showing them.")
@click.option("--fix", is_flag=True, help="Apply the safe fixes.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: unsafe fixes too.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--baseline", type=click.Path(), help="Do not show the findings of this file.")
@click.option("--write-baseline", type=click.Path(path_type=Path), help="Write all findings to this file as known.")
@click.option("--stdin-filename", type=click.Path(path_type=Path), help="Name of what `-` reads from standard input.")
@click.option("--watch", is_flag=True, help="Lint again whenever a file changes (extra `watch`).")
@click.option(
    "--traffic",
    type=click.Path(path_type=Path),
    help="Store of the proxy: tell what each finding cost in a week's traffic.",
)
@click.option("--week", default="last", show_default=True, help="Week of --traffic: 2026-W48, last, this, or a date.")
@click.option(
    "--prices",
    type=click.Path(path_type=Path),
    multiple=True,
    help="With --traffic: price file that goes ahead of the built-in prices, as for `promptlint report`.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 although there are findings.")
@click.option("--jobs", "-j", type=click.IntRange(0), help="Processes to use; 0: one per core.")
@click.option("--cache/--no-cache", default=None, help="Keep results by content.")
@isolation_options
def command(paths: tuple[Path, ...], **options: Any) -> int:
    """Find prompts that break the prefix cache, in the files below PATHS or, with `-`, in standard input."""
    from promptlint_cli.checking import Wishes, run_check, run_watch

    wishes = Wishes(
        paths=paths or (Path(),),
        isolated=options.pop("isolated"),
        config_file=options.pop("config_file"),
        force_exclude=options.pop("force_exclude"),
        output_file=options.pop("output_file"),
        statistics=options.pop("statistics"),
        fix=options.pop("fix"),
        unsafe_fixes=options.pop("unsafe_fixes"),
        diff=options.pop("diff"),
        write_baseline=options.pop("write_baseline"),
        stdin_filename=options.pop("stdin_filename"),
        exit_zero=options.pop("exit_zero"),
        traffic=options.pop("traffic"),
        traffic_week=options.pop("week"),
        prices=options.pop("prices"),
        watch=options.pop("watch"),
        settings=options,
    )
    return run_watch(wishes) if wishes.watch else run_check(wishes)
