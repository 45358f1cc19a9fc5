"""Every figure of a written week, computed by hand: see the table in `golden`."""

from __future__ import annotations

import pytest
from report_golden import asked

from promptlint_report.document import Cell, Report
from promptlint_report.make import make_report

# name: (this week, last week); money in USD, latencies within half a bucket
FIGURES: dict[str, tuple[Cell, Cell]] = {
    # 15,000 + 16,500 + 65,500 + 18,000 + 4,600 µ$; last week 15,000 + 20,500
    "spend": (0.1196, 0.0355),
    "projection_week": (0.1196, 0.0355),
    "projection_month": (0.1196 * 365.25 / 84, 0.0355 * 365.25 / 84),
    "budget": (0.1, None),
    "budget_used": (1.196, 0.355),
    "requests": (7, 2),
    # all but A4
    "prompt_tokens": (12_500, 3000),
    "output_tokens": (800, 200),
    # A1 900 + A2 300 + A3 3000 + A7 300
    "missed_tokens": (4500, 1400),
    # 900 x 9 + 300 x 9 + (2000 x 9 + 1000 x 11.5) + 300 x 9 µ$
    "missed_usd": (0.043, 0.0126),
    "missed_requests": (4, 2),
    "faults_new": (3, None),
    "faults_worse": (0, None),
    "faults_gone": (1, None),
    "faults_better": (0, None),
    # 1000 + 500 + 3000 + 1000 + 500 + 400
    "computed_tokens": (6400, 2500),
    "read_tokens": (5100, 500),
    "written_tokens": (1000, 0),
    # A1, A2, A3, A5 report: 4,500 of 11,000
    "reported_hit_rate": (4500 / 11_000, 500 / 3000),
    # A6 has no prediction: (0 + 1600 + 0 + 3200 + 600) of 12,000
    "predicted_hit_rate": (5400 / 12_000, 640 / 3000),
    "best_hit_rate": (9600 / 12_000, 1900 / 3000),
    # (1500 + 3000 + 600) x 9 - (600 x 2.5 + 400 x 10) µ$
    "saved": (0.0404, 0.0045),
    "write_surcharge": (0.0055, 0.0),
    "write_amplification": (1000 / 5100, 0.0),
    # A3 and A5; A4 failed
    "unbounded_requests": (2, 0),
    "unbounded_share": (2 / 6, 0.0),
    "unbounded_output": (500, 0),
    "unbounded_usd": (0.025, 0.0),
    "unbounded_max": (400, None),
    "cut_off": (1, 0),
    "prompt_mean": (12_500 / 6, 1500.0),
    "prompt_max": (4000, 2000),
    "retrieved_share": (0.25, None),
    # of 0.1, 0.2, 0.5, 1.0, 4.0
    "ttft_p50": (0.5, 0.2),
    "ttft_p95": (4.0, 0.2),
    "ttft_p99": (4.0, 0.2),
    "ttft_within": (0.8, 1.0),
    # 99 gaps of 20 ms and one of 200 ms
    "itl_p50": (0.02, 0.02),
    "itl_p95": (0.02, 0.02),
    "itl_p99": (0.02, 0.02),
    "itl_within": (0.99, 1.0),
    "kv_mean": (2_000_000.0, None),
    "kv_max": (3_000_000, None),
    "kv_in_flight_max": (5_000_000_000, None),
    "kv_pool": (4_000_000_000, None),
    "preemption_risk": (0.5, None),
    "failed": (1, 0),
    "failed_share": (1 / 7, 0.0),
    "retries": (1, 0),
    "retry_tokens": (4000, 0),
    "anomalies": (0, None),
    # five blocks, of which A2's first two were touched half an hour before, by the other sidecar
    "fleet_hit_rate_1h": (0.4, None),
    "fleet_hit_rate_unlimited": (0.4, None),
    "sidecar_hit_rate_1h": (0.0, None),
    "sidecar_hit_rate_unlimited": (0.0, None),
}
LATENCIES = {name for name in FIGURES if name.startswith(("ttft_p", "itl_p"))}

# table: {first cells of a row: (column, value), …}
TABLES: dict[str, dict[tuple[str, ...], dict[str, Cell]]] = {
    "spend_by_model": {
        ("test-model",): {"spend": 0.1196, "spend_last_week": 0.0355, "requests": 6, "missed_usd": 0.043},
        ("mystery",): {"spend": None, "prompt_tokens": 500, "output_tokens": None, "hit_rate": None},
    },
    "spend_by_team": {
        ("sales",): {"spend": 0.0835, "requests": 3, "output_tokens": 500},
        ("support",): {"spend": 0.0361, "spend_last_week": 0.0355, "requests": 4},
    },
    "spend_by_route": {("/sum",): {"spend": 0.0835}, ("/chat",): {"spend": 0.0361}},
    "spend_by_environment": {("production",): {"spend": 0.1196}},
    "spend_by_prompt_group": {("g2",): {"spend": 0.0835}, ("g1",): {"spend": 0.0361}, ("g3",): {"spend": None}},
    "route_pareto": {
        ("/sum",): {"spend_share": 0.0835 / 0.1196, "spend_running_share": 0.0835 / 0.1196},
        ("/chat",): {"spend_running_share": 1.0},
    },
    "unpriced": {("openai", "mystery"): {"requests": 1, "prompt_tokens": 500}},
    "missed": {
        ("g2", "KV301", "messages[0].content"): {"missed_usd": 0.0295, "missed_tokens": 3000, "missed_requests": 1},
        ("g1", "KV101", "system"): {"missed_usd": 0.0081, "missed_tokens": 900},
        ("g1", "(unnamed)"): {"missed_usd": 0.0027, "missed_tokens": 300},
        ("g1", "KV405"): {"missed_usd": 0.0027, "missed_tokens": 300},
    },
    "fault_changes": {
        ("new", "g2", "KV301"): {"missed_tokens": 3000, "missed_tokens_last_week": 0},
        ("gone", "g2", "KV105"): {"missed_tokens": 0, "missed_usd_last_week": 0.0045},
    },
    "findings": {("KV101",): {"findings": 1, "findings_last_week": 1}, ("KV301",): {"findings": 1}},
    "input_split": {("test-model",): {"computed_tokens": 5900, "read_tokens": 5100, "written_tokens": 1000}},
    "writes": {("g2",): {"written_1h_tokens": 400, "write_amplification": 1 / 3, "write_surcharge": 0.0055}},
    "expiry": {("g1",): {"expired_requests": 1, "expired_tokens": 300, "gap_up_to_1h": 1, "gap_median": 600.0}},
    "unbounded": {("/sum", "g2"): {"unbounded_requests": 2, "unbounded_mean": 250.0, "unbounded_max": 400}},
    "retrieval": {("g1",): {"retrieved_mean": 500.0, "passages_mean": 5.0, "retrieved_share": 0.25}},
    "ttft_by_hit": {("hit",): {"ttft_samples": 3}, ("miss",): {"ttft_samples": 2}},
    "itl_by_hit": {("hit",): {"itl_samples": 1}, ("miss",): {"itl_samples": 99}},
    "kv_by_model": {("test-model",): {"kv_mean": 2_000_000.0, "preemption_risk": 0.5}},
    "errors": {("/sum", "529", "overloaded_error"): {"failed": 1}},
    "fleet_by_life": {("5 minutes",): {"fleet_hit_rate": 0.0}, ("30 minutes",): {"fleet_hit_rate": 0.4}},
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return make_report(asked(tmp_path_factory.mktemp("golden")))


def test_every_figure_of_the_report_is_in_the_table(report: Report) -> None:
    assert set(FIGURES) == {figure.id for _, figure in report.figures()}


@pytest.mark.parametrize("name", FIGURES)
def test_the_figure_is_what_the_hand_computes(report: Report, name: str) -> None:
    expected, before = FIGURES[name]
    figure = report.figure(name)
    close = 0.021 if name in LATENCIES else 1e-9

    assert (expected, before) == (
        pytest.approx(figure.value, rel=close) if figure.value is not None else None,
        pytest.approx(figure.before, rel=close) if figure.before is not None else None,
    )


@pytest.mark.parametrize("name", TABLES)
def test_the_row_is_what_the_hand_computes(report: Report, name: str) -> None:
    table = report.table(name)
    columns = [column.id for column in table.columns]
    for start, cells in TABLES[name].items():
        (row,) = [row for row in table.rows if row[: len(start)] == start]
        for column, expected in cells.items():
            value = row[columns.index(column)]

            assert expected == (pytest.approx(value) if value is not None else None), (start, column)


BASES = {
    "spend": "mixed",
    "prompt_tokens": "mixed",
    "output_tokens": "reported",
    "missed_usd": "estimated",
    "reported_hit_rate": "reported",
    "predicted_hit_rate": "estimated",
    "kv_max": "estimated",
    "ttft_p99": "reported",
}


@pytest.mark.parametrize("name", BASES)
def test_reported_and_estimated_numbers_are_told_apart(report: Report, name: str) -> None:
    assert BASES[name] == str(report.figure(name).basis)


def test_each_figure_in_money_names_price_source_and_date(report: Report) -> None:
    unsaid = [figure.id for _, figure in report.figures() if figure.unit == "usd" and "written for" not in figure.price]

    assert unsaid == ["budget"]
    assert "2026-11-01" in report.figure("spend").price


def test_the_strip_of_the_newest_row_of_a_group_is_drawn(report: Report) -> None:
    (strip,) = [strip for section in report.sections for strip in section.strips]

    assert ["call", "fixed", "append"] == [segment.cadence for segment in strip.segments]
