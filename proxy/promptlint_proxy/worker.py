"""The bounded queue between the hot path and the analysis, emptied by a thread of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from promptlint_proxy.capture import Message

logger = logging.getLogger(__name__)

MAX_MESSAGES = 20_000
MAX_BYTES = 256 * 1024 * 1024
BATCH_MESSAGES = 256
COLLECT_S = 0.02
"""While there is traffic the thread looks this often instead of being woken for every message: waking it just when a
request is to be sent on would cost that request a turn of the interpreter's lock."""
QUIET_S = 2.0
"""Without traffic for this long it sleeps until it is woken."""


class Worker:
    """Never makes the hot path wait: what does not fit is dropped and counted."""

    def __init__(
        self,
        sink: Callable[[Sequence[Message]], None],
        max_messages: int = MAX_MESSAGES,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.dropped = 0
        self.failed = 0
        """Batches that the sink refused with an exception."""
        self._sink = sink
        self._max_messages = max_messages
        self._max_bytes = max_bytes
        self._messages = 0
        self._bytes = 0
        """Queued and in the hands of the sink."""
        self._queue: deque[tuple[Message, int]] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._asleep = False
        self._thread = threading.Thread(target=self._run, name="promptlint-worker", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def depth(self) -> int:
        return self._messages

    @property
    def queued_bytes(self) -> int:
        return self._bytes

    def offer(self, message: Message, size_bytes: int = 0, *, always: bool = False) -> bool:
        """Queue a message; False when it was dropped. `always` is for small messages that bound themselves."""
        with self._changed:
            full = self._messages >= self._max_messages or self._bytes + size_bytes > self._max_bytes
            if self._closing or (full and not always):
                self.dropped += 1
                return False
            self._queue.append((message, size_bytes))
            self._messages += 1
            self._bytes += size_bytes
            if self._asleep:
                self._changed.notify()
        return True

    def close(self, timeout_s: float = 10.0) -> None:
        """Hand over what is queued, then end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def _run(self) -> None:
        while batch := self._take():
            try:
                self._sink([message for message, _ in batch])
            except Exception:
                # One line a kind is written by the sink's owner; here nothing may end the thread.
                self.failed += 1
                self.dropped += sum(1 for _, size_bytes in batch if size_bytes)
                logger.debug("the analysis refused a batch", exc_info=True)
            with self._changed:
                self._messages -= len(batch)
                self._bytes -= sum(size_bytes for _, size_bytes in batch)

    def _take(self) -> list[tuple[Message, int]]:
        """The next messages; empty when the worker is closed and everything was handed over."""
        quiet_s = 0.0
        while True:
            with self._changed:
                if self._queue:
                    return [self._queue.popleft() for _ in range(min(BATCH_MESSAGES, len(self._queue)))]
                if self._closing:
                    return []
                if quiet_s >= QUIET_S:
                    self._asleep = True
                    self._changed.wait()
                    self._asleep = False
                    quiet_s = 0.0
                    continue
            time.sleep(COLLECT_S)
            quiet_s += COLLECT_S
