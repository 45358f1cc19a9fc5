"""The demonstration, step by step: the application with its faults, then the same one without them."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from promptlint_cli.demo import processes
from promptlint_core.errors import PromptlintError
from promptlint_proxy.top.fetch import fetch_overview
from promptlint_proxy.top.view import render_overview

if TYPE_CHECKING:
    from rich.console import Console

FAULTY, FIXED = "support_desk", "support_desk_fixed"
PRICES = "prices.toml"
SHOWN = ("conversation.py:Conversation.ask", "agent.py")


def run(console: Console, *, keep: Path | None = None) -> None:
    """Everything, in order. Raises PromptlintError when a part is missing."""
    faulty, fixed = _examples()
    _require_clients()
    console.rule("[bold]1 · the linter reads the application[/]")
    _lint(faulty)
    with _store(keep) as store:
        console.rule("[bold]2 · the proxy watches it at work[/]")
        console.print(
            "a simulated inference server, the proxy, and the application with the real OpenAI and Anthropic clients\n"
        )
        before, after = _watch(console, store, faulty, fixed)
        console.rule("[bold]3 · the same work without the faults[/]")
        console.print(_comparison(before, after))
        console.rule("[bold]4 · the report[/]")
        _report(console, store, faulty)
        if keep is not None:
            console.print(f"the records are in {store}")


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
    own = [sys.executable, "-m", "promptlint_cli"]
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [*own, "check", str(folder), "--isolated", "--output-format", "concise"], timeout=60, check=False
        )
        for shown in SHOWN:
            subprocess.run([*own, "show", f"{folder / FAULTY}/{shown}"], timeout=60, check=False)


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


def _watch(console: Console, store: Path, faulty: Path, fixed: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    with processes.simulated_upstream() as upstream:
        routes = [f"/{FAULTY}={upstream}", f"/{FIXED}={upstream}"]
        with processes.proxy(routes, store) as (url, metrics):
            with console.status("the application works …"):
                processes.run_application(faulty, f"{url}/{FAULTY}")
            before = fetch_overview(metrics)
            console.print(render_overview(before))
            with console.status("the application without its faults works …"):
                processes.run_application(fixed, f"{url}/{FIXED}")
            return before, fetch_overview(metrics)


def _comparison(before: dict[str, Any], after: dict[str, Any]) -> Table:
    table = Table(title_justify="left")
    for name in ("", "requests", "prompt tokens", "read from the cache", "predicted", "TTFT p50"):
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

    timed = [route for route in routes if route["ttft_s"]]
    middle = sorted(route["ttft_s"]["p50"] for route in timed)[len(timed) // 2] if timed else None
    return (
        str(sum(route["requests"] for route in routes)),
        str(tokens),
        rate("reported_hit_rate"),
        rate("predicted_hit_rate"),
        f"{middle * 1000:.0f} ms" if middle is not None else "–",
    )


def _report(console: Console, store: Path, faulty: Path) -> None:
    week = f"{datetime.now(UTC):%G-W%V}"
    command = [sys.executable, "-m", "promptlint_cli", "report", "--store", str(store), "--week", week]
    done = subprocess.run(
        [*command, "--source", str(faulty), "--prices", str(faulty / PRICES), "--min-requests", "5", "--top", "5"],
        timeout=120,
        check=False,
    )
    if done.returncode not in (0, 1):
        console.print("the report could not be made; see the sentence above")
