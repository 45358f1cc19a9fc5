"""Seals closed live stores into Parquet files under `date=…/hour=…/`, named once and never changed."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from promptlint_proxy.records.arrow import read_rows
from promptlint_proxy.records.live import LIVE_FOLDER
from promptlint_proxy.records.migrations import migrate
from promptlint_proxy.records.schema import TABLES

TIME_COLUMNS = {"exchanges": "started_at", "findings": "started_at", "groups": "updated_at"}
HOUR_US = 3_600_000_000


def seal(store: Path, live_path: Path) -> list[Path]:
    """Turn one closed live store into Parquet files and remove it; returns the files.

    Killed at any moment it can be run again: files are named after the live store, hold all of its rows of their hour,
    are written beside and renamed, and the live store goes last.
    """
    # mode=rw: plain opening would make an empty store where another process has sealed and removed this one.
    database = sqlite3.connect(f"{live_path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)
    try:
        migrate(database)
        sealed: list[Path] = []
        for table in TABLES:
            sealed += _seal_table(store, live_path.stem, table, read_rows(database, table))
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        database.close()
    remove_live(live_path)
    return sealed


def remove_live(live_path: Path) -> None:
    """Remove a live store with its write-ahead log; the database goes first, since without it no row is read."""
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            Path(f"{live_path}{suffix}").unlink()


def partition(store: Path, table: str, hour: int) -> Path:
    """The folder of an hour, counted in hours since 1970 UTC."""
    moment = datetime.fromtimestamp(hour * 3600, UTC)
    return store / table / f"date={moment:%Y-%m-%d}" / f"hour={moment:%H}"


def split_by_hour(table: str, rows: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each hour since 1970 UTC; rows without a time count as hour 0."""
    moments = rows[TIME_COLUMNS[table]].cast(pa.int64()).to_pylist()
    hours = [(moment or 0) // HOUR_US for moment in moments]
    for hour in sorted(set(hours)):
        yield hour, rows.filter(pa.array([other == hour for other in hours]))


def _seal_table(store: Path, stem: str, table: str, rows: pa.Table) -> Iterator[Path]:
    if not rows.num_rows:
        return
    for hour, of_hour in split_by_hour(table, rows):
        folder = partition(store, table, hour)
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{stem}.parquet"
        # Names that begin with a dot are left out by every reader of partitioned folders.
        beside = folder / f".{stem}.{os.getpid()}.tmp"
        try:
            pq.write_table(of_hour, beside, compression="zstd")
            beside.replace(target)
        except BaseException:
            # On a full disk half a file would take the place that the next try needs.
            beside.unlink(missing_ok=True)
            raise
        yield target


def abandoned(store: Path) -> Iterator[Path]:
    """Live stores whose process is gone: nobody holds them open for writing any more.

    A writer keeps a shared lock on its file from the first read on, so an exclusive one succeeds only without it.
    """
    for live_path in sorted((store / LIVE_FOLDER).glob("*.sqlite")):
        try:
            uri = f"{live_path.absolute().as_uri()}?mode=rw"
            database = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)
            try:
                database.execute("PRAGMA locking_mode = EXCLUSIVE")
                database.execute("BEGIN EXCLUSIVE")
                database.execute("COMMIT")
            finally:
                database.close()
        except sqlite3.OperationalError:
            continue
        yield live_path
