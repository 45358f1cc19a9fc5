"""Puts finished exchanges into the order of their start, which is the order in which a cache saw them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

Item = TypeVar("Item")

MAX_WAIT_S = 5.0
MAX_HELD = 2000


class StartOrder(Generic[Item]):
    """Holds what finished before an earlier one, for a few seconds: a long stream must not hold up the rest."""

    def __init__(self, max_wait_s: float = MAX_WAIT_S, max_held: int = MAX_HELD) -> None:
        self._max_wait_s = max_wait_s
        self._max_held = max_held
        self._open: OrderedDict[str, tuple[float, Item] | None] = OrderedDict()
        self._held = 0

    def start(self, key: str) -> None:
        self._open[key] = None

    def forget(self, key: str) -> None:
        """It will never finish."""
        if self._open.pop(key, None) is not None:
            self._held -= 1

    def finish(self, key: str, item: Item, now_s: float) -> list[Item]:
        """What can go on now, in order of start."""
        if key not in self._open:
            return [item]  # overtaken before: it was waited for long enough
        self._open[key] = (now_s, item)
        self._held += 1
        return self.release(now_s)

    def release(self, now_s: float) -> list[Item]:
        """Everything at the head that is finished, and what has waited too long for an earlier one."""
        released: list[Item] = []
        while self._open:
            key, entry = next(iter(self._open.items()))
            if entry is None:
                if not self._must_overtake(now_s):
                    break
            else:
                released.append(entry[1])
                self._held -= 1
            del self._open[key]
        return released

    def drain(self) -> list[Item]:
        """All that is finished, at the end."""
        released = [entry[1] for entry in self._open.values() if entry is not None]
        self._open.clear()
        self._held = 0
        return released

    def _must_overtake(self, now_s: float) -> bool:
        if not self._held:
            return False
        if self._held > self._max_held:
            return True
        oldest_s = min(entry[0] for entry in self._open.values() if entry is not None)
        return now_s - oldest_s >= self._max_wait_s
