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

DASH = "–"
MOST_GROUPS = 20
MOST_DIVERGENCES = 10


def render_overview(document: dict[str, Any]) -> Group:
    """The whole screen."""
    parts: list[Text | Table] = [_head(document["health"]), _groups(document["groups"])]
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
        padding=(0, 1),
        collapse_padding=True,
    )


def _groups(groups: list[dict[str, Any]]) -> Table:
    table = _table("prompt groups: hit rates predicted and reported, latencies as p50/p95/p99 in ms")
    table.add_column("group", no_wrap=True, min_width=8)
    table.add_column("model", overflow="ellipsis", no_wrap=True, min_width=8, max_width=20)
    for name in ("requests", "tokens", "pred.", "rep.", "TTFT", "ITL", "diverged"):
        table.add_column(name, justify="right", no_wrap=True)
    objectives = sorted({name for group in groups for name in group["objectives"]})
    for name in objectives:
        table.add_column(name, justify="right", no_wrap=True)
    for group in groups[:MOST_GROUPS]:
        table.add_row(
            group["group"][:8],
            group["model"] or DASH,
            str(group["requests"]),
            str(group["prompt_tokens"]),
            _percent(group["predicted_hit_rate"]),
            _percent(group["reported_hit_rate"]),
            _latencies(group["ttft_s"]),
            _latencies(group["itl_s"]),
            str(group["diverged"] or DASH),
            *(_percent(group["objectives"].get(name)) for name in objectives),
        )
    return table


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
    """Redraw until interrupted."""
    with Live(render_overview(fetch()), console=console, screen=True, auto_refresh=False) as live:
        while True:
            time.sleep(interval_s)
            live.update(render_overview(fetch()), refresh=True)
