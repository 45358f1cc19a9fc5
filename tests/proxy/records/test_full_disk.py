"""A disk that takes nothing costs no record that fits in memory, and is said once."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from promptlint_proxy import recorder as recorder_module
from promptlint_proxy.metrics import Metrics
from promptlint_proxy.recorder import Recorder
from promptlint_proxy.records import live, seal, sealer
from promptlint_proxy.records.live import LiveStore
from promptlint_proxy.records.read import view
from promptlint_proxy.records.sealer import Sealer
from promptlint_proxy.settings import ProxySettings

NO_GROUPS: Any = SimpleNamespace(groups=lambda: ())


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def row(number: int) -> dict[str, object]:
    return {"exchange_id": f"x{number}", "started_at": 1_790_000_000_000_000 + number, "route": "r" * 500}


def fill(store: LiveStore) -> None:
    """The file may not grow any further, as on a full disk."""
    pages = store._database.execute("PRAGMA page_count").fetchone()[0]
    store._database.execute(f"PRAGMA max_page_count = {pages}")


def free(store: LiveStore) -> None:
    store._database.execute("PRAGMA max_page_count = 1000000")


def numbers(folder: Path) -> list[int]:
    return sorted(int(name[1:]) for name in view(folder).table("exchanges")["exchange_id"].to_pylist())


def test_rows_wait_while_the_disk_is_full_and_are_written_once_it_is_not(tmp_path: Path) -> None:
    clock = Clock()
    store = LiveStore(tmp_path, "s", clock=clock)
    fill(store)
    for number in range(99):
        store.add("exchanges", row(number))
    with pytest.raises(sqlite3.Error):
        store.add("exchanges", row(99))
    for number in range(100, 150):
        store.add("exchanges", row(number))
    assert (store.waiting, store.rows, store.lost) == (150, 0, 0)

    free(store)
    clock.now_s = live.RETRY_S
    store.commit_if_due()
    assert (store.waiting, store.rows, store.lost) == (0, 150, 0)
    assert numbers(tmp_path) == list(range(150))
    store.close()


@pytest.mark.parametrize(("limit", "value"), [("MOST_WAITING_ROWS", 40), ("MOST_WAITING_BYTES", 20_000)])
def test_what_waits_is_bounded_and_the_oldest_goes_first(
    limit: str, value: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, limit, value)
    monkeypatch.setattr(live, "COMMIT_ROWS", 10_000)
    store = LiveStore(tmp_path, "s")
    for number in range(100):
        store.add("exchanges", row(number))
    store.close()

    left = numbers(tmp_path)
    assert left == list(range(100 - len(left), 100))
    assert 30 <= len(left) <= 40
    assert store.lost == 100 - len(left)


def recorder_of(folder: Path, clock: Clock) -> Recorder:
    return Recorder(ProxySettings(store=folder), b"k" * 32, clock)


def test_a_full_disk_is_said_once_and_once_more_when_it_is_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    recorder = recorder_of(tmp_path, clock)
    metrics = Metrics(())
    fill(recorder._live)
    caplog.set_level(logging.WARNING)
    for number in range(250):
        clock.now_s += 0.1
        recorder._add("exchanges", row(number))
        recorder.tick(NO_GROUPS)
    metrics.set_records(recorder.lost, recorder.waiting)
    assert [record.message for record in caplog.records] == [
        "records cannot be written (database or disk is full); the traffic goes on, and they are tried again"
    ]
    assert b"promptlint_waiting_records 250.0" in metrics.exposition()
    assert b'promptlint_lost_records_total{reason="disk"} 0.0' in metrics.exposition()

    free(recorder._live)
    clock.now_s += live.RETRY_S
    recorder.tick(NO_GROUPS)
    assert caplog.records[-1].message == "records are written again; 0 rows were lost"
    assert len(caplog.records) == 2
    recorder.close(NO_GROUPS)
    assert numbers(tmp_path) == list(range(250))


def test_a_full_disk_at_the_end_is_told_with_what_is_lost(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    recorder = recorder_of(tmp_path, Clock())
    fill(recorder._live)
    for number in range(30):
        recorder._add("exchanges", row(number))
    recorder.close(NO_GROUPS)

    assert "30 rows are lost" in caplog.records[-1].message
    assert numbers(tmp_path) == []


def test_a_store_that_was_deleted_is_made_again(tmp_path: Path) -> None:
    recorder = recorder_of(tmp_path, Clock())
    first = recorder._live.path
    first.unlink()
    recorder.tick(NO_GROUPS)
    recorder._add("exchanges", row(7))
    recorder.close(NO_GROUPS)

    assert recorder._live.path != first
    assert numbers(tmp_path) == [7]


def test_a_store_is_rotated_when_it_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "SEAL_ROWS", 100)
    clock = Clock()
    recorder = recorder_of(tmp_path, clock)
    for number in range(450):
        clock.now_s += 0.02
        recorder._add("exchanges", row(number))
        recorder.tick(NO_GROUPS)
    recorder.close(NO_GROUPS)

    assert len(list(tmp_path.glob("exchanges/*/*/*.parquet"))) == 5
    assert not list(tmp_path.glob("live/*.sqlite"))
    assert numbers(tmp_path) == list(range(450))


def test_what_could_not_be_sealed_is_sealed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    store = LiveStore(tmp_path, "s")
    store.add("exchanges", row(1))
    store.close()
    failing = [True]

    def write(*args: Any, **options: Any) -> None:
        if failing[0]:
            Path(args[1]).write_bytes(b"half a file")
            raise OSError(28, "No space left on device")
        original(*args, **options)

    original = seal.pq.write_table
    monkeypatch.setattr(seal.pq, "write_table", write)
    own = Sealer(tmp_path, clock)
    for _ in range(3):
        own._seal(store.path)
    assert [record.message for record in caplog.records if "could not be sealed" in record.message] == [
        "s-000000.sqlite could not be sealed (OSError); it is read as it is and sealed later"
    ]
    assert not list(tmp_path.glob("exchanges/*/*/.*"))
    assert numbers(tmp_path) == [1]

    failing[0] = False
    own.retry_if_due()
    clock.now_s = sealer.RETRY_S
    own.retry_if_due()
    own.close()
    assert not store.path.exists()
    assert numbers(tmp_path) == [1]


def test_a_store_that_another_sidecar_sealed_first_is_not_worth_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = Sealer(tmp_path)
    own.seal(tmp_path / "live" / "gone.sqlite")
    own.close()

    assert not caplog.records


@pytest.mark.parametrize(
    ("column", "value"), [("route", "half of an emoji: \ud83d"), ("output_tokens", 2**70), ("model", object())]
)
def test_a_row_that_no_database_takes_holds_up_no_other(column: str, value: object, tmp_path: Path) -> None:
    store = LiveStore(tmp_path, "s")
    for number in range(5):
        store.add("exchanges", row(number) | ({column: value} if number == 2 else {}))
    store.close()

    assert numbers(tmp_path) == [0, 1, 3, 4]
    assert store.lost == 1
