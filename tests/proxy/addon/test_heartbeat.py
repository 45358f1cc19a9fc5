"""The proxy notices without any traffic that its analysis is gone, and its own sentences stay free of mitmproxy's."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
from types import SimpleNamespace
from typing import Any

import proxy_harness  # noqa: F401 - loads mitmproxy with the warnings of its own libraries let through
import pytest

from promptlint_proxy.capture import Gone
from promptlint_proxy.heartbeat import beat
from promptlint_proxy.master import _reason, _WithoutQueries


async def pulses(analyst: Any, worker: Any) -> None:
    counters = SimpleNamespace(in_flight=0, errors={}, actions={})
    addon: Any = SimpleNamespace(counters=counters, draining=False)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(beat(addon, worker, analyst), 0.02)


@pytest.mark.parametrize(("is_alive", "woken"), [(True, []), (False, [Gone("")])])
def test_a_dead_analysis_is_started_again_without_traffic(is_alive: bool, woken: list[Gone]) -> None:
    offered: list[Gone] = []
    worker = SimpleNamespace(
        depth=0, queued_bytes=0, dropped=0, offer=lambda message, **_fields: offered.append(message)
    )
    analyst = SimpleNamespace(is_alive=is_alive, beat=lambda _pulse: None)
    asyncio.run(pulses(analyst, worker))

    assert offered == woken


def test_a_taken_port_is_told_in_one_sentence() -> None:
    taken = OSError(
        errno.EADDRINUSE, "reverse proxy failed to listen\nTry specifying a different port by using `--mode`"
    )

    assert "\n" not in _reason(taken)
    assert "--mode" not in _reason(taken)
    assert _reason(ValueError("first\nsecond")) == "first"


@pytest.mark.parametrize(("message", "told"), [("", False), ("x failed to listen on y", False), ("an error", True)])
def test_what_we_say_ourselves_is_not_said_twice(message: str, told: bool) -> None:
    record = logging.LogRecord("mitmproxy", logging.ERROR, "", 0, message, (), None)

    assert _WithoutQueries().filter(record) is told
