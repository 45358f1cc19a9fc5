"""Odd stores: the right answer or a clear sentence, and everything left out is counted and said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from report_golden import NOW
from report_traffic import Record, at, record, write, write_prices

from promptlint_core.errors import PromptlintError
from promptlint_proxy.records.live import LiveStore
from promptlint_report.document import Report
from promptlint_report.make import Asked, make_report
from promptlint_report.material import Options
from promptlint_report.period import find_period, zone


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

    assert report.summary == "No requests were recorded in 2026-W48."
    assert report.sections == ()


def test_a_week_without_data_says_what_other_weeks_hold(tmp_path: Path) -> None:
    report = report_of(tmp_path, [record("x", at(-7))])

    assert report.summary == "No requests were recorded in 2026-W48; the weeks before hold 1."


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
    live = LiveStore(store, "b")
    row = record("y", at(1), sidecar="b")
    live.add("exchanges", {**row, "started_at": int(row["started_at"].timestamp() * 1_000_000)})
    live.commit()

    report = _report(tmp_path, store)

    assert report.figure("requests").value == 2
    live.close()


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


@pytest.mark.parametrize(("week", "hours", "first_utc"), [("2026-W43", 169, 22), ("2026-W13", 167, 23)])
def test_a_week_with_a_clock_change_has_an_hour_more_or_less(
    tmp_path: Path, week: str, hours: int, first_utc: int
) -> None:
    period = find_period(week, zone("Europe/Rome"), NOW)
    start = period.start.astimezone(UTC)
    rows = [record(f"h{hour}", start + timedelta(hours=hour)) for hour in range(-1, hours + 1)]

    report = report_of(tmp_path, rows, week, "Europe/Rome")

    assert (hours, 1) == (report.figure("requests").value, report.figure("requests").before)
    assert start.hour == first_utc
    chart = report.sections[0].charts[0].series[0].values
    days = [24] * 6 + [hours - 144]
    assert [pytest.approx(0.0096 * count) for count in days] == list(chart)


def test_records_without_a_time_are_left_out_and_said(tmp_path: Path) -> None:
    store = tmp_path / "store"
    files = write(store, "exchanges", [record("x", at(0))])
    rows = [record("lost", None), record("x2", at(0))]  # type: ignore[arg-type]
    import pyarrow as pa

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


@pytest.mark.parametrize("week", ["2026-W54", "soon", "2026-13-01", "W48"])
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
