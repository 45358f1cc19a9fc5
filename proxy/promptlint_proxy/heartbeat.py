"""Tells the metrics port once a second, from the event loop itself, that the proxy is alive, and what it counted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from promptlint_proxy.capture import Gone, Pulse

if TYPE_CHECKING:
    from promptlint_proxy.addon import PromptlintAddon
    from promptlint_proxy.analyst_process import AnalystProcess
    from promptlint_proxy.worker import Worker

PULSE_S = 1.0


def pulse_of(addon: PromptlintAddon, worker: Worker) -> Pulse:
    counters = addon.counters
    return Pulse(
        in_flight=counters.in_flight,
        queue_depth=worker.depth,
        queue_bytes=worker.queued_bytes,
        dropped=worker.dropped,
        draining=addon.draining,
        errors=dict(counters.errors),
        actions=dict(counters.actions),
    )


def wake(worker: Worker) -> None:
    """Have a dead analysis started again without traffic: the worker's thread does it with the next message."""
    worker.offer(Gone(""), always=True)


async def beat(addon: PromptlintAddon, worker: Worker, analyst: AnalystProcess) -> None:
    """Runs until it is cancelled."""
    while True:
        analyst.beat(pulse_of(addon, worker))
        if not analyst.is_alive:
            wake(worker)
        await asyncio.sleep(PULSE_S)
