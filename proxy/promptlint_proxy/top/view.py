"""Draws the overview as tables. Predicted and reported hits, prefill and decode stand in columns of their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from promptlint_core.errors import PromptlintError

DASH = "–"
MOST_GROUPS = 20
MOST_DIVERGENCES = 10


def render_overview(document: dict[str, Any]) -> Group:
    """The whole screen."""
    groups = document["groups"][:MOST_GROUPS]
    parts: list[Text | Table] = [_head(document["health"]), _groups(groups)]
    if any(group["objectives"] for group in groups):
        parts.append(_objectives(groups))
    if document["divergences"]:
        parts.append(_divergences(document["divergences"]))
    return Group(*parts)


def _head(health: dict[str, Any]) -> Text:
    style = "bold green" if health["status"] == "ok" else "bold red"
    line = Text(str(health["status"]), style=style)
    line.append(f" · up {health['uptime_s']:.0f} s · {health['in_flight']} in flight · queue {health['queue_depth']}")
    if health["dropped"]:
        line.append(f" · {health['dropped']} analyses dropped", style="yellow")
    return line


def _table(title: str) -> Table:
    """A table that is narrow enough for a terminal of 80 columns."""
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=0,
        min_width=len(title),
    )


def _groups(groups: list[dict[str, Any]]) -> Table:
    table = _table("prompt groups: hit rates predicted and reported, latencies as p50/p95/p99 in ms")
    table.add_column("group", no_wrap=True, min_width=8)
    table.add_column("model", overflow="fold", min_width=8, max_width=24)
    widths = {"asked": 6, "tokens": 6, "pred.": 5, "rep.": 4, "TTFT": 13, "ITL": 9, "div.": 5}
    for name, width in widths.items():
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    for group in groups:
        table.add_row(
            group["group"][:8],
            group["model"] or DASH,
            _short(group["requests"]),
            _short(group["prompt_tokens"]),
            _percent(group["predicted_hit_rate"]),
            _percent(group["reported_hit_rate"]),
            _latencies(group["ttft_s"]),
            _latencies(group["itl_s"]),
            _short(group["diverged"]) if group["diverged"] else DASH,
        )
    return table


def _objectives(groups: list[dict[str, Any]]) -> Table:
    """In a table of its own: beside the latencies they do not fit into 80 columns."""
    names = sorted({name for group in groups for name in group["objectives"]})
    table = _table("objectives: share of requests inside")
    for name in ("group", *names):
        table.add_column(name, justify="left" if name == "group" else "right", no_wrap=True)
    for group in groups:
        if group["objectives"]:
            table.add_row(group["group"][:8], *(_percent(group["objectives"].get(name)) for name in names))
    return table


def _short(number: int) -> str:
    """At most six characters.

    >>> _short(46582), _short(1_284_000), _short(98_765_432_100)
    ('46582', '1.28M', '98.8G')
    """
    for limit, unit in ((1_000_000_000, "G"), (1_000_000, "M")):
        if number >= limit:
            return f"{number / limit:.3g}{unit}"
    return str(number)


def _divergences(divergences: list[dict[str, Any]]) -> Table:
    table = _table("worst divergences")
    table.add_column("rule", no_wrap=True)
    table.add_column("group", no_wrap=True)
    table.add_column("where", overflow="fold")
    table.add_column("times", justify="right")
    table.add_column("tokens read again", justify="right")
    for divergence in divergences[:MOST_DIVERGENCES]:
        table.add_row(
            divergence["rule"] or DASH,
            divergence["group"][:8],
            divergence["path"] or DASH,
            str(divergence["count"]),
            str(divergence["tokens_behind"]),
        )
    return table


def _percent(share: float | None) -> Text:
    if share is None:
        return Text(DASH)
    style = "green" if share >= 0.7 else "yellow" if share >= 0.3 else "red"
    return Text(f"{share:.0%}", style=style)


def _latencies(quantiles: dict[str, float] | None) -> str:
    if not quantiles:
        return DASH
    values = [quantiles[name] * 1000 for name in ("p50", "p95", "p99")]
    return "/".join(f"{value:.0f}" if value >= 10 else f"{value:.1f}" for value in values)


def watch(fetch: Callable[[], dict[str, Any]], interval_s: float, console: Console) -> None:
    """Redraw until interrupted; a proxy that is away for a while is said above what was last known."""
    last = fetch()
    with Live(render_overview(last), console=console, screen=True, auto_refresh=False) as live:
        while True:
            time.sleep(interval_s)
            try:
                last = fetch()
            except PromptlintError as error:
                live.update(Group(Text(str(error), style="bold red"), render_overview(last)), refresh=True)
            else:
                live.update(render_overview(last), refresh=True)
