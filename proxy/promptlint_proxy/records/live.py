"""The live store: one SQLite file in WAL mode per process, committed every 100 rows or every second."""

from __future__ import annotations

import os
import secrets
import sqlite3
import struct
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from promptlint_proxy.records.migrations import migrate
from promptlint_proxy.records.schema import TABLES, Column

LIVE_FOLDER = "live"
COMMIT_ROWS = 100
COMMIT_S = 1.0
RETRY_S = 2.0
"""After a write that failed: a full disk is not asked again for every row."""
MOST_WAITING_ROWS = 2000
MOST_WAITING_BYTES = 16 * 1024 * 1024
"""Kept in memory while the disk takes nothing; the oldest rows go first."""

Row = Mapping[str, object]

_ALL_BITS = 2**64 - 1


def new_sidecar_id() -> str:
    """Names one process: unique among all that share a folder, and sorts by start."""
    return f"{int(time.time()):x}-{os.getpid():x}-{secrets.token_hex(3)}"


def pack_integers(values: Sequence[int]) -> bytes:
    """A list of 64-bit integers as little-endian bytes; unsigned ones from 2**63 on come back negative.

    >>> unpack_integers(pack_integers([1, -2, 2**64 - 1]))
    [1, -2, -1]
    """
    return struct.pack(f"<{len(values)}Q", *(value & _ALL_BITS for value in values))


def unpack_integers(packed: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(packed) // 8}q", packed))


class LiveStore:
    """The rows of one process that are not sealed yet. Used by one thread; read by any number of processes.

    Every process that opens the same store folder writes a file of its own, so writers never wait for each other. Rows
    that the disk does not take wait in memory, up to a bound, for the next try.
    """

    def __init__(
        self, store: Path, sidecar: str, sequence: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        folder = store / LIVE_FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{sidecar}-{sequence:06d}.sqlite"
        self.rows = 0
        """Committed."""
        self.lost = 0
        """Rows given up because the disk took nothing for too long."""
        self.opened_at_s = clock()
        self._clock = clock
        self._waiting: deque[tuple[str, list[object], int]] = deque()
        """Table, values and about their bytes."""
        self._waiting_bytes = 0
        self._committed_at_s = self.opened_at_s
        self._not_before_s = self.opened_at_s
        self._database = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = WAL")
        # In WAL mode NORMAL never loses a committed row when the process is killed, only when the machine stops.
        self._database.execute("PRAGMA synchronous = NORMAL")
        self.path.chmod(0o600)
        migrate(self._database)
        self._inserts = {table: _insert(table) for table in TABLES}

    def add(self, table: str, row: Row) -> None:
        """Take one row; keys of the row that name no column are a mistake of the caller.

        Raises KeyError for an unknown column, and as `commit` does when a batch is full.
        """
        columns = TABLES[table]
        if unknown := row.keys() - {column.name for column in columns}:
            raise KeyError(f"{table} has no column {', '.join(sorted(unknown))}")
        values = [_to_sqlite(column, row.get(column.name)) for column in columns]
        size_bytes = sum(len(value) for value in values if isinstance(value, str | bytes))
        self._waiting.append((table, values, size_bytes))
        self._waiting_bytes += size_bytes
        while len(self._waiting) > MOST_WAITING_ROWS or (
            self._waiting_bytes > MOST_WAITING_BYTES and len(self._waiting) > 1
        ):
            self._waiting_bytes -= self._waiting.popleft()[2]
            self.lost += 1
        if len(self._waiting) >= COMMIT_ROWS and self._clock() >= self._not_before_s:
            self.commit()

    @property
    def waiting(self) -> int:
        """Rows that are not committed yet."""
        return len(self._waiting)

    def commit_if_due(self) -> None:
        """Commit when rows have waited for a second; called at least once a second. Raises as `commit` does."""
        now_s = self._clock()
        if self._waiting and now_s - self._committed_at_s >= COMMIT_S and now_s >= self._not_before_s:
            self.commit()

    def commit(self) -> None:
        """Write what waits. Raises sqlite3.Error when the disk does not take it; the rows then wait on."""
        if not self._waiting:
            self._committed_at_s = self._clock()
            return
        try:
            self._database.execute("BEGIN")
            written = sum(self._insert(table, values) for table, values, _ in self._waiting)
            self._database.execute("COMMIT")
        except sqlite3.Error:
            self._not_before_s = self._clock() + RETRY_S
            with suppress(sqlite3.Error):
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
            raise
        self.rows += written
        self.lost += len(self._waiting) - written
        self._waiting.clear()
        self._waiting_bytes = 0
        self._committed_at_s = self._clock()

    def _insert(self, table: str, values: list[object]) -> bool:
        """Insert a row; False for one that no database takes, which must not hold up the others for ever."""
        try:
            self._database.execute(self._inserts[table], values)
        except (sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.DataError, OverflowError, UnicodeError):
            return False
        return True

    def close(self) -> None:
        """Commit and fold the write-ahead log into the file. Raises sqlite3.Error when the disk takes nothing."""
        try:
            self.commit()
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self.lost += len(self._waiting)
            self._waiting.clear()
            self._database.close()


def _insert(table: str) -> str:
    names = ", ".join(column.name for column in TABLES[table])
    marks = ", ".join("?" * len(TABLES[table]))
    return f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 our own names


def _to_sqlite(column: Column, value: object) -> object:
    if value is None or column.type == "text":
        return value
    if column.type == "integers":
        return pack_integers(value)  # type: ignore[arg-type]
    if column.type == "real":
        return float(value)  # type: ignore[arg-type]
    return int(value)  # type: ignore[call-overload]
