"""A change is told with its day and size; noise and steady growth are not changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from report_golden import asked
from report_traffic import at, record, write

from promptlint_report.make import make_report
from promptlint_report.trend import change_point, slope_a_day

SERIES = [
    ("a step up", [100, 101, 99, 100, 150, 151, 149], (4, 1.5), 9.6),
    ("a step down", [200, 201, 199, 120, 119, 121], (3, 0.6), -20),
    ("noise", [100, 110, 95, 104, 99, 107], None, 0),
    ("steady growth is a trend and no change", [100, 110, 120, 130, 140, 150, 160], None, 10),
    ("one odd day", [100, 101, 300, 100, 99, 101], None, 0),
    ("a small step", [1000, 1001, 999, 1020, 1021, 1019], None, 4.5),
    ("three days are too few", [100, 100, 200], None, None),
]


@pytest.mark.parametrize(("values", "change", "slope"), [row[1:] for row in SERIES], ids=[row[0] for row in SERIES])
def test_change_and_trend(values: list[float], change: tuple[int, float] | None, slope: float | None) -> None:
    points = [(day, float(value)) for day, value in enumerate(values)]

    found = change_point(points)
    assert change == (found and (found.day, pytest.approx(found.after / found.before, rel=0.02)))
    told = slope_a_day(points)
    assert slope == (told if told is None else pytest.approx(told, abs=2.1))


def test_a_prompt_that_grew_names_day_size_and_part(tmp_path: Path) -> None:
    store = tmp_path / "grown"
    rows = [
        record(
            f"{day}-{n}",
            at(day, 9 + n),
            prompt_tokens=1000 if day < 2 else 1500,
            tools_tokens=200 if day < 2 else 650,
            system_tokens=500 if day < 2 else 550,
        )
        for day in range(-7, 7)
        for n in range(3)
    ]
    write(store, "exchanges", rows)

    table = make_report(asked(tmp_path, store=store)).table("prompt_growth")

    columns = [column.id for column in table.columns]
    row = dict(zip(columns, table.rows[0], strict=True))
    assert ("2026-11-25", pytest.approx(0.5), "tools (+450 tokens)") == (
        row["change_day"],
        row["change_share"],
        row["change_part"],
    )


def test_an_unusual_day_is_an_anomaly_only_with_enough_requests(tmp_path: Path) -> None:
    store = tmp_path / "odd"
    rows = [
        record(
            f"{group}-{day}-{n}", at(day, 9, n), prompt_group=group, output_tokens=900 if day == 6 else 100 + day % 3
        )
        for group, count in (("busy", 6), ("quiet", 2))
        for day in range(-7, 7)
        for n in range(count)
    ]
    write(store, "exchanges", rows)
    options = asked(tmp_path).options

    from dataclasses import replace

    report = make_report(asked(tmp_path, store=store, options=replace(options, min_requests=5)))

    found = {(row[0], row[1], row[2]) for row in report.table("anomaly").rows}
    assert ("2026-11-29", "busy", "mean output (tokens)") in found
    assert all(group == "busy" for _, group, _ in found)
