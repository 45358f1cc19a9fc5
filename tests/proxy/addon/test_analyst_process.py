"""A dead analysis is back at once; one that dies again and again is tried less and less often."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import threading
import urllib.error
import urllib.request

import pytest

from promptlint_core.errors import PromptlintError
from promptlint_proxy import analyst_process
from promptlint_proxy.analyst_process import AnalystProcess, SeldomExportErrors, restart_wait_s
from promptlint_proxy.capture import Pulse
from promptlint_proxy.settings import ProxySettings


def told_ok(process: AnalystProcess) -> dict[str, object]:
    """What the process says once it has heard of the proxy, within a few looks."""
    for _ in range(100):
        with contextlib.suppress(urllib.error.HTTPError):
            with urllib.request.urlopen(f"http://{process.metrics_address}/healthz", timeout=10) as answer:
                document: dict[str, object] = json.load(answer)
            return document
    raise AssertionError("it never said that all is well")


def test_a_killed_analysis_is_noticed_at_once_and_keeps_its_port() -> None:
    ended = threading.Event()
    process = AnalystProcess(ProxySettings(metrics_listen="127.0.0.1:0", upstream=("http://a",)))
    process.on_end = ended.set
    process.start()
    process.beat(Pulse(in_flight=3))
    try:
        address = process.metrics_address
        assert process._process is not None
        os.kill(process._process.pid, signal.SIGKILL)
        assert ended.wait(10)
        process.send([])

        assert process.restarts == 1
        assert process.metrics_address == address
        assert told_ok(process)["in_flight"] == 3
    finally:
        process.close()


@pytest.mark.parametrize(
    ("ran_s", "waits_s"), [(100.0, [1.0, 1.0, 1.0, 1.0]), (0.5, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0])]
)
def test_the_wait_grows_only_while_it_dies_soon(
    ran_s: float, waits_s: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(analyst_process.time, "monotonic", lambda: now[0])
    process = AnalystProcess(ProxySettings(upstream=("http://a",)))
    process.start = lambda: setattr(process, "_started_at_s", now[0])  # type: ignore[method-assign]
    process.start()
    for wait_s in waits_s:
        now[0] = max(now[0] + ran_s, process._not_before_s)
        process._started_at_s = now[0] - ran_s
        process._restart()
        assert process._not_before_s - now[0] == wait_s
        now[0] += wait_s - 0.01
        with pytest.raises(BrokenPipeError):
            process._restart()
        now[0] += 0.01


def test_a_restart_that_fails_says_why(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def refuse() -> None:
        raise PromptlintError("the store /full cannot be written: disk full")

    process = AnalystProcess(ProxySettings(upstream=("http://a",)))
    monkeypatch.setattr(process, "start", refuse)
    with pytest.raises(PromptlintError):
        process._restart()

    assert "cannot start: the store /full cannot be written" in caplog.text


def test_the_longest_wait_is_a_minute() -> None:
    assert restart_wait_s(10_000) == 60.0


def test_a_collector_that_is_not_there_is_said_once_a_minute_and_without_its_address() -> None:
    now = [100.0]
    seldom = SeldomExportErrors(lambda: now[0])

    def told(name: str, message: str) -> str | None:
        record = logging.LogRecord(name, logging.WARNING, "", 0, message, (), None)
        return record.getMessage() if seldom.filter(record) else None

    said = [told("opentelemetry.sdk.trace", "Transient error http://user:key@collector:4318") for _ in range(3)]
    assert said[0] is not None
    assert "user:key" not in said[0]
    assert said[1:] == [None, None]
    assert told("promptlint_proxy.recorder", "records cannot be written") == "records cannot be written"
    now[0] += analyst_process.EXPORT_ERRORS_S
    assert told("opentelemetry.sdk.metrics", "Failed to export") == said[0]
