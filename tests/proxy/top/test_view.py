"""The live view fits a terminal of 80 columns and outlives a proxy that is away for a moment."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest
from rich.console import Console

from promptlint_core.errors import PromptlintError
from promptlint_proxy.top import view
from promptlint_proxy.top.view import render_overview, watch

HEALTH = {"status": "ok", "uptime_s": 3661.0, "in_flight": 12, "queue_depth": 3, "dropped": 0}


def group(name: str, **fields: Any) -> dict[str, Any]:
    latency = {"p50": 0.2312, "p95": 1.0412, "p99": 1.2412}
    known: dict[str, Any] = {
        "group": name * 16,
        "model": "claude-sonnet-4-5-20260929",
        "requests": 123_456,
        "prompt_tokens": 987_654_321,
        "predicted_hit_rate": 0.914,
        "reported_hit_rate": None,
        "ttft_s": latency,
        "itl_s": {"p50": 0.0123, "p95": 0.0456, "p99": 0.0789},
        "diverged": 13_579,
        "objectives": {"ttft=200ms": 0.951, "itl=50ms": 1.0},
    }
    return known | fields


def overview(*groups: dict[str, Any]) -> dict[str, Any]:
    divergence = {"rule": "KV101", "group": "a" * 16, "path": "messages[0].content", "count": 7, "tokens_behind": 3892}
    return {"health": HEALTH, "groups": list(groups), "divergences": [divergence]}


def shown(document: dict[str, Any], width: int) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(render_overview(document))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 100, 160])
def test_no_figure_is_cut(width: int) -> None:
    text = shown(overview(group("a"), group("b", objectives={}, ttft_s=None, model=None)), width)

    for figure in ("aaaaaaaa", "123456", "988M", "91%", "231/1041/1241", "12/46/79", "13579", "95%", "100%", "3892"):
        assert figure in text
    assert max(map(len, text.splitlines())) <= width


def test_without_objectives_there_is_no_table_of_them() -> None:
    assert "objectives" not in shown(overview(group("a", objectives={})), 80)


def test_a_proxy_that_is_away_is_said_above_what_was_last_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def looks() -> Iterator[dict[str, Any]]:
        yield overview(group("a"))
        raise PromptlintError("no proxy answers on 127.0.0.1:9464")

    answers = looks()
    rounds = iter(range(2))

    def sleep(_seconds: float) -> None:
        if next(rounds, None) is None:
            raise KeyboardInterrupt

    monkeypatch.setattr(view.time, "sleep", sleep)
    console = Console(width=80, height=40, file=io.StringIO(), force_terminal=True, color_system=None)

    def fetch() -> dict[str, Any]:
        found = next(answers, None)
        if found is None:
            raise PromptlintError("no proxy answers on 127.0.0.1:9464")
        return found

    with pytest.raises(KeyboardInterrupt):
        watch(fetch, 1.0, console)

    assert isinstance(console.file, io.StringIO)
    last = console.file.getvalue().rpartition("no proxy answers on 127.0.0.1:9464")[2]
    assert "aaaaaaaa" in last


def test_a_proxy_that_is_not_there_at_first_is_an_error() -> None:
    def fetch() -> dict[str, Any]:
        raise PromptlintError("no proxy answers on 127.0.0.1:9464")

    with pytest.raises(PromptlintError):
        watch(fetch, 1.0, Console(file=io.StringIO()))
