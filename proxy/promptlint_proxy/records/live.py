"""The live store: one SQLite file in WAL mode per process, committed every 100 rows or every second."""

from __future__ import annotations

import os
import secrets
import sqlite3
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from promptlint_proxy.records.migrations import migrate
from promptlint_proxy.records.schema import TABLES, Column

LIVE_FOLDER = "live"
COMMIT_ROWS = 100
COMMIT_S = 1.0

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

    Every process that opens the same store folder writes a file of its own, so writers never wait for each other.
    """

    def __init__(
        self, store: Path, sidecar: str, sequence: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        folder = store / LIVE_FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{sidecar}-{sequence:06d}.sqlite"
        self.rows = 0
        self.opened_at_s = clock()
        self._clock = clock
        self._pending = 0
        self._committed_at_s = self.opened_at_s
        self._database = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = WAL")
        # In WAL mode NORMAL never loses a committed row when the process is killed, only when the machine stops.
        self._database.execute("PRAGMA synchronous = NORMAL")
        self.path.chmod(0o600)
        migrate(self._database)
        self._inserts = {table: _insert(table) for table in TABLES}

    def add(self, table: str, row: Row) -> None:
        """Insert one row; keys of the row that name no column are a mistake of the caller.

        Raises KeyError for an unknown column.
        """
        columns = TABLES[table]
        if unknown := row.keys() - {column.name for column in columns}:
            raise KeyError(f"{table} has no column {', '.join(sorted(unknown))}")
        if not self._pending:
            self._database.execute("BEGIN")
        self._database.execute(self._inserts[table], [_to_sqlite(column, row.get(column.name)) for column in columns])
        self._pending += 1
        self.rows += 1
        if self._pending >= COMMIT_ROWS:
            self.commit()

    def commit_if_due(self) -> None:
        """Commit when rows have waited for a second; called at least once a second."""
        if self._pending and self._clock() - self._committed_at_s >= COMMIT_S:
            self.commit()

    def commit(self) -> None:
        if self._pending:
            self._database.execute("COMMIT")
            self._pending = 0
        self._committed_at_s = self._clock()

    def close(self) -> None:
        """Commit and fold the write-ahead log into the file."""
        self.commit()
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
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
