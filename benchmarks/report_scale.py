"""How long `promptlint report` takes over 1, 3 and 10 million records, and how much memory, on DuckDB.

Records are made inside DuckDB: two weeks of traffic of 200 prompt groups on 12 routes, of 8 teams with 5 models and 20
sidecars, each with 12 block hashes and a histogram of 30 to 60 inter-token gaps, sealed by the hour.

    python benchmarks/report_scale.py [RECORDS …] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

HOURS = 14 * 24
FIRST_S = 1_794_787_200
"""2026-11-16 00:00 UTC, a Monday."""
WEEK = "2026-W48"
LIMIT_S = 20.0
LIMIT_BYTES = 2 * 1024**3

_ROW = """
    md5(i::VARCHAR) AS exchange_id,
    'sidecar-' || i % 20 AS sidecar,
    to_timestamp({first} + hour * 3600 + (i % 3600) + (i % 1000) / 1000.0) AS started_at,
    CASE WHEN i % 10 = 0 THEN 'staging' ELSE 'production' END AS environment,
    'team-' || h % 200 % 8 AS team,
    '/route-' || h % 200 % 12 AS route,
    CASE WHEN h % 5 < 3 THEN 'openai' ELSE 'anthropic' END AS provider,
    'chat' AS api,
    ['gpt-4o', 'gpt-5.1', 'gpt-4.1-mini', 'claude-sonnet-4-5', 'claude-haiku-4-5'][h % 5 + 1] AS model,
    NULL::VARCHAR AS served_model, NULL::VARCHAR AS served_by, NULL::VARCHAR AS service_tier,
    md5((h % 200)::VARCHAR)[:16] AS prompt_group,
    md5((h % 100000)::VARCHAR)[:16] AS line,
    i % 8 AS turn,
    CASE WHEN h % 97 = 0 THEN 529 ELSE 200 END AS status,
    CASE WHEN h % 97 = 0 THEN 'overloaded_error' END AS error,
    CASE WHEN h % 31 = 0 THEN 'length' ELSE 'stop' END AS finish_reason,
    true AS stream, NULL::VARCHAR AS retry_of,
    prompt AS prompt_tokens, 'reported' AS prompt_tokens_source,
    prompt // 5 AS tools_tokens, prompt // 3 AS system_tokens, prompt - prompt // 5 - prompt // 3 AS messages_tokens,
    CASE WHEN h % 3 = 0 THEN prompt // 10 END AS retrieved_tokens,
    CASE WHEN h % 3 = 0 THEN h % 20 END AS retrieved_passages,
    prompt * (h % 10) // 10 AS predicted_hit_tokens,
    CASE WHEN h % 7 < 6 THEN prompt * (h % 10) // 10 END AS reported_hit_tokens,
    CASE WHEN h % 5 >= 3 THEN prompt // 20 ELSE 0 END AS written_tokens,
    CASE WHEN h % 5 >= 3 THEN prompt // 20 ELSE 0 END AS written_5m_tokens, 0 AS written_1h_tokens,
    NULL::BIGINT AS computed_tokens,
    prompt * 9 // 10 AS best_hit_tokens,
    h % 700 AS output_tokens, 'reported' AS output_tokens_source, NULL::BIGINT AS reasoning_tokens,
    CASE WHEN h % 4 = 0 THEN NULL ELSE 1024 END AS output_bound,
    CASE WHEN h % 10 < 5 THEN 'diverged' ELSE 'append-only' END AS verdict,
    CASE WHEN h % 10 < 5 THEN 'system' END AS divergence_path, 12 AS divergence_char,
    CASE WHEN h % 10 < 5 THEN 'clock' END AS divergence_origin,
    CASE WHEN h % 10 < 5 THEN ['KV101', 'KV105', 'KV301', 'KV201'][h % 4 + 1] END AS divergence_rule,
    prompt // 2 AS tokens_behind, (h % 9000)::DOUBLE AS idle_s, h % 50 = 7 AS expired,
    0.1 AS first_byte_s, 0.05 + (h % 4000) / 1000.0 AS ttft_s, 4.0 AS e2e_s,
    [-120 - (h % 20)::BIGINT, 1, 3, 0, 6, 9, 12, 7, 0, 4, 2, 1, (h % 15)::BIGINT] AS itl_histogram,
    prompt * 131072 AS kv_bytes, (h % 90)::BIGINT * 1000000000 AS kv_in_flight_bytes, 80000000000 AS kv_pool_bytes,
    128 AS block_size,
    [{blocks}] AS block_hashes,
    NULL::VARCHAR AS prompt_text, NULL::VARCHAR AS output_text
"""
_BLOCK = "(hash((h % {shared}) * 64 + {place}) >> 1)::BIGINT"


def make_store(store: Path, records: int) -> None:
    """A store of that many records, one Parquet file an hour."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'; SET memory_limit = '3GB'")
    # The first blocks are shared by many requests, the last by few, as prefixes are.
    blocks = ", ".join(_BLOCK.format(shared=200 * 2**place, place=place) for place in range(12))
    row = _ROW.format(first=FIRST_S, blocks=blocks)
    each = records // HOURS
    for hour in range(HOURS):
        count = each + (records - each * HOURS if hour == HOURS - 1 else 0)
        moment = time.gmtime(FIRST_S + hour * 3600)
        folder = store / "exchanges" / time.strftime("date=%Y-%m-%d", moment) / time.strftime("hour=%H", moment)
        folder.mkdir(parents=True, exist_ok=True)
        base = hour * each
        connection.execute(
            f"COPY (SELECT {row} FROM (SELECT {base} + n AS i, {hour} AS hour, (hash({base} + n) >> 2)::BIGINT AS h, "
            f"800 + (hash({base} + n) >> 3)::BIGINT % 6000 AS prompt FROM range({count}) t(n))) "
            f"TO '{folder}/bench-000000.parquet' (FORMAT parquet, COMPRESSION zstd)"
        )


_CHILD = """
import json, resource, sys, time
start = time.perf_counter()
from promptlint_cli.main import main
try:
    main(["report", "--store", sys.argv[1], "--week", sys.argv[2], "--format", "json", "--output", sys.argv[3]])
except SystemExit as end:
    assert end.code == 0, end.code
took = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"s": took, "cpu_s": used.ru_utime + used.ru_stime, "bytes": used.ru_maxrss * 1024}))
"""


def measure(store: Path, output: Path) -> dict[str, float]:
    """Seconds, processor seconds and peak resident bytes of one whole run, imports included.

    Raises RuntimeError when the report leaves records out: a report of nothing is quick.
    """
    command = [sys.executable, "-c", _CHILD, str(store), WEEK, str(output)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "TZ": "UTC"})
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    if left_out := json.loads(output.read_text())["left_out"]:
        raise RuntimeError(f"the report left out {left_out}")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="*", type=int, default=[1_000_000, 3_000_000, 10_000_000])
    parser.add_argument("--keep", type=Path, help="folder for the stores, kept and used again")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        base = asked.keep or Path(scratch)
        found: list[tuple[int, float]] = []
        for records in asked.records or [1_000_000]:
            store = base / f"store-{records}"
            if not store.exists():
                make_store(store, records)
            figures = measure(store, base / f"report-{records}.json")
            found.append((records, figures["s"]))
            fits = figures["s"] < LIMIT_S and figures["bytes"] < LIMIT_BYTES
            print(
                f"{records:>12,} records: {figures['s']:6.1f} s ({figures['cpu_s']:.1f} s of processor time), "
                f"{figures['bytes'] / 2**30:.2f} GiB"
                f" (limit {LIMIT_S:.0f} s, 2 GiB: {'kept' if fits else 'not kept'})",
                flush=True,
            )
        if len(found) > 1:
            (small, small_s), (large, large_s) = found[0], found[-1]
            print(f"{large / small:.1f} x the records take {large_s / small_s:.1f} x the time")


if __name__ == "__main__":
    main()
