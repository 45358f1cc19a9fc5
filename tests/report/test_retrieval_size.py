"""Retrieval size by prompt group: only prompts that hold retrieved text count, and unknown is no zero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from report_golden import NOW
from report_traffic import Record, at, record, write, write_prices

from promptlint_report.document import Report
from promptlint_report.make import Asked, make_report
from promptlint_report.material import Options
from promptlint_report.period import find_period, zone
from promptlint_report.render import render

NAMES = ("retrieved_requests", "retrieved_mean", "retrieved_max", "retrieved_share", "passages_mean", "passages_max")


def found(tokens: int | None, passages: int | None, **values: Any) -> dict[str, Any]:
    return {"retrieved_tokens": tokens, "retrieved_passages": passages, **values}


def report_of(folder: Path, rows: list[Record]) -> Report:
    write(folder / "store", "exchanges", rows)
    period = find_period("2026-W48", zone("UTC"), NOW)
    return make_report(Asked(folder / "store", period, Options(now=NOW, min_requests=1), (write_prices(folder),)))


# what the prompts of a group hold, in prompts of 1,000 tokens -> the line of the table
CASES: list[tuple[str, list[dict[str, Any]], tuple[Any, ...] | None]] = [
    ("no prompt was looked at", [found(None, None)], None),
    ("no retrieved text", [found(0, 0), found(0, 0)], None),
    ("one prompt", [found(500, 5)], (1, 500, 500, 0.5, 5, 5)),
    ("one among prompts without", [found(500, 5), found(0, 0), found(None, None)], (1, 500, 500, 0.5, 5, 5)),
    ("many", [found(200, 2), found(400, 4), found(600, 9)], (3, 400, 600, 0.4, 5, 9)),
    ("passages that were not counted", [found(300, None)], (1, 300, 300, 0.3, None, None)),
    ("passages counted in one of two", [found(300, None), found(300, 4)], (2, 300, 300, 0.3, 4, 4)),
    ("the whole prompt", [found(1000, 1)], (1, 1000, 1000, 1.0, 1, 1)),
    ("a prompt of unknown size", [found(300, 3, prompt_tokens=None)], (1, 300, 300, None, 3, 3)),
    ("a failed request is not billed", [found(300, 3, status=500, prompt_tokens_source="estimated")], None),
]


@pytest.fixture(scope="module")
def of_cases(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """One week in which each case is a prompt group of its own."""
    rows = [
        record(f"{name} {number}", at(0, 9, number), prompt_group=name, **values)
        for name, prompts, _ in CASES
        for number, values in enumerate(prompts)
    ]
    return report_of(tmp_path_factory.mktemp("cases"), rows)


@pytest.mark.parametrize(("name", "line"), [(case[0], case[2]) for case in CASES], ids=[case[0] for case in CASES])
def test_the_line_of_a_group(of_cases: Report, name: str, line: tuple[Any, ...] | None) -> None:
    table = of_cases.table("retrieval")

    assert [column.id for column in table.columns[1:]] == list(NAMES)
    expected = [] if line is None else [tuple(pytest.approx(cell) if cell else cell for cell in line)]
    assert [row[1:] for row in table.rows if row[0] == name] == expected


def test_a_week_in_which_nothing_was_retrieved_has_no_table(tmp_path: Path) -> None:
    report = report_of(tmp_path, [record("x", at(0), **found(0, 0)), record("y", at(0), **found(None, None))])

    assert "Retrieval size" not in render(report, "markdown")


def test_groups_are_ordered_by_what_they_retrieve_and_last_week_is_no_part_of_them(tmp_path: Path) -> None:
    rows = [
        record("little", at(0), prompt_group="g1", **found(100, 1)),
        record("much", at(0), prompt_group="g2", **found(800, 8)),
        record("nameless", at(0), prompt_group=None, **found(200, 2)),
        record("none", at(0), prompt_group="g4", **found(0, 0)),
        record("before", at(-3), prompt_group="g1", **found(900, 90)),
        record("gone", at(-3), prompt_group="g5", **found(900, 90)),
    ]

    report = report_of(tmp_path, rows)

    assert [(row[0], row[2], row[6]) for row in report.table("retrieval").rows] == [
        ("g2", 800, 8),
        ("(none)", 200, 2),
        ("g1", 100, 1),
    ]
    share = report.figure("retrieved_share")
    # 1,100 of 3,000 tokens this week, 1,800 of 2,000 the week before
    assert (share.value, share.before) == (pytest.approx(1100 / 3000), pytest.approx(0.9))


@pytest.mark.parametrize(("this", "last", "expected"), [(0, 500, (None, 0.5)), (500, 0, (0.5, None))])
def test_a_week_without_retrieval_has_no_share_and_no_zero(
    tmp_path: Path, this: int, last: int, expected: tuple[float | None, float | None]
) -> None:
    rows = [record("now", at(0), **found(this, 1)), record("before", at(-3), **found(last, 1))]

    share = report_of(tmp_path, rows).figure("retrieved_share")

    assert (share.value, share.before) == expected
