"""`promptlint top`: a live view of a running proxy."""

from __future__ import annotations

import contextlib
import json

import click

from promptlint_cli.options import Number
from promptlint_core.errors import PromptlintError


@click.command("top")
@click.option(
    "--metrics", default="127.0.0.1:9464", show_default=True, metavar="HOST:PORT", help="The proxy's metrics port."
)
@click.option("--interval", type=Number(0.2), default=1.0, show_default=True, help="Seconds between two looks.")
@click.option("--once", is_flag=True, help="Print one look and end.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON and end.")
def command(metrics: str, interval: float, *, once: bool, as_json: bool) -> None:
    """Watch a running proxy: prompt groups with their hit rates, TTFT and ITL, and the worst divergences."""
    try:
        from rich.console import Console

        from promptlint_proxy.top.fetch import fetch_overview
        from promptlint_proxy.top.view import render_overview, watch
    except ImportError as error:
        raise PromptlintError(
            f"top needs the extra proxy: pip install 'promptlint-prefix[proxy]' ({error.name})"
        ) from None
    console = Console()
    if as_json:
        click.echo(json.dumps(fetch_overview(metrics), indent=2))
    elif once or not console.is_terminal:
        console.print(render_overview(fetch_overview(metrics)))
    else:
        with contextlib.suppress(KeyboardInterrupt):
            watch(lambda: fetch_overview(metrics), interval, console)
