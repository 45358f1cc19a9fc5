"""`promptlint report` as a user meets it: what is wrong is said in a sentence, and budgets of every size are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from report_traffic import at, record, write, write_prices

Run = Callable[..., Any]


@pytest.fixture
def store(folder: Path) -> Path:
    write(folder / "store", "exchanges", [record("x", at(0))])
    write_prices(folder)
    (folder / "file").write_text("no folder")
    return folder / "store"


WRONG = [
    (("--store", "gone"), "gone is no folder: give the folder that the proxy writes to (--store)"),
    (("--store", "file"), "file is no folder: give the folder that the proxy writes to (--store)"),
    (("--budget", "-5"), "-5.0 is not in the range x>=0"),
    (("--budget", "much"), "'much' is not a valid float"),
    (("--budget", "nan"), "'nan' is not a finite number"),
    (("--budget", "inf"), "'inf' is not a finite number"),
    (("--week", "2026-W54"), "--week 2026-W54: the year 2026 has no week 54"),
    (("--week", "someday"), "--week 'someday' is no week: write it as 2026-W48, last, this or a date of it"),
    (("--week", "9999-W52"), "--week 9999-W52: the year is none from 1971 to 9990"),
    (("--timezone", "Mars"), "--timezone 'Mars' is no time zone; use a name like Europe/Rome or UTC"),
    (("--prices", "gone.toml"), "--prices gone.toml cannot be read: No such file or directory"),
    (("--source", "gone"), "'gone' does not exist"),
    (("--top", "0"), "0 is not in the range x>=1"),
    (("--format", "pdf"), "'pdf' is not one of"),
]


@pytest.mark.parametrize(("args", "says"), WRONG, ids=[" ".join(case[0]) for case in WRONG])
def test_an_option_that_is_wrong_is_explained(store: Path, run: Run, args: tuple[str, ...], says: str) -> None:
    ran = run("report", "--store", "store", "--week", "2026-W48", *args)

    assert (ran.status, ran.out) == (2, "")
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert not Path("gone").exists()


def test_an_output_that_cannot_be_written_is_explained(store: Path, run: Run) -> None:
    ran = run("report", "--store", "store", "--week", "2026-W48", "--output", "gone/report.md")

    assert (ran.status, ran.out) == (2, "")
    assert "--output gone/report.md cannot be written: No such file or directory" in ran.err


# the request cost 0.0096 USD
@pytest.mark.parametrize(
    ("budget", "used", "note"),
    [("0", None, "over the budget"), ("0.0048", 2.0, "over the budget"), ("0.0096", 1.0, ""), ("96", 0.0001, "")],
)
def test_a_budget_is_told_with_what_is_used_of_it(
    store: Path, run: Run, budget: str, used: float | None, note: str
) -> None:
    wanted = ("--prices", "prices.toml", "--format", "json", "--budget", budget)
    ran = run("report", "--store", "store", "--week", "2026-W48", *wanted)

    figures = {figure["id"]: figure for section in json.loads(ran.out)["sections"] for figure in section["figures"]}
    assert figures["budget"]["value"] == float(budget)
    assert figures["budget_used"]["value"] == (used if used is None else pytest.approx(used))
    assert figures["budget_used"]["note"] == note


def test_a_week_without_requests_says_which_days_have_some(store: Path, run: Run) -> None:
    ran = run("report", "--store", "store", "--week", "2026-W20", "--format", "markdown")

    assert ran.status == 0
    assert "No requests were recorded in 2026-W20. The store holds requests of 2026-11-23 (UTC)." in ran.out
