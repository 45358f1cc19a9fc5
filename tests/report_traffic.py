"""Writes small stores of traffic: complete records with fixed times; a test sets only what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from promptlint_core.histogram import histogram_of, packed
from promptlint_proxy.records.arrow import arrow_schema
from promptlint_proxy.records.seal import TIME_COLUMNS, partition, split_by_hour

MONDAY = datetime(2026, 11, 23, tzinfo=UTC)
"""The first moment of 2026-W48 in UTC."""

Record = dict[str, Any]


def at(day: int, hour: int = 12, minute: int = 0, second: int = 0) -> datetime:
    """A moment of the week 2026-W48 by its day, from 0; negative days are of the weeks before."""
    return MONDAY + timedelta(days=day, hours=hour, minutes=minute, seconds=second)


def record(exchange_id: str, started_at: datetime, **values: Any) -> Record:
    """One exchange of 1,000 prompt tokens, of which 600 were read, with 100 output tokens, all reported."""
    usual: Record = {
        "exchange_id": exchange_id,
        "sidecar": "a",
        "started_at": started_at,
        "environment": "production",
        "team": "support",
        "route": "/chat",
        "provider": "openai",
        "api": "chat",
        "model": "test-model",
        "served_model": None,
        "prompt_group": "g1",
        "line": "l1",
        "turn": 0,
        "status": 200,
        "finish_reason": "stop",
        "stream": True,
        "prompt_tokens": 1000,
        "prompt_tokens_source": "reported",
        "tools_tokens": 200,
        "system_tokens": 500,
        "messages_tokens": 300,
        "predicted_hit_tokens": 640,
        "reported_hit_tokens": 600,
        "written_tokens": 0,
        "computed_tokens": 400,
        "best_hit_tokens": 900,
        "output_tokens": 100,
        "output_tokens_source": "reported",
        "output_bound": 500,
        "verdict": "append-only",
        "first_byte_s": 0.1,
        "ttft_s": 0.2,
        "e2e_s": 2.0,
        "itl_histogram": packed(histogram_of([0.02] * 9)),
    }
    return {**usual, **values}


def write(store: Path, table: str, rows: Iterable[Mapping[str, Any]], name: str = "s1-000000") -> list[Path]:
    """Sealed Parquet files of some rows, where the proxy would put them."""
    listing: Sequence[Mapping[str, Any]] = list(rows)
    whole = pa.Table.from_pylist([dict(row) for row in listing], schema=arrow_schema(table))
    assert table in TIME_COLUMNS
    files = []
    for hour, of_hour in split_by_hour(table, whole):
        folder = partition(store, table, hour)
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(of_hour, folder / f"{name}.parquet", compression="zstd")
        files.append(folder / f"{name}.parquet")
    return files


PRICES = """
source = "written for the tests"
date = "2026-11-01"

[[price]]
model = "test-model"
input_usd_per_mtok = 10
read_usd_per_mtok = 1
write_5m_usd_per_mtok = 12.5
write_1h_usd_per_mtok = 20
output_usd_per_mtok = 50
"""


def write_prices(folder: Path, text: str = PRICES) -> Path:
    path = folder / "prices.toml"
    path.write_text(text)
    return path
