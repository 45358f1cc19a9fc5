"""`promptlint report`: what a week cost, what was missed, which line to change."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from promptlint_cli.options import Number
from promptlint_core import exit_status
from promptlint_core.errors import PromptlintError

FORMAT_NAMES = ("terminal", "markdown", "json", "csv", "focus", "html", "slack", "teams", "email")
SUFFIXES = {".md": "markdown", ".json": "json", ".csv": "csv", ".html": "html", ".htm": "html"}


@click.command()
@click.option(
    "--store", type=click.Path(path_type=Path), required=True, help="Folder that the proxy writes its records to."
)
@click.option("--week", default="last", show_default=True, help="2026-W48, last, this, or a date of the week.")
@click.option("--timezone", default="UTC", show_default=True, help="IANA name of the zone that weeks and days are of.")
@click.option(
    "--source",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    help="Source to lint: missed savings then name file, line and change. May be given several times.",
)
@click.option("--budget", type=Number(min=0), help="What a week may cost, in USD.")
@click.option(
    "--prices",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Price file (TOML or JSON of ours, or a LiteLLM price map) that goes ahead of the built-in prices.",
)
@click.option("--format", "format_name", type=click.Choice(FORMAT_NAMES), help="Format; by default that of --output.")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="File to write instead of standard output.")
@click.option("--engine", type=click.Choice(["duckdb", "spark"]), default="duckdb", show_default=True)
@click.option("--spark-master", default="local[*]", show_default=True, help="Address of the Spark master.")
@click.option("--ttft-objective", type=Number(min=0), default=2.0, show_default=True, help="Seconds.")
@click.option("--itl-objective", type=Number(min=0), default=0.1, show_default=True, help="Seconds.")
@click.option(
    "--min-requests",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Requests of a group on a day below which nothing is called a trend, a change or an anomaly.",
)
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, help="Rows of a table.")
def command(
    *,
    store: Path,
    week: str,
    timezone: str,
    source: tuple[Path, ...],
    budget: float | None,
    prices: tuple[Path, ...],
    format_name: str | None,
    output: Path | None,
    engine: str,
    spark_master: str,
    ttft_objective: float,
    itl_objective: float,
    min_requests: int,
    top: int,
) -> int:
    """What a week of recorded traffic cost, what the cache missed, and which line to change."""
    try:
        from promptlint_report.make import Asked, make_report
        from promptlint_report.material import Options
        from promptlint_report.period import find_period, zone
        from promptlint_report.render import render
    except ImportError as error:
        raise PromptlintError(f"the report needs {error.name}: install promptlint-prefix[report]") from error
    now = datetime.now(UTC)
    options = Options(
        now=now,
        budget_usd=budget,
        ttft_objective_s=ttft_objective,
        itl_objective_s=itl_objective,
        min_requests=min_requests,
        top=top,
    )
    period = find_period(week, zone(timezone), now)
    wanted = format_name or (SUFFIXES.get(output.suffix.lower(), "terminal") if output else "terminal")
    asked = Asked(store, period, options, prices, engine, spark_master, source, charges=wanted == "focus")
    report = make_report(asked)
    if output is None and wanted == "terminal":
        from promptlint_report.render import terminal

        click.echo(terminal.render(report, color=sys.stdout.isatty()), nl=False)
    elif output is None:
        click.echo(render(report, wanted), nl=False)
    else:
        try:
            output.write_text(render(report, wanted), encoding="utf-8")
        except OSError as error:
            raise PromptlintError(f"--output {output} cannot be written: {error.strerror}") from error
    return exit_status.CLEAN
