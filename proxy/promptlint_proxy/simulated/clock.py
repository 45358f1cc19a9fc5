"""The time of the simulated upstream: the machine's, or one that a test moves."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from typing import Protocol


class Clock(Protocol):
    def now_s(self) -> float: ...

    async def sleep_until(self, at_s: float) -> None: ...


class RealClock:
    def now_s(self) -> float:
        return time.monotonic()

    async def sleep_until(self, at_s: float) -> None:
        if (wait_s := at_s - time.monotonic()) > 0:
            await asyncio.sleep(wait_s)


class VirtualClock:
    """Jumps to the next moment that somebody waits for as soon as nothing else is ready to run."""

    def __init__(self, start_s: float = 0.0) -> None:
        self._now_s = start_s
        self._order = itertools.count()
        self._jumping = False
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []

    def now_s(self) -> float:
        return self._now_s

    def advance(self, seconds: float) -> None:
        self._now_s += seconds

    async def sleep_until(self, at_s: float) -> None:
        if at_s <= self._now_s:
            return
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()
        heapq.heappush(self._waiting, (at_s, next(self._order), woken))
        self._jump_soon(loop)
        await woken

    def _jump_soon(self, loop: asyncio.AbstractEventLoop) -> None:
        """Behind everything that is ready now, and what that makes ready."""
        if self._waiting and not self._jumping:
            self._jumping = True
            loop.call_soon(loop.call_soon, self._jump, loop)

    def _jump(self, loop: asyncio.AbstractEventLoop) -> None:
        self._jumping = False
        while self._waiting:
            at_s, _, woken = heapq.heappop(self._waiting)
            if not woken.cancelled():
                self._now_s = max(self._now_s, at_s)
                woken.set_result(None)
                break
        self._jump_soon(loop)
