"""Reads sealed files and live stores together, so that nothing waits for a rotation and nothing counts twice."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from promptlint_core.errors import PromptlintError
from promptlint_proxy.records.arrow import arrow_schema, read_rows
from promptlint_proxy.records.live import LIVE_FOLDER
from promptlint_proxy.records.migrations import schema_version
from promptlint_proxy.records.schema import TABLES, VERSION
from promptlint_proxy.records.seal import partition, split_by_hour


@dataclass(frozen=True, slots=True)
class StoreView:
    """What a store folder held at one moment, per table."""

    sealed: dict[str, tuple[Path, ...]]
    live: dict[str, pa.Table]
    """Committed rows of the live stores that are in no sealed file."""
    notes: tuple[str, ...] = ()
    """Clear sentences about live stores that could not be read."""

    def table(self, name: str) -> pa.Table:
        """All rows of a table in memory; for a week of a fleet read the files with an engine instead."""
        schema = arrow_schema(name)
        parts = [_in_schema(pq.ParquetFile(path).read(), schema) for path in self.sealed[name]]
        return pa.concat_tables([*parts, self.live[name]])


def view(store: Path) -> StoreView:
    """The records of a store folder.

    Live stores are read before the sealed files are listed: a store that is sealed in between is in the listing then,
    and its live rows of hours that are sealed under its name are left out. So a row is seen exactly once.

    Raises PromptlintError when there is no such folder.
    """
    if not store.is_dir():
        raise PromptlintError(f"{store} is no folder: give the folder that the proxy writes to (--store)")
    live, notes = _read_live_stores(store)
    sealed = {table: tuple(sorted((store / table).glob("date=*/hour=*/[!.]*.parquet"))) for table in TABLES}
    left: dict[str, pa.Table] = {}
    for table in TABLES:
        parts = [arrow_schema(table).empty_table()]
        for stem, rows in live[table]:
            for hour, of_hour in split_by_hour(table, rows):
                if not (partition(store, table, hour) / f"{stem}.parquet").exists():
                    parts.append(of_hour)
        left[table] = pa.concat_tables(parts)
    return StoreView(sealed, left, notes)


def _read_live_stores(store: Path) -> tuple[dict[str, list[tuple[str, pa.Table]]], tuple[str, ...]]:
    tables: dict[str, list[tuple[str, pa.Table]]] = {table: [] for table in TABLES}
    notes: list[str] = []
    for path in sorted((store / LIVE_FOLDER).glob("*.sqlite")):
        try:
            database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=5)
            try:
                if (version := schema_version(database)) > VERSION:
                    notes.append(
                        f"{path.name} has schema version {version}, this promptlint knows up to {VERSION}: not read"
                    )
                    continue
                # One transaction: the same moment for all tables.
                database.execute("BEGIN")
                for table in TABLES:
                    tables[table].append((path.stem, read_rows(database, table)))
            finally:
                database.close()
        except sqlite3.Error as error:
            if path.exists():
                notes.append(f"{path.name} cannot be read: {error}")
    return tables, tuple(notes)


def _in_schema(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        rows[field.name].cast(field.type) if field.name in rows.column_names else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)
