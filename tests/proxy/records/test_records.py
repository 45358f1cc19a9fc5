"""Records survive kills, are read exactly once while they are sealed, and grow by migrations."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from promptlint_core.errors import PromptlintError
from promptlint_proxy.records import keys, live, migrations, read, schema, seal

HOUR_US = 3_600_000_000


def row(number: int, hour: int = 500_000) -> dict[str, object]:
    return {
        "exchange_id": f"x{number}",
        "started_at": hour * HOUR_US + number,
        "stream": number % 2 == 0,
        "prompt_tokens": number,
        "itl_histogram": [0, number],
        "ttft_s": 0.25,
    }


def ids(view: read.StoreView) -> list[str]:
    return sorted(view.table("exchanges")["exchange_id"].to_pylist())


def test_rows_are_readable_before_and_after_sealing_and_only_once(tmp_path: Path) -> None:
    store = live.LiveStore(tmp_path, "s")
    for number in range(5):
        store.add("exchanges", row(number, hour=500_000 + number // 3))
    store.add("findings", {"exchange_id": "x0", "started_at": 500_000 * HOUR_US, "rule": "KV101"})
    store.commit()
    assert ids(read.view(tmp_path)) == ["x0", "x1", "x2", "x3", "x4"]

    store.close()
    sealed = seal.seal(tmp_path, store.path)
    view = read.view(tmp_path)
    assert ids(view) == ["x0", "x1", "x2", "x3", "x4"]
    assert len([path for path in sealed if "exchanges" in str(path)]) == 2
    assert not store.path.exists()
    assert view.table("findings")["rule"].to_pylist() == ["KV101"]
    assert view.table("exchanges").slice(0, 1).to_pylist()[0]["itl_histogram"] == [0, 0]
    assert view.table("exchanges")["stream"].to_pylist()[:2] == [True, False]
    assert view.table("exchanges")["output_tokens"].to_pylist() == [None] * 5


def test_a_store_killed_between_sealing_and_removing_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = live.LiveStore(tmp_path, "s")
    for number in range(4):
        store.add("exchanges", row(number, hour=500_000 + number // 2))
    store.close()
    monkeypatch.setattr(seal, "remove_live", lambda path: None)
    sealed = seal.seal(tmp_path, store.path)
    assert store.path.exists()
    assert ids(read.view(tmp_path)) == ["x0", "x1", "x2", "x3"]

    # Killed earlier: only the first hour was written.
    sealed[-1].unlink()
    assert ids(read.view(tmp_path)) == ["x0", "x1", "x2", "x3"]
    monkeypatch.undo()
    assert sealed == seal.seal(tmp_path, store.path)
    assert ids(read.view(tmp_path)) == ["x0", "x1", "x2", "x3"]


def test_rows_wait_at_most_a_second_or_a_hundred_rows(tmp_path: Path) -> None:
    now = [0.0]
    store = live.LiveStore(tmp_path, "s", clock=lambda: now[0])
    for number in range(99):
        store.add("exchanges", row(number))
    assert len(ids(read.view(tmp_path))) == 0
    store.add("exchanges", row(99))
    assert len(ids(read.view(tmp_path))) == 100

    store.add("exchanges", row(100))
    now[0] = 0.5
    store.commit_if_due()
    assert len(ids(read.view(tmp_path))) == 100
    now[0] = 1.0
    store.commit_if_due()
    assert len(ids(read.view(tmp_path))) == 101
    store.close()


def test_a_killed_process_loses_no_committed_row(tmp_path: Path) -> None:
    script = f"""
import os, signal
from pathlib import Path
from promptlint_proxy.records.live import LiveStore
store = LiveStore(Path({str(tmp_path)!r}), "killed")
for number in range(250):
    store.add("exchanges", {{"exchange_id": str(number), "started_at": number}})
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script], check=False)
    assert len(ids(read.view(tmp_path))) == 200
    assert [path.stem for path in seal.abandoned(tmp_path)] == ["killed-000000"]
    seal.seal(tmp_path, next(seal.abandoned(tmp_path)))
    assert len(ids(read.view(tmp_path))) == 200


def test_a_store_in_use_is_not_abandoned(tmp_path: Path) -> None:
    store = live.LiveStore(tmp_path, "s")
    store.add("exchanges", row(1))
    script = f"""
from pathlib import Path
from promptlint_proxy.records.seal import abandoned
print(list(abandoned(Path({str(tmp_path)!r}))))
"""
    out = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert out.stdout.strip() == "[]"
    store.commit()
    store.close()
    assert [store.path] == list(seal.abandoned(tmp_path))


def test_two_processes_write_into_one_folder(tmp_path: Path) -> None:
    first, second = live.LiveStore(tmp_path, "a"), live.LiveStore(tmp_path, "b")
    first.add("exchanges", row(1))
    second.add("exchanges", row(2))
    first.commit()
    second.commit()
    assert ids(read.view(tmp_path)) == ["x1", "x2"]
    first.close()
    second.close()


def test_an_unknown_column_is_refused(tmp_path: Path) -> None:
    store = live.LiveStore(tmp_path, "s")
    with pytest.raises(KeyError, match="promt_tokens"):
        store.add("exchanges", {"promt_tokens": 1})
    store.close()


def test_files_are_private_and_the_key_is_shared(tmp_path: Path) -> None:
    key = keys.load_key(tmp_path)
    assert key == keys.load_key(tmp_path)
    assert len(key) == keys.KEY_BYTES
    assert stat.S_IMODE((tmp_path / keys.KEY_FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [keys.KEY_FILE]
    store = live.LiveStore(tmp_path, "s")
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    store.close()


def test_a_broken_key_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / keys.KEY_FILE).write_bytes(b"short")
    with pytest.raises(PromptlintError, match="is no key"):
        keys.load_key(tmp_path)


def test_hashes_depend_on_the_key_and_on_the_cut_between_parts() -> None:
    assert keys.keyed_hash(b"a", "x") != keys.keyed_hash(b"b", "x")
    assert keys.keyed_hash(b"a", "x", "y") != keys.keyed_hash(b"a", "xy")
    assert keys.keyed_hash(b"a", "x") == keys.keyed_hash(b"a", "x")


def test_an_older_store_gains_the_new_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "live" / "old-000000.sqlite"
    path.parent.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "VERSION", 1)
        database = sqlite3.connect(path, isolation_level=None)
        migrations.migrate(database)
        database.execute("INSERT INTO exchanges (exchange_id, started_at) VALUES ('old', 1)")
        database.close()
    newer = (*schema.EXCHANGES, schema.Column("later", "integer", "added later", since=2))
    tables = {**schema.TABLES, "exchanges": newer}
    for module in (migrations, read, seal, live):
        monkeypatch.setattr(module, "TABLES", tables)
    monkeypatch.setattr("promptlint_proxy.records.arrow.TABLES", tables)
    for module in (migrations, read):
        monkeypatch.setattr(module, "VERSION", 2)
    monkeypatch.setitem(migrations.MIGRATIONS, 2, migrations._add_columns(2))

    assert read.view(tmp_path).table("exchanges")["later"].to_pylist() == [None]
    seal.seal(tmp_path, path)
    assert read.view(tmp_path).table("exchanges").select(["exchange_id", "later"]).to_pylist() == [
        {"exchange_id": "old", "later": None}
    ]


def test_a_newer_store_is_left_alone_with_a_sentence(tmp_path: Path) -> None:
    store = live.LiveStore(tmp_path, "s")
    store.close()
    database = sqlite3.connect(store.path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    view = read.view(tmp_path)
    assert "schema version 99" in view.notes[0]
    with pytest.raises(PromptlintError, match="newer promptlint"):
        seal.seal(tmp_path, store.path)
    assert store.path.exists()


def test_a_missing_folder_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PromptlintError, match="is no folder"):
        read.view(tmp_path / "nowhere")


def test_a_broken_live_store_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    store = live.LiveStore(tmp_path, "s")
    store.add("exchanges", row(1))
    store.close()
    (tmp_path / "live" / "broken.sqlite").write_bytes(b"no database, but long enough to be one" * 100)
    view = read.view(tmp_path)
    assert ids(view) == ["x1"]
    assert "broken.sqlite cannot be read" in view.notes[0]
