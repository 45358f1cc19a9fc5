"""Cache entries of a host that live for a time, bounded in number."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

MOST_ENTRIES = 200_000
BYTES_PER_ENTRY = 450
"""Of our own memory: key, times and place in the table."""


@dataclass(slots=True)
class Entry:
    available_from: float
    """Not readable before: the first answer has to begin."""
    expires_at: float
    life_s: float
    tokens: int = 0
    """Length of the prefix it stands for."""
    written_at: float = 0.0


class Entries:
    """Entries by key; the ones used longest ago go when there are too many."""

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self._most = most
        self._entries: OrderedDict[Hashable, Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def alive(self, key: Hashable, at: float) -> Entry | None:
        """The entry that can be read at a time."""
        entry = self._entries.get(key)
        return entry if entry and entry.available_from <= at < entry.expires_at else None

    def peek(self, key: Hashable) -> Entry | None:
        """The entry whether it can be read or not: tells why a look-up failed."""
        return self._entries.get(key)

    def refresh(self, key: Hashable, at: float, longest_s: float | None = None) -> None:
        """A hit starts the entry's life again, up to `longest_s` after it was written."""
        entry = self._entries.get(key)
        if entry is None:
            return
        expires_at = at + entry.life_s
        if longest_s is not None:
            expires_at = min(expires_at, entry.written_at + longest_s)
        entry.expires_at = max(entry.expires_at, expires_at)
        self._entries.move_to_end(key)

    def write(self, key: Hashable, at: float, life_s: float, *, available_from: float, tokens: int = 0) -> None:
        """Enter or renew; an entry that is readable already stays so. Life counts from `at`, the request's start."""
        old = self._entries.get(key)
        if old is not None and old.expires_at > at:
            old.available_from = min(old.available_from, available_from)
            old.expires_at = max(old.expires_at, at + life_s)
            old.life_s = max(old.life_s, life_s)
        else:
            self._entries[key] = Entry(available_from, at + life_s, life_s, tokens, at)
        self._entries.move_to_end(key)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)
