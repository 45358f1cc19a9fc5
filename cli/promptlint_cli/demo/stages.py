"""The demonstration, step by step: the application with its faults, then the same one without them."""

from __future__ import annotations

import contextlib
import importlib
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from promptlint_cli.demo import processes
from promptlint_cli.main import main
from promptlint_core import exit_status
from promptlint_core.errors import PromptlintError
from promptlint_proxy.top.fetch import fetch_overview
from promptlint_proxy.top.view import render_overview

if TYPE_CHECKING:
    from rich.console import Console

FAULTY, FIXED = "support_desk", "support_desk_fixed"
PRICES = "prices.toml"
ENDED_BY_SIGNAL = 128
LOOK_S, MOST_LOOKS = 0.4, 10
SHOWN = ("conversation.py:Conversation.ask", "agent.py")


def run(console: Console, *, keep: Path | None = None) -> None:
    """Everything, in order. Raises PromptlintError when a part is missing."""
    faulty, fixed = _examples()
    _require_clients()
    with _store(keep) as store:
        with processes.Workers() as workers, processes.watched_server([FAULTY, FIXED], store) as addresses:
            console.rule("[bold]1 · the linter reads the application[/]")
            _lint(faulty)
            console.rule("[bold]2 · the proxy watches it at work[/]")
            console.print(
                "a simulated inference server, the proxy, and the application with the real OpenAI and Anthropic "
                "clients\n"
            )
            threading.Thread(target=_import_report, daemon=True).start()
            before, after = _watch(console, workers, addresses(), faulty, fixed)
        console.rule("[bold]3 · the same work without the faults[/]")
        console.print(_comparison(before, after))
        console.rule("[bold]4 · the report[/]")
        _report(console, store, faulty)
        if keep is not None:
            console.print(f"the records are in {store}")


def _import_report() -> None:
    """While the application waits for its answers there is time to read the libraries of the report."""
    with contextlib.suppress(ImportError):
        importlib.import_module("promptlint_report.make")
        importlib.import_module("promptlint_report.render.terminal")


def _examples() -> tuple[Path, Path]:
    for root in (Path(__file__).parent.parent / "examples", Path(__file__).parents[3] / "examples"):
        if (root / FAULTY).is_dir():
            return root / FAULTY, root / FIXED
    raise PromptlintError("the example application is not installed: run the demonstration in a checkout (make demo)")


def _require_clients() -> None:
    missing = [name for name in ("openai", "anthropic", "yaml", "jinja2") if find_spec(name) is None]
    if missing:
        names = " ".join({"yaml": "pyyaml"}.get(name, name) for name in missing)
        raise PromptlintError(f"the demonstration uses the real clients: pip install {names}")


def _lint(folder: Path) -> None:
    _promptlint("check", str(folder), "--isolated", "--output-format", "concise")
    for shown in SHOWN:
        _promptlint("show", f"{folder / FAULTY}/{shown}")


def _promptlint(*arguments: str) -> int:
    """Run a command of promptlint as the user would, in this process, which has read its modules already."""
    sys.stdout.flush()
    try:
        main(arguments)
    except SystemExit as end:
        if isinstance(end.code, int) and end.code >= ENDED_BY_SIGNAL:
            raise
        return end.code if isinstance(end.code, int) else exit_status.INTERNAL_ERROR
    return exit_status.CLEAN


@contextlib.contextmanager
def _store(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    folder = Path(tempfile.mkdtemp(prefix="promptlint-demo-store-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _watch(
    console: Console, workers: processes.Workers, addresses: tuple[str, str], faulty: Path, fixed: Path
) -> tuple[dict[str, Any], dict[str, Any]]:
    url, metrics = addresses
    with console.status("the application works …"):
        workers.run(faulty, f"{url}/{FAULTY}")
    before = _settled(metrics)
    console.print(render_overview(before))
    with console.status("the application without its faults works …"):
        workers.run(fixed, f"{url}/{FIXED}")
    return before, _settled(metrics)


def _settled(metrics: str) -> dict[str, Any]:
    """The figures once the last answers are in them."""
    overview = fetch_overview(metrics)
    for _ in range(MOST_LOOKS):
        time.sleep(LOOK_S)
        earlier, overview = overview, fetch_overview(metrics)
        counts = [sum(route["requests"] for route in told["routes"]) for told in (earlier, overview)]
        if counts[0] == counts[1] and not overview["health"]["in_flight"]:
            break
    return overview


def _comparison(before: dict[str, Any], after: dict[str, Any]) -> Table:
    table = Table(title_justify="left")
    for name in ("", "requests", "prompt tokens", "read from the cache", "predicted", "TTFT p50", "TTFT p95"):
        table.add_column(name, justify="left" if not name else "right")
    for name, overview, upstream in (("with its faults", before, FAULTY), ("without them", after, FIXED)):
        table.add_row(name, *_figures([row for row in overview["routes"] if row["route"].startswith(f"{upstream}/")]))
    return table


def _figures(routes: list[dict[str, Any]]) -> tuple[str, ...]:
    tokens = sum(route["prompt_tokens"] for route in routes)

    def rate(name: str) -> str:
        known = [route for route in routes if route[name] is not None]
        of_tokens = sum(route["prompt_tokens"] for route in known)
        return (
            f"{sum(route[name] * route['prompt_tokens'] for route in known) / of_tokens:.0%}"
            if of_tokens
            else "unknown"
        )

    timed = [route["ttft_s"] for route in routes if route["ttft_s"]]

    def middle(quantile: str) -> str:
        return f"{sorted(ttft_s[quantile] for ttft_s in timed)[len(timed) // 2] * 1000:.0f} ms" if timed else "–"

    return (
        str(sum(route["requests"] for route in routes)),
        str(tokens),
        rate("reported_hit_rate"),
        rate("predicted_hit_rate"),
        middle("p50"),
        middle("p95"),
    )


def _report(console: Console, store: Path, faulty: Path) -> None:
    week = f"{datetime.now(UTC):%G-W%V}"
    asked = ("--store", str(store), "--week", week, "--source", str(faulty), "--prices", str(faulty / PRICES))
    status = _promptlint("report", *asked, "--min-requests", "5", "--top", "5")
    if status not in (exit_status.CLEAN, exit_status.FINDINGS):
        console.print("the report could not be made; see the sentence above")
