"""`promptlint check --traffic`: what each finding cost in a week of recorded traffic, as a user meets it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from report_traffic import record, write, write_prices

from promptlint_core.sketch import sketch
from promptlint_proxy.records.keys import load_key

Run = Callable[..., Any]

RULES = " ".join(f"Rule {n}: never promise the customer thing number {n * n}." for n in range(40))
CLOCK = f"Now {{{{ now() }}}}. You are the support agent of a small shop. {RULES}\n"
ELSEWHERE = f"Now {{{{ now() }}}}. You translate contracts into formal French. {RULES[::-1]}\n"
LAST_WEEK = datetime.now(UTC) - timedelta(days=7)
WEEK = f"{LAST_WEEK:%G-W%V}"


@pytest.fixture
def project(folder: Path) -> Path:
    """Two templates with the same fault; last week's traffic shows one of them."""
    (folder / "prompts").mkdir()
    (folder / "prompts" / "seen.j2").write_text(CLOCK)
    (folder / "prompts" / "unseen.j2").write_text(ELSEWHERE)
    write_prices(folder)
    store = folder / "store"
    missed = {"reported_hit_tokens": 0, "divergence_rule": "KV101", "divergence_path": "system"}
    write(store, "exchanges", [record(name, LAST_WEEK, **missed) for name in ("a", "b")])
    text = CLOCK.replace("{{ now() }}", "10:31:07")
    row = {"prompt_group": "g1", "updated_at": LAST_WEEK, "sketch": list(sketch(text, load_key(store)))}
    write(store, "groups", [row])
    return folder


def check(run: Run, *args: str) -> Any:
    return run("check", "prompts", "--isolated", "--no-cache", "--traffic", "store", *args)


def costs(ran: Any) -> dict[str, Any]:
    return {Path(f["path"]).name: f["cost"] for f in json.loads(ran.out)["findings"]}


def test_json_prices_the_finding_that_traffic_shows_and_leaves_the_other_without_a_price(
    project: Path, run: Run
) -> None:
    ran = check(run, "--prices", "prices.toml", "--output-format", "json")

    told = costs(ran)
    assert ran.status == 1
    assert told["unseen.j2"] is None
    # two requests missed 900 tokens each, at 10 instead of 1 USD per million
    cost = told["seen.j2"]
    assert (cost["tokens"], cost["requests"], cost["week"]) == (1800, 2, WEEK)
    assert cost["usd"] == pytest.approx(0.0162)
    assert cost["price"] == "written for the tests, 2026-11-01"
    assert f"1 of 2 findings cost something in {WEEK}; the others lie in no recorded prompt" in ran.err


def test_text_tells_the_money_below_the_finding(project: Path, run: Run) -> None:
    ran = check(run, "--prices", "prices.toml")

    assert ran.out.count("= cost in ") == 1
    assert f"= cost in {WEEK}: $0.02, 1,800 tokens in 2 requests (estimated)" in ran.out


def test_the_last_price_file_goes_first(project: Path, run: Run) -> None:
    text = (project / "prices.toml").read_text().replace("input_usd_per_mtok = 10", "input_usd_per_mtok = 101")
    (project / "dear.toml").write_text(text)

    ran = check(run, "--prices", "prices.toml", "--prices", "dear.toml", "--output-format", "json")

    assert costs(ran)["seen.j2"]["usd"] == pytest.approx(0.18)


def test_without_a_price_the_tokens_are_told(project: Path, run: Run) -> None:
    assert f"= cost in {WEEK}: no known price, 1,800 tokens in 2 requests" in check(run).out


def test_another_week_is_named(project: Path, run: Run) -> None:
    ran = check(run, "--week", "this")

    assert "= cost in" not in ran.out
    assert "--traffic: No requests were recorded in" in ran.err
    assert f"The store holds requests of {LAST_WEEK:%Y-%m-%d} (UTC)." in ran.err


def _gone(store: Path) -> None:
    shutil.rmtree(store)


def _empty(store: Path) -> None:
    shutil.rmtree(store)
    store.mkdir()


def _without_key(store: Path) -> None:
    (store / "hash.key").unlink()


def _all_corrupt(store: Path) -> None:
    for path in store.glob("exchanges/*/*/*.parquet"):
        path.write_bytes(b"PAR1 no more")


def _one_corrupt(store: Path) -> None:
    (path,) = store.glob("exchanges/*/*/*.parquet")
    path.with_name("bad-000000.parquet").write_bytes(path.read_bytes()[:200])


def _corrupt_inside(store: Path) -> None:
    rows = [record(f"bad{number}", LAST_WEEK, route=f"/{number}") for number in range(200)]
    (path,) = write(store, "exchanges", rows, "bad-000000")
    data = bytearray(path.read_bytes())
    data[4:1200] = b"\xff" * 1196
    path.write_bytes(bytes(data))


def _corrupt_live(store: Path) -> None:
    (store / "live").mkdir()
    (store / "live" / "x.sqlite").write_bytes(b"no database")


@pytest.mark.parametrize(
    ("damage", "status", "says", "priced"),
    [
        (_gone, 2, "--traffic store is no folder: give the folder that the proxy writes its records to", None),
        (_empty, 1, f"--traffic: No requests were recorded in {WEEK}: the store holds none.\n", 0),
        (_without_key, 1, "the store has no hash.key, so its prompts cannot be matched with source", 0),
        (_all_corrupt, 1, "left out: 1 exchanges file: cannot be read as Parquet", 0),
        (_one_corrupt, 1, "left out: 1 exchanges file: cannot be read as Parquet: bad-000000.parquet", 1),
        (_corrupt_inside, 1, "left out: 1 exchanges file: cannot be read as Parquet: bad-000000.parquet", 1),
        (_corrupt_live, 1, "x.sqlite cannot be read", 1),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else "",
)
def test_a_store_that_is_not_whole_is_told_in_a_sentence(
    project: Path, run: Run, damage: Callable[[Path], None], status: int, says: str, priced: int | None
) -> None:
    damage(project / "store")

    ran = check(run, "--prices", "prices.toml")

    assert ran.status == status
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert priced is None or ran.out.count("= cost in ") == priced
    assert (project / "store").exists() is (damage is not _gone)
    assert (project / "store" / "hash.key").exists() is (damage not in {_gone, _empty, _without_key})


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--prices", "gone.toml"), "gone.toml"),
        (("--prices", "prompts/seen.j2"), "seen.j2"),
        (("--week", "soon"), "--week 'soon' is no week"),
        (("--week", "2026-W54"), "the year 2026 has no week 54"),
    ],
)
def test_an_option_that_is_wrong_is_explained(project: Path, run: Run, args: tuple[str, ...], says: str) -> None:
    ran = check(run, *args)

    assert (ran.status, ran.out) == (2, "")
    assert says in ran.err


def test_prices_want_a_store(project: Path, run: Run) -> None:
    ran = run("check", "prompts", "--prices", "prices.toml")

    assert ran.status == 2
    assert "--prices is for --traffic" in ran.err
