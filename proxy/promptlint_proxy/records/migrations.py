"""Numbered migrations of the live store's schema: each brings a database from version n - 1 to n."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from promptlint_core.errors import PromptlintError
from promptlint_proxy.records.schema import TABLES, VERSION

SQLITE_TYPES = {
    "text": "TEXT",
    "integer": "INTEGER",
    "real": "REAL",
    "boolean": "INTEGER",
    "time": "INTEGER",
    "integers": "BLOB",
}


def _create_tables(database: sqlite3.Connection) -> None:
    for table, columns in TABLES.items():
        listing = ", ".join(f"{column.name} {SQLITE_TYPES[column.type]}" for column in columns if column.since == 1)
        database.execute(f"CREATE TABLE {table} ({listing}) STRICT")


def _add_columns(version: int) -> Callable[[sqlite3.Connection], None]:
    def add(database: sqlite3.Connection) -> None:
        for table, columns in TABLES.items():
            for column in columns:
                if column.since == version:
                    database.execute(f"ALTER TABLE {table} ADD COLUMN {column.name} {SQLITE_TYPES[column.type]}")

    return add


MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {
    1: _create_tables,
    **{version: _add_columns(version) for version in range(2, VERSION + 1)},
}


def schema_version(database: sqlite3.Connection) -> int:
    """0 for a new, empty database."""
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def migrate(database: sqlite3.Connection) -> None:
    """Bring a live store to the newest version, each step in a transaction of its own.

    Raises PromptlintError for a store of a newer promptlint: its rows must not be dropped or re-meant.
    """
    version = schema_version(database)
    if version > VERSION:
        raise PromptlintError(
            f"the store has schema version {version}, this promptlint knows up to {VERSION}: use a newer promptlint"
        )
    for step in range(version + 1, VERSION + 1):
        database.execute("BEGIN IMMEDIATE")
        try:
            MIGRATIONS[step](database)
            database.execute(f"PRAGMA user_version = {step}")
        except BaseException:
            database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")
