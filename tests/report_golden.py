"""A written week of traffic, 2026-W48 in UTC, small enough to compute every figure by hand.

Prices in USD per million tokens: input 10, read 1, write 12.5 (five minutes) or 20 (an hour), output 50.
One token of input costs 10 micro-dollars (µ$).

| id | group | prompt | read | written | computed | output | best | rule | cost in µ$ |
|----|-------|-------:|-----:|--------:|---------:|-------:|-----:|------|------------|
| A1 | g1 | 1000 |    0 |    0 | 1000 | 100 |  900 | KV101 | 10,000 + 5,000 = 15,000 |
| A2 | g1 | 2000 | 1500 |    0 |  500 | 200 | 1800 |       | 5,000 + 1,500 + 10,000 = 16,500 |
| A3 | g2 | 4000 |    0 | 1000 | 3000 | 400 | 3000 | KV301 | 30,000 + 600 x 12.5 + 400 x 20 + 20,000 = 65,500 |
| A4 | g2 | 4000 |      |      |      |     | 3000 |       | failed with 529 and no usage: not billed |
| A5 | g2 | 4000 | 3000 |    0 | 1000 | 100 | 3000 |       | 10,000 + 3,000 + 5,000 = 18,000 (retry of A4) |
| A6 | g3 |  500 |    ? |      |  500 |   ? |    ? |       | model without a price |
| A7 | g1 | 1000 |  600 |      |  400 |   ? |  900 | expired | 4,000 + 600 = 4,600 (prompt and hit estimated) |
| B1 | g1 | 1000 |    0 |    0 | 1000 | 100 |  900 | KV101 | last week: 15,000 |
| B2 | g2 | 2000 |  500 |    0 | 1500 | 100 | 1000 | KV105 | last week: 15,000 + 500 + 5,000 = 20,500 |
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from report_traffic import Record, at, record, write, write_prices

from promptlint_core.histogram import histogram_of, packed
from promptlint_core.sketch import sketch
from promptlint_proxy.records.keys import load_key
from promptlint_report.make import Asked
from promptlint_report.material import Options
from promptlint_report.period import find_period, zone

NOW = datetime(2026, 12, 1, 8, tzinfo=UTC)
"""After the week, so that nothing is projected."""
_UNKNOWN = {"reported_hit_tokens": None, "written_tokens": None, "computed_tokens": None}
TEMPLATE = "You are the support agent of a small shop. Answer in two sentences and name the order."


def exchanges() -> list[Record]:
    quiet = {"ttft_s": None, "itl_histogram": None}
    return [
        record(
            "A1",
            at(0, 9),
            reported_hit_tokens=0,
            predicted_hit_tokens=0,
            divergence_rule="KV101",
            divergence_path="system",
            ttft_s=0.5,
            itl_histogram=packed(histogram_of([0.02] * 99)),
            kv_bytes=1_000_000,
            kv_in_flight_bytes=5_000_000_000,
            kv_pool_bytes=4_000_000_000,
            block_size=100,
            block_hashes=[1, 2],
        ),
        record(
            "A2",
            at(0, 9, 30),
            sidecar="b",
            prompt_tokens=2000,
            reported_hit_tokens=1500,
            predicted_hit_tokens=1600,
            best_hit_tokens=1800,
            output_tokens=200,
            ttft_s=0.1,
            itl_histogram=histogram_of([0.2]),
            retrieved_tokens=500,
            retrieved_passages=5,
            kv_bytes=3_000_000,
            kv_in_flight_bytes=3_000_000_000,
            kv_pool_bytes=4_000_000_000,
            block_size=100,
            block_hashes=[1, 2, 3],
        ),
        record(
            "A3",
            at(1),
            prompt_group="g2",
            team="sales",
            route="/sum",
            prompt_tokens=4000,
            reported_hit_tokens=0,
            predicted_hit_tokens=0,
            written_tokens=1000,
            written_5m_tokens=600,
            written_1h_tokens=400,
            best_hit_tokens=3000,
            output_tokens=400,
            output_bound=None,
            finish_reason="length",
            divergence_rule="KV301",
            divergence_path="messages[0].content",
            ttft_s=1.0,
            itl_histogram=None,
        ),
        record(
            "A4",
            at(2, 10),
            prompt_group="g2",
            team="sales",
            route="/sum",
            status=529,
            error="overloaded_error",
            finish_reason=None,
            prompt_tokens=4000,
            prompt_tokens_source="estimated",
            predicted_hit_tokens=None,
            best_hit_tokens=3000,
            output_tokens=None,
            output_tokens_source=None,
            output_bound=None,
            **_UNKNOWN,
            **quiet,
        ),
        record(
            "A5",
            at(2, 10, 1),
            prompt_group="g2",
            team="sales",
            route="/sum",
            retry_of="A4",
            prompt_tokens=4000,
            reported_hit_tokens=3000,
            predicted_hit_tokens=3200,
            best_hit_tokens=3000,
            output_bound=None,
            ttft_s=0.2,
            itl_histogram=None,
        ),
        record(
            "A6",
            at(3),
            prompt_group="g3",
            model="mystery",
            prompt_tokens=500,
            prompt_tokens_source="estimated",
            predicted_hit_tokens=None,
            best_hit_tokens=None,
            output_tokens=None,
            output_tokens_source=None,
            **_UNKNOWN,
            **quiet,
        ),
        record(
            "A7",
            at(6, 23, 59, 59),
            prompt_tokens_source="estimated",
            predicted_hit_tokens=600,
            output_tokens=None,
            output_tokens_source=None,
            expired=True,
            idle_s=400.0,
            ttft_s=4.0,
            itl_histogram=None,
            **_UNKNOWN,
        ),
        record(
            "B1",
            at(-7),
            reported_hit_tokens=0,
            predicted_hit_tokens=0,
            divergence_rule="KV101",
            divergence_path="system",
        ),
        record(
            "B2",
            at(-1, 23, 59, 59),
            prompt_group="g2",
            prompt_tokens=2000,
            reported_hit_tokens=500,
            best_hit_tokens=1000,
            divergence_rule="KV105",
            divergence_path="system",
        ),
    ]


def findings() -> list[Record]:
    found = [("A1", at(0, 9), "KV101", "g1"), ("A1", at(0, 9), "KV101", "g1"), ("A3", at(1), "KV301", "g2")]
    found.append(("B1", at(-7), "KV101", "g1"))
    return [
        {"exchange_id": name, "started_at": moment, "rule": rule, "prompt_group": group, "path": "system"}
        for name, moment, rule, group in found
    ]


def write_week(folder: Path) -> Path:
    """The store of the week, sealed by two sidecars, with the groups that its prompts are of."""
    store = folder / "store"
    rows = exchanges()
    write(store, "exchanges", rows[::2], "a-000000")
    write(store, "exchanges", rows[1::2], "b-000000")
    write(store, "findings", findings())
    strip = [
        {"part": "system", "path": "system", "cadence": "call", "origin": "clock", "tokens": 20},
        {"part": "system", "path": "system", "cadence": "fixed", "origin": "literal", "tokens": 480},
        {"part": "messages", "path": "messages", "cadence": "append", "origin": "history", "tokens": 300},
    ]
    group = {"prompt_group": "g1", "updated_at": at(0), "provider": "openai", "model": "test-model"}
    text = f"Now 10:31:07. {TEMPLATE} The customer asks where the parcel is."
    row = {**group, "strip": json.dumps(strip), "sketch": list(sketch(text, load_key(store)))}
    write(store, "groups", [{**row, "updated_at": at(-3), "strip": "[]", "sketch": []}, row])
    return store


def asked(folder: Path, **changes: object) -> Asked:
    values: dict[str, object] = {
        "store": write_week(folder),
        "period": find_period("2026-W48", zone("UTC"), NOW),
        "options": Options(now=NOW, budget_usd=0.1, min_requests=1),
        "price_files": (write_prices(folder),),
    }
    return Asked(**{**values, **changes})  # type: ignore[arg-type]
