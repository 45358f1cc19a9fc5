"""Rows of a live store as Arrow tables, in the types that the sealed Parquet files have."""

from __future__ import annotations

import sqlite3

import pyarrow as pa

from promptlint_proxy.records.live import unpack_integers
from promptlint_proxy.records.schema import TABLES, VERSION


def arrow_schema(table: str) -> pa.Schema:
    """The Parquet schema of a table: what every sealed file and every live read has."""
    types = {
        "text": pa.string(),
        "integer": pa.int64(),
        "real": pa.float64(),
        "boolean": pa.bool_(),
        "time": pa.timestamp("us", tz="UTC"),
        "integers": pa.list_(pa.int64()),
    }
    fields = [pa.field(column.name, types[column.type]) for column in TABLES[table]]
    return pa.schema(fields, metadata={b"promptlint.version": str(VERSION).encode()})


def read_rows(database: sqlite3.Connection, table: str) -> pa.Table:
    """All committed rows of a table; columns that an older store lacks are null."""
    there = [name for (name,) in database.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    names = [column.name for column in TABLES[table] if column.name in there]
    listing = ", ".join(names)
    rows = database.execute(f"SELECT {listing} FROM {table} ORDER BY rowid").fetchall() if names else []  # noqa: S608 our own names
    values = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}
    schema = arrow_schema(table)
    arrays: list[pa.Array] = []
    for column, field in zip(TABLES[table], schema, strict=True):
        cells = list(values.get(column.name, [None] * len(rows)))
        if column.type == "integers":
            cells = [None if cell is None else unpack_integers(cell) for cell in cells]
        elif column.type == "boolean":
            cells = [None if cell is None else bool(cell) for cell in cells]
        arrays.append(pa.array(cells, type=field.type))
    return pa.Table.from_arrays(arrays, schema=schema)
