"""The records of a store as tables of an engine: sealed files and live stores together, each exchange once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from promptlint_proxy.records.arrow import arrow_schema
from promptlint_proxy.records.read import StoreView, view
from promptlint_report import expressions as ir
from promptlint_report.document import LeftOut
from promptlint_report.engine import Engine
from promptlint_report.expressions import load_ibis
from promptlint_report.period import Period

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = ("exchanges", "findings", "groups")
_PICKED = ("_hash", "_copies", "_rank")


@dataclass(frozen=True, slots=True)
class Records:
    """The tables of a store, each in the columns of today's schema."""

    exchanges: ir.Table
    findings: ir.Table
    groups: ir.Table
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]


def open_records(store: Path, period: Period, engine: Engine, check_pages: bool = False) -> Records:
    """The records of the period and of the weeks ahead of it.

    `check_pages` reads every file whole to find those that are damaged behind a good footer: slow, and only needed
    after an engine failed on one.

    Raises PromptlintError when there is no store.
    """
    seen = view(store)
    left_out: list[LeftOut] = []
    tables: dict[str, ir.Table] = {}
    for name in TABLES:
        paths = [path for path in seen.sealed[name] if name == "groups" or _in_period(path, period)]
        good, bad = _readable(paths, check_pages)
        if bad:
            left_out.append(LeftOut(f"{name} files", len(bad), f"cannot be read as Parquet: {_names(bad)}"))
        good, strange = _of_our_types(good, name)
        if strange:
            why = f"hold values of other types than a record: {_names(strange)}"
            left_out.append(LeftOut(f"{name} files", len(strange), why))
        tables[name] = _table(name, good, seen, engine)
    exchanges, copies = _each_once(tables["exchanges"], engine)
    if copies:
        left_out.append(LeftOut("exchanges", copies, "seen by two sidecars or twice in the store: counted once"))
    left_out += [LeftOut("live stores", 1, note) for note in seen.notes]
    return Records(exchanges, tables["findings"], tables["groups"], tuple(left_out), ())


def has_damaged_pages(store: Path, period: Period) -> bool:
    """Whether some file of the period has a good footer and cannot be read all the same."""
    sealed = view(store).sealed
    paths = [path for name in TABLES for path in sealed[name] if name == "groups" or _in_period(path, period)]
    good, _ = _readable(paths, check_pages=False)
    return bool(_readable(good, check_pages=True)[1])


def recorded_days(store: Path) -> tuple[date, date] | None:
    """The first and the last day, in UTC, of which the store holds requests; None when it holds none."""
    seen = view(store)
    days = [day for path in seen.sealed["exchanges"] if (day := _sealed_day(path)) is not None]
    live = seen.live["exchanges"]["started_at"].drop_null().to_pylist()
    days += [moment.astimezone(UTC).date() for moment in live]
    return (min(days), max(days)) if days else None


def _sealed_day(path: Path) -> date | None:
    """The day of the folder that a sealed file lies in."""
    try:
        return date.fromisoformat(path.parent.parent.name.removeprefix("date="))
    except ValueError:
        return None


def _in_period(path: Path, period: Period) -> bool:
    day = _sealed_day(path)
    if day is None:
        return True
    first = period.history_start.astimezone(UTC).date() - timedelta(days=1)
    last = period.end.astimezone(UTC).date() + timedelta(days=1)
    return first <= day <= last


def _readable(paths: list[Path], check_pages: bool) -> tuple[list[Path], list[Path]]:
    import pyarrow.parquet as pq

    good: list[Path] = []
    bad: list[Path] = []
    for path in paths:
        try:
            if check_pages:
                pq.ParquetFile(path).read()
            else:
                pq.read_metadata(path)
            good.append(path)
        except Exception:
            # pyarrow raises OSError, ArrowInvalid and others; whatever it is, the other files must still count.
            bad.append(path)
    return good, bad


def _names(paths: list[Path]) -> str:
    return ", ".join(path.name for path in paths[:3]) + (" …" if len(paths) > 3 else "")


def _of_our_types(paths: list[Path], name: str) -> tuple[list[Path], list[Path]]:
    """The files whose columns can be taken as ours, and those whose cannot: one of them would fail the whole query."""
    import pyarrow.parquet as pq

    ours = {field.name: _kind(field.type) for field in arrow_schema(name)}
    good: list[Path] = []
    strange: list[Path] = []
    for path in paths:
        theirs = pq.read_schema(path)
        fits = all(_is_taken(_kind(field.type), ours[field.name]) for field in theirs if field.name in ours)
        (good if fits else strange).append(path)
    return good, strange


def _is_taken(theirs: str, ours: str) -> bool:
    """Whether values of one kind can stand in a column of another."""
    return theirs in (ours, "null") or (theirs, ours) == ("integer", "number")


def _kind(type_: pa.DataType) -> str:
    """What values of a type are, whatever their width and unit."""
    import pyarrow as pa

    kinds = {
        "integer": pa.types.is_integer,
        "text": lambda found: pa.types.is_string(found) or pa.types.is_large_string(found),
        "moment": pa.types.is_timestamp,
        "number": lambda found: pa.types.is_floating(found) or pa.types.is_decimal(found),
        "yes or no": pa.types.is_boolean,
        "bytes": lambda found: pa.types.is_binary(found) or pa.types.is_large_binary(found),
        "null": pa.types.is_null,
    }
    if pa.types.is_dictionary(type_):
        return _kind(type_.value_type)
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return f"list of {_kind(type_.value_type)}"
    return next((kind for kind, holds in kinds.items() if holds(type_)), str(type_))


def _table(name: str, paths: list[Path], seen: StoreView, engine: Engine) -> ir.Table:
    live = seen.live[name]
    parts: list[ir.Table] = []
    if paths:
        parts.append(_in_columns(engine.read_parquet(paths, f"sealed_{name}"), name))
    if live.num_rows or not paths:
        parts.append(_in_columns(engine.from_arrow(live, f"live_{name}"), name))
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.union(part)
    return whole


def _in_columns(table: ir.Table, name: str) -> ir.Table:
    """The columns of today's schema in their order and types; those that older files lack are null."""
    ibis = load_ibis()

    schema = ibis.Schema.from_pyarrow(arrow_schema(name))
    there = set(table.columns)
    return table.select(
        **{
            column: table[column].cast(type_) if column in there else ibis.null().cast(type_)
            for column, type_ in schema.items()
        }
    )


def _each_once(exchanges: ir.Table, engine: Engine) -> tuple[ir.Table, int]:
    """Each exchange once, and the number of copies left out.

    Of two copies the one with reported usage counts, then the one with the fuller measurement. Comparing 64-bit hashes
    first keeps the memory small: only rows whose hash occurs twice are compared by their ids.
    """
    ibis = load_ibis()

    marked = exchanges.mutate(_hash=exchanges.exchange_id.hash())
    twice = marked.filter(marked.exchange_id.notnull()).group_by("_hash").aggregate(_copies=ibis._.count())
    twice = engine.keep(twice.filter(twice["_copies"] > 1), "twice")
    if not engine.run(twice.limit(1)):
        return exchanges, 0
    suspects = marked.semi_join(twice, "_hash")
    order = ibis.window(
        group_by=suspects.exchange_id,
        order_by=[
            (suspects.prompt_tokens_source == "reported").fill_null(False).desc(),
            suspects.output_tokens.notnull().desc(),
            suspects.ttft_s.notnull().desc(),
            suspects.started_at,
            suspects.sidecar,
        ],
    )
    ranked = suspects.mutate(_rank=ibis.row_number().over(order))
    kept = ranked.filter(ranked["_rank"] == 0).drop("_hash", "_rank")
    copies = engine.run(ranked.aggregate(n=(ranked["_rank"] > 0).sum()))[0]["n"]
    return marked.anti_join(twice, "_hash").drop("_hash").union(kept), int(copies or 0)
