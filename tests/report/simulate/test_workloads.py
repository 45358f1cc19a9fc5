"""Where jobs come from: traces of four projects, generated loads, recorded traffic."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from promptlint_core.errors import PromptlintError
from promptlint_report.simulate.generate import Load, generated
from promptlint_report.simulate.traces import read_measured, read_trace
from promptlint_report.simulate.workload import Job

TRACES = Path(__file__).parents[2] / "data" / "traces"


def lines(*rows: dict[str, object]) -> str:
    return "\n".join(json.dumps(row) for row in rows)


TEXTS = {
    "Mooncake: milliseconds, 512 tokens an id, the partial block is no block": (
        lines(
            {"timestamp": 0, "input_length": 1100, "output_length": 7, "hash_ids": [1, 2, 3]},
            {"timestamp": 1500, "input_length": 512, "output_length": 0, "hash_ids": [1]},
        ),
        512,
        [Job(0, 0.0, 1100, 7, (1, 2)), Job(1, 1.5, 512, 1, (1,))],
    ),
    "Bailian: seconds, 16 tokens an id": (
        lines(
            {"chat_id": 1, "timestamp": 3.5, "input_length": 40, "output_length": 9, "hash_ids": [1, 2, 3]},
            {"chat_id": 2, "timestamp": 1.5, "input_length": 20, "output_length": 9, "hash_ids": [4, 5]},
        ),
        16,
        [Job(0, 0.0, 20, 9, (4,)), Job(1, 2.0, 40, 9, (1, 2))],
    ),
    "a stated block size reaches over the output": (
        lines({"timestamp": 0, "input_length": 20, "output_length": 20, "block_size": 16, "hash_ids": [1, 2]}),
        16,
        [Job(0, 0.0, 20, 20, (1, 2))],
    ),
    "Azure": (
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,1",
        16,
        [Job(0, 0.0, 374, 44), Job(1, 4.314579, 396, 1)],
    ),
    "Vidur: no times, one request a second": (
        "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n100,20,120,5\n90,10,100,9",
        16,
        [Job(0, 0.0, 100, 20), Job(1, 1.0, 90, 10)],
    ),
}


@pytest.mark.parametrize(("text", "block_size", "expected"), TEXTS.values(), ids=TEXTS.keys())
def test_traces_are_read(tmp_path: Path, text: str, block_size: int, expected: list[Job]) -> None:
    path = tmp_path / "trace"
    path.write_text(text + "\n")
    read = read_trace(path)

    assert read.block_size == block_size
    assert [job._replace(arrival_s=round(job.arrival_s, 6)) for job in read.jobs] == expected


def test_token_ids_become_chained_blocks(tmp_path: Path) -> None:
    row = {"input_toks": 40, "output_toks": 20, "arrival_time_ns": 5, "input_tok_ids": list(range(40))}
    path = tmp_path / "trace"
    path.write_text(lines({**row, "output_tok_ids": list(range(20))}, {**row, "output_tok_ids": [7] * 20}))
    one, other = read_trace(path).jobs

    assert (len(one.hashes), one.hashes[:2] == other.hashes[:2], one.hashes[2] == other.hashes[2]) == (3, True, False)


def test_measured_times_are_read() -> None:
    measured = read_measured(TRACES / "rtx4090-llama-3.1-8b-measured.jsonl.gz")

    assert len(measured) == 300
    assert sum(item.ttft_s or 0 for item in measured) / 300 == pytest.approx(65.46, abs=0.01)


BROKEN = {
    "nothing known": ("a,b\n1,2\n", "no trace that is known"),
    "a line that is no JSON": ('{"hash_ids": [1], "timestamp": 0, "input_length": 512, "output_length": 1}\nx\n', ":2"),
    "a missing field": ('{"hash_ids": [1], "timestamp": 0, "input_length": 512}\n', "lacks a field"),
    "empty": ("", "no trace that is known"),
    "ids that fit no size": (
        '{"hash_ids": [1, 2, 3], "timestamp": 0, "input_length": 5, "output_length": 1}\n',
        "cannot be told",
    ),
    "a size of a block that is none": (
        '{"hash_ids": [1], "timestamp": 0, "input_length": 5, "output_length": 1, "block_size": "x"}\n',
        "block_size is 'x'",
    ),
    "a block of less than nothing": (
        '{"hash_ids": [1], "timestamp": 0, "input_length": 5, "output_length": 1, "block_size": -4}\n',
        "block_size is -4",
    ),
    "no time": ('{"hash_ids": [1], "timestamp": NaN, "input_length": 500, "output_length": 1}\n', "nan is no time"),
    "ids that are none": (
        '{"hash_ids": [{}], "timestamp": 0, "input_length": 512, "output_length": 1}\n',
        "a list of ids",
    ),
    "fewer tokens than none": (
        "num_prefill_tokens,num_decode_tokens\n10,5\n-1,5\n",
        ":3 lacks a field .* -1 is no count",
    ),
    "more tokens than fit a float": (
        '{"input_toks": 1e999, "output_toks": 1, "arrival_time": 0}\n',
        ":1 lacks a field",
    ),
    "nested without end": ('{"hash_ids": ' + "[" * 100_000, "not JSON"),
}


UNREADABLE = {
    "not UTF-8": b"\xbf\xff",
    "no gzip behind its first bytes": b"\x1f\x8b" + b"x" * 50,
    "gzip that is cut off": gzip.compress(
        b'{"hash_ids": [1], "timestamp": 0, "input_length": 16, "output_length": 1}' * 9
    )[:40],
}


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_bytes_that_cannot_be_read_are_said(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "trace"
    path.write_bytes(data)

    with pytest.raises(PromptlintError, match=r"trace cannot be read: \S"):
        read_trace(path)


@pytest.mark.parametrize(("text", "sentence"), BROKEN.values(), ids=BROKEN.keys())
def test_what_cannot_be_read_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "trace"
    path.write_text(text)

    with pytest.raises(PromptlintError, match=sentence):
        read_trace(path)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(PromptlintError, match="cannot be read"):
        read_trace(tmp_path / "none")


def test_a_generated_load_keeps_its_means_and_its_seed() -> None:
    load = Load(4000, 10.0, 1000, 200, shared_prefix_tokens=640, seed=3)
    work = generated(load)

    assert work == generated(load)
    assert work.prompt_tokens / 4000 == pytest.approx(1000, rel=0.03)
    assert work.output_tokens / 4000 == pytest.approx(200, rel=0.03)
    assert work.jobs[-1].arrival_s == pytest.approx(400, rel=0.06)
    assert {len(job.hashes) for job in work.jobs} == {40}


def test_a_load_needs_a_prompt_longer_than_its_prefix() -> None:
    with pytest.raises(PromptlintError, match="shorter"):
        generated(Load(10, 1.0, 100, 10, shared_prefix_tokens=100))


def test_recorded_traffic_is_a_workload(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from promptlint_report.simulate.recorded import read_records

    write_store(tmp_path)
    work = read_records(tmp_path, model="m")

    assert [(job.prompt_tokens, job.output_tokens, job.group) for job in work.jobs] == [(100, 11, "g"), (120, 21, "g")]
    assert [job.arrival_s for job in work.jobs] == [0.0, 2.0]
    assert work.jobs[1].hashes == (5, 6, 7)
    assert work.measured[0].ttft_s == pytest.approx(0.2)
    assert work.measured[0].tpot_s == pytest.approx(0.1)
    assert work.best_hit_tokens == (None, 96)
    assert "left out" in work.notes[0]

    with pytest.raises(PromptlintError, match="models recorded"):
        read_records(tmp_path, model="other")


def write_store(store: Path) -> None:
    """Three finished exchanges of two models and one failed one, as the proxy's recorder writes them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from promptlint_proxy.records.arrow import arrow_schema

    schema = arrow_schema("exchanges")
    base = {
        "model": "m",
        "prompt_group": "g",
        "status": 200,
        "ttft_s": 0.2,
        "block_size": 32,
        "block_hashes": [5, 6, 7],
    }
    rows = [
        {
            **base,
            "started_at": 3_000_000,
            "prompt_tokens": 120,
            "output_tokens": 21,
            "e2e_s": 2.2,
            "best_hit_tokens": 96,
        },
        {**base, "started_at": 1_000_000, "prompt_tokens": 100, "output_tokens": 11, "e2e_s": 1.2},
        {**base, "started_at": 2_000_000, "prompt_tokens": 100, "output_tokens": None, "status": 529},
        {**base, "started_at": 2_000_000, "model": "other model", "prompt_tokens": 100, "output_tokens": 5},
    ]
    columns = [
        pa.array([row.get(field.name) for row in rows]).cast(field.type)
        if any(row.get(field.name) is not None for row in rows)
        else pa.nulls(len(rows), field.type)
        for field in schema
    ]
    folder = store / "exchanges" / "date=1970-01-01" / "hour=00"
    folder.mkdir(parents=True)
    pq.write_table(pa.table(columns, schema=schema), folder / "a.parquet")
