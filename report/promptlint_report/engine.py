"""The engines that run the report's expressions: DuckDB on one machine, Spark where one machine no longer does."""

from __future__ import annotations

import contextlib
import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptlint_core.errors import PromptlintError
from promptlint_report import expressions as ir
from promptlint_report.expressions import load_ibis

if TYPE_CHECKING:
    import pyarrow as pa

ENGINES = ("duckdb", "spark")
DUCKDB_MEMORY = "1500MB"
"""Above this DuckDB spills to the temporary folder."""


class Engine:
    """An Ibis backend together with what differs between backends: how files and Arrow tables become tables."""

    name: str

    def __init__(self, backend: Any) -> None:
        self.backend = backend

    def read_parquet(self, paths: list[Path], name: str) -> ir.Table:
        """One table over Parquet files; columns that only some files have are null in the rows of the others."""
        raise NotImplementedError

    def from_arrow(self, rows: pa.Table, name: str) -> ir.Table:
        raise NotImplementedError

    def keep(self, expression: ir.Table, name: str) -> ir.Table:
        """The result of an expression, computed once for all that build on it."""
        raise NotImplementedError

    def keep_rows(self, expression: ir.Table, name: str) -> ir.Table:
        """The same for a result as long as the records: kept only where that is cheaper than reading them again."""
        del name
        return expression

    def microseconds(self, moment: ir.TimestampValue) -> ir.IntegerValue:
        """Microseconds since 1970 UTC of a time stamp."""
        raise NotImplementedError

    def item(self, values: ir.Value, place: int) -> ir.Value:
        """The value at a place of a list, from 0; null behind its end."""
        return values[place]

    def run(self, expression: ir.Table) -> list[dict[str, Any]]:
        """The rows of a small result."""
        rows: list[dict[str, Any]] = expression.to_pyarrow().to_pylist()
        return rows

    def close(self) -> None:
        self.backend.disconnect()


class DuckdbEngine(Engine):
    name = "duckdb"

    def __init__(self, scratch: Path) -> None:
        ibis = load_ibis()

        backend = ibis.duckdb.connect(memory_limit=DUCKDB_MEMORY, temp_directory=str(scratch))
        backend.raw_sql("SET TimeZone = 'UTC'")
        # Order of rows is nobody's promise here, and keeping it costs memory.
        backend.raw_sql("SET preserve_insertion_order = false")
        # Ibis writes lambdas with an arrow; DuckDB 1.3 and newer take that only when asked to.
        with contextlib.suppress(Exception):
            backend.raw_sql("SET lambda_syntax = 'ENABLE_SINGLE_ARROW'")
        super().__init__(backend)

    def read_parquet(self, paths: list[Path], name: str) -> ir.Table:
        listing = [str(path) for path in paths]
        table: ir.Table = self.backend.read_parquet(
            listing, table_name=name, union_by_name=True, hive_partitioning=False
        )
        return table

    def from_arrow(self, rows: pa.Table, name: str) -> ir.Table:
        ibis = load_ibis()

        del name
        table: ir.Table = ibis.memtable(rows)
        return table

    def keep(self, expression: ir.Table, name: str) -> ir.Table:
        return self.backend.create_table(name, expression, temp=True)

    def microseconds(self, moment: ir.TimestampValue) -> ir.IntegerValue:
        ibis = load_ibis()

        # Ibis' own epoch_seconds() goes by a cast through the session's calendar: twice the time of the whole scan.
        @ibis.udf.scalar.builtin(signature=((moment.type(),), "int64"))  # type: ignore[untyped-decorator]
        def epoch_us(_: object) -> int: ...  # type: ignore[empty-body]

        found: ir.IntegerValue = epoch_us(moment)
        return found


class SparkEngine(Engine):
    name = "spark"

    def __init__(self, master: str) -> None:
        try:
            ibis = load_ibis()

            sql = importlib.import_module("pyspark.sql")
        except ImportError as error:
            raise PromptlintError(
                "--engine spark needs PySpark: install promptlint-prefix[spark] and Java 17"
            ) from error
        builder = sql.SparkSession.builder.appName("promptlint report").master(master)
        settings = {
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.ansi.enabled": "true",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": os.environ.get("PROMPTLINT_SPARK_PARTITIONS", "8"),
            "spark.driver.host": os.environ.get("PROMPTLINT_SPARK_DRIVER_HOST", "127.0.0.1"),
        }
        for key, value in settings.items():
            builder = builder.config(key, value)
        try:
            self.session: Any = builder.getOrCreate()
        except Exception as error:
            raise PromptlintError(
                f"Spark does not start ({type(error).__name__}): Java 17 and {master} are needed"
            ) from error
        self.session.sparkContext.setLogLevel("ERROR")
        super().__init__(ibis.pyspark.connect(self.session))

    def read_parquet(self, paths: list[Path], name: str) -> ir.Table:
        frame = self.session.read.option("mergeSchema", "true").parquet(*(str(path.absolute()) for path in paths))
        frame.createOrReplaceTempView(name)
        return self.backend.table(name)

    def from_arrow(self, rows: pa.Table, name: str) -> ir.Table:
        self.session.createDataFrame(rows).createOrReplaceTempView(name)
        return self.backend.table(name)

    def keep(self, expression: ir.Table, name: str) -> ir.Table:
        self.session.sql(self.backend.compile(expression)).persist().createOrReplaceTempView(name)
        return self.backend.table(name)

    def keep_rows(self, expression: ir.Table, name: str) -> ir.Table:
        return self.keep(expression, name)

    def microseconds(self, moment: ir.TimestampValue) -> ir.IntegerValue:
        ibis = load_ibis()

        @ibis.udf.scalar.builtin(signature=((moment.type(),), "int64"))  # type: ignore[untyped-decorator]
        def unix_micros(_: object) -> int: ...  # type: ignore[empty-body]

        found: ir.IntegerValue = unix_micros(moment)
        return found

    def item(self, values: ir.Value, place: int) -> ir.Value:
        # In ANSI mode, which also makes overflows errors, a place behind the end is an error unless it is asked for.
        return load_ibis().ifelse(values.length() > place, values[place], None)

    def close(self) -> None:
        self.session.stop()


def connect(name: str, scratch: Path, spark_master: str = "local[*]") -> Engine:
    """The engine of that name.

    Raises PromptlintError for an unknown name or when it cannot start.
    """
    if name == "duckdb":
        return DuckdbEngine(scratch)
    if name == "spark":
        return SparkEngine(spark_master)
    raise PromptlintError(f"--engine {name!r} is not known; there are {' and '.join(ENGINES)}")
