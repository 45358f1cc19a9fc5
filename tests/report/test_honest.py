"""Odd stores: the right answer or a clear sentence, and everything left out is counted and said."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from report_golden import NOW
from report_traffic import Record, at, record, write, write_prices

from promptlint_core.errors import PromptlintError
from promptlint_proxy.records.live import LiveStore
from promptlint_report.document import Report
from promptlint_report.engine import connect
from promptlint_report.make import Asked, make_report
from promptlint_report.material import Options
from promptlint_report.period import find_period, zone
from promptlint_report.records import open_records


def report_of(folder: Path, rows: list[Record], week: str = "2026-W48", timezone: str = "UTC") -> Report:
    store = folder / "store"
    store.mkdir(exist_ok=True)
    if rows:
        write(store, "exchanges", rows)
    return _report(folder, store, week, timezone)


def _report(folder: Path, store: Path, week: str = "2026-W48", timezone: str = "UTC") -> Report:
    period = find_period(week, zone(timezone), NOW)
    return make_report(Asked(store, period, Options(now=NOW), (write_prices(folder),)))


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PromptlintError, match="is no folder"):
        _report(tmp_path, tmp_path / "nowhere")


def test_an_empty_store_has_no_requests_and_no_zeros(tmp_path: Path) -> None:
    report = report_of(tmp_path, [])

    assert report.summary == "No requests were recorded in 2026-W48: the store holds none."
    assert report.sections == ()


@pytest.mark.parametrize(
    ("sealed", "live", "says"),
    [
        ([-7], [], "of 2026-11-16 (UTC)"),
        ([-70, 9], [], "of 2026-09-14 to 2026-12-02 (UTC)"),
        ([], [8], "of 2026-12-01 (UTC)"),
        ([-7], [8, 9], "of 2026-11-16 to 2026-12-02 (UTC)"),
    ],
)
def test_a_week_without_data_says_which_days_the_store_holds(
    tmp_path: Path, sealed: list[int], live: list[int], says: str
) -> None:
    store = tmp_path / "store"
    store.mkdir()
    write(store, "exchanges", [record(f"s{day}", at(day)) for day in sealed])
    if live:
        _live(store, [record(f"l{day}", at(day)) for day in live])

    assert (
        _report(tmp_path, store).summary == f"No requests were recorded in 2026-W48. The store holds requests {says}."
    )


def test_one_record_is_a_whole_report(tmp_path: Path) -> None:
    report = report_of(tmp_path, [record("x", at(0))])

    # 400 x 10 + 600 x 1 + 100 x 50 µ$
    assert report.figure("spend").value == pytest.approx(0.0096)
    assert report.figure("spend").before is None
    assert "nothing of last week" in report.notes[0]


def test_one_exchange_seen_by_two_sidecars_counts_once_with_the_fuller_record(tmp_path: Path) -> None:
    poor = record("x", at(0), sidecar="a", prompt_tokens_source="estimated", output_tokens=None, ttft_s=None)
    rows = [poor, record("x", at(0), sidecar="b"), record("y", at(0), sidecar="a")]

    report = report_of(tmp_path, rows)

    assert report.figure("requests").value == 2
    assert report.figure("output_tokens").value == 200
    assert [(1, "exchanges")] == [(left.count, left.what) for left in report.left_out]


def test_live_stores_count_beside_sealed_files(tmp_path: Path) -> None:
    store = tmp_path / "store"
    write(store, "exchanges", [record("x", at(0))])
    _live(store, [record("y", at(1), sidecar="b")])

    assert _report(tmp_path, store).figure("requests").value == 2


def _live(store: Path, rows: list[Record], sidecar: str = "b") -> Path:
    live = LiveStore(store, sidecar)
    for row in rows:
        live.add("exchanges", {**row, "started_at": int(row["started_at"].timestamp() * 1_000_000)})
    live.commit()
    live.close()
    (path,) = (store / "live").glob(f"{sidecar}*.sqlite")
    return path


def _rows(store: Path) -> tuple[int, list[str]]:
    """The exchanges that figures are made from, and what was left out."""
    engine = connect("duckdb", store)
    try:
        records = open_records(store, find_period("2026-W48", zone("UTC"), NOW), engine)
        (found,) = engine.run(records.exchanges.aggregate(n=records.exchanges.count()))
        return found["n"], [left.sentence for left in records.left_out]
    finally:
        engine.close()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _of_a_later_version(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("pragma user_version = 999")
    database.close()


def _no_database(path: Path) -> None:
    path.write_bytes(b"no database" * 100)


def _a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_cut, "cannot be read"),
        (_no_database, "cannot be read: file is not a database"),
        (_of_a_later_version, "has schema version 999"),
        (_a_folder, "cannot be read"),
    ],
)
def test_a_corrupt_live_store_is_named_and_the_others_count(
    tmp_path: Path, damage: Callable[[Path], None], says: str
) -> None:
    store = tmp_path / "store"
    write(store, "exchanges", [record("sealed", at(0))])
    _live(store, [record("good", at(1))], "good")
    damage(_live(store, [record("bad", at(1))], "bad"))

    count, (left,) = _rows(store)

    assert count == 2
    assert left.startswith("1 live store: bad")
    assert says in left


OF_OTHERS: list[tuple[str, dict[str, Any], int, str | None]] = [
    ("other columns", {"a": [1, 2]}, 3, None),
    (
        "words for numbers",
        {"started_at": [at(0)], "prompt_tokens": ["many"]},
        1,
        "1 exchanges file: hold values of other types than a record: odd.parquet",
    ),
    (
        "words for times",
        {"started_at": ["soon"]},
        1,
        "1 exchanges file: hold values of other types than a record: odd.parquet",
    ),
    (
        "numbers for lists",
        {"started_at": [at(0)], "block_hashes": [7]},
        1,
        "1 exchanges file: hold values of other types than a record: odd.parquet",
    ),
    ("a column of nulls", {"exchange_id": ["x"], "started_at": [at(0)], "prompt_tokens": [None]}, 2, None),
    ("a column of the future", {"exchange_id": ["x"], "started_at": [at(0)], "mood": ["fine"]}, 2, None),
    (
        "times of another zone",
        {"exchange_id": ["x"], "started_at": [at(0).astimezone(ZoneInfo("Asia/Tokyo"))]},
        2,
        None,
    ),
    ("whole numbers", {"exchange_id": ["x"], "started_at": [at(0)], "ttft_s": [1]}, 2, None),
    ("decimal numbers", {"exchange_id": ["x"], "started_at": [at(0)], "ttft_s": [Decimal("0.25")]}, 2, None),
    (
        "texts by number",
        {"exchange_id": ["x"], "started_at": [at(0)], "model": pa.array(["m"]).dictionary_encode()},
        2,
        None,
    ),
    ("times without a zone", {"exchange_id": ["x"], "started_at": [at(0).replace(tzinfo=None)]}, 2, None),
]


@pytest.mark.parametrize(
    ("columns", "count", "says"), [case[1:] for case in OF_OTHERS], ids=[case[0] for case in OF_OTHERS]
)
def test_a_parquet_file_of_another_shape_costs_no_more_than_itself(
    tmp_path: Path, columns: dict[str, Any], count: int, says: str | None
) -> None:
    store = tmp_path / "store"
    (good,) = write(store, "exchanges", [record("good", at(0))])
    pq.write_table(pa.table(columns), good.with_name("odd.parquet"))

    assert _rows(store) == (count, [says] if says else [])


def test_a_report_goes_on_without_a_file_of_another_shape(tmp_path: Path) -> None:
    store = tmp_path / "store"
    (good,) = write(store, "exchanges", [record("good", at(0))])
    pq.write_table(pa.table({"started_at": [at(0)], "prompt_tokens": ["many"]}), good.with_name("odd.parquet"))

    report = _report(tmp_path, store)

    assert report.figure("requests").value == 1
    assert [left.count for left in report.left_out] == [1]


@pytest.mark.parametrize("damage", ["empty", "footer", "page"])
def test_a_corrupt_file_is_named_and_the_good_ones_count(tmp_path: Path, damage: str) -> None:
    store = tmp_path / "store"
    rows = [record(f"bad{number:03}", at(0), route=f"/{number}") for number in range(200)]
    (bad,) = write(store, "exchanges", rows, "bad-000000")
    write(store, "exchanges", [record("good", at(0))], "good-000000")
    data = bytearray(bad.read_bytes())
    if damage == "empty":
        data = bytearray()
    elif damage == "footer":
        data = data[: len(data) // 2]
    else:
        data[4:1200] = b"\xff" * 1196
    bad.write_bytes(bytes(data))

    report = _report(tmp_path, store)

    assert report.figure("requests").value == 1
    assert [(1, "exchanges files")] == [(left.count, left.what) for left in report.left_out]
    assert "bad-000000.parquet" in report.left_out[0].why


def test_files_of_an_older_schema_are_read_with_the_missing_columns_unknown(tmp_path: Path) -> None:
    store = tmp_path / "store"
    (old,) = write(store, "exchanges", [record("old", at(0))], "old-000000")
    table = pq.read_table(old, partitioning=None).drop_columns(
        ["ttft_s", "kv_bytes", "itl_histogram", "written_tokens"]
    )
    pq.write_table(table, old)

    alone = _report(tmp_path, store)
    write(store, "exchanges", [record("new", at(0))], "new-000000")
    both = _report(tmp_path, store)

    assert (1, None) == (alone.figure("requests").value, alone.figure("ttft_p50").value)
    assert both.figure("requests").value == 2
    assert both.figure("ttft_p50").value == pytest.approx(0.2, rel=0.021)


def test_a_week_begins_at_midnight_of_its_time_zone(tmp_path: Path) -> None:
    rows = [record("sunday", at(-1, 22, 59)), record("monday", at(-1, 23, 0))]

    report = report_of(tmp_path, rows, timezone="Europe/Rome")

    assert (1, 1) == (report.figure("requests").value, report.figure("requests").before)


@pytest.mark.parametrize(
    ("timezone", "week", "hours", "first_utc"),
    [
        ("Europe/Berlin", "2026-W43", 169, 22),
        ("Europe/Berlin", "2026-W13", 167, 23),
        ("America/New_York", "2026-W44", 169, 4),
        ("America/New_York", "2026-W10", 167, 5),
        ("Asia/Kathmandu", "2026-W43", 168, 18),
    ],
)
def test_a_week_with_a_clock_change_has_an_hour_more_or_less(
    tmp_path: Path, timezone: str, week: str, hours: int, first_utc: int
) -> None:
    period = find_period(week, zone(timezone), NOW)
    start = period.start.astimezone(UTC)
    rows = [record(f"h{hour}", start + timedelta(hours=hour)) for hour in range(-1, hours + 1)]

    report = report_of(tmp_path, rows, week, timezone)

    assert (hours, 1) == (report.figure("requests").value, report.figure("requests").before)
    assert start.hour == first_utc
    chart = report.sections[0].charts[0].series[0].values
    days = [24] * 6 + [hours - 144]
    assert [pytest.approx(0.0096 * count) for count in days] == list(chart)


def test_records_without_a_time_are_left_out_and_said(tmp_path: Path) -> None:
    store = tmp_path / "store"
    files = write(store, "exchanges", [record("x", at(0))])
    rows = [record("lost", None), record("x2", at(0))]  # type: ignore[arg-type]
    from promptlint_proxy.records.arrow import arrow_schema

    pq.write_table(pa.Table.from_pylist(rows, schema=arrow_schema("exchanges")), files[0].with_name("odd.parquet"))

    report = _report(tmp_path, store)

    assert report.figure("requests").value == 2
    assert any("no time" in left.why and left.count == 1 for left in report.left_out)


def test_unknown_usage_is_unknown_and_never_zero(tmp_path: Path) -> None:
    silent = record("x", at(0), output_tokens=None, reported_hit_tokens=None, predicted_hit_tokens=None)
    silent |= {"best_hit_tokens": None, "written_tokens": None, "ttft_s": None, "itl_histogram": None}

    report = report_of(tmp_path, [silent])

    names = ("output_tokens", "reported_hit_rate", "predicted_hit_rate", "missed_tokens", "ttft_p99", "kv_mean")
    assert [None] * 6 == [report.figure(name).value for name in names]


@pytest.mark.parametrize(
    "week", ["2026-W54", "soon", "2026-13-01", "W48", "", "0000-W01", "0001-01-01", "9999-W52", "9999-12-31"]
)
def test_a_week_that_is_none_is_explained(week: str) -> None:
    with pytest.raises(PromptlintError, match="--week"):
        find_period(week, zone("UTC"), NOW)


def test_a_time_zone_that_is_none_is_explained() -> None:
    with pytest.raises(PromptlintError, match="Europe/Rome or UTC"):
        zone("Mars/Olympus")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("2026-W48", "2026-W48"),
        ("2026W48", "2026-W48"),
        ("last", "2026-W48"),
        ("this", "2026-W49"),
        ("2026-11-29", "2026-W48"),
    ],
)
def test_a_week_is_named_in_several_ways(text: str, name: str) -> None:
    assert find_period(text, zone("UTC"), datetime(2026, 12, 1, tzinfo=UTC)).name == name
