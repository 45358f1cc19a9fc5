"""`promptlint simulate` and block traces in `promptlint replay`: whole runs through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from promptlint_cli.commands.replay import command as replay
from promptlint_cli.commands.simulate import command as simulate

TRACES = Path(__file__).parents[1] / "data" / "traces"
LOAD = [
    "--model",
    "Llama-3.1-8B",
    "--gpu",
    "H100",
    "--requests",
    "40",
    "--rate",
    "5",
    "--prompt",
    "800",
    "--output",
    "50",
]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(simulate, arguments)


def test_a_generated_load_is_told_in_text_and_chart() -> None:
    result = run(*LOAD, "--shared-prefix", "512", "--what-if", "gpu-more", "--chart", "-")

    assert result.exit_code == 0, result.output
    for word in ("40 generated requests", "as it is", "gpu-more", "TTFT p50", "KV pool  "):
        assert word in result.output


def test_json_is_one_document() -> None:
    told = json.loads(run(*LOAD, "--output-format", "json").output)

    assert told["deployment"]["gpu"] == "H100"
    assert told["runs"][0]["finished"] == 40


def test_a_trace_brings_its_own_block_size() -> None:
    trace = str(TRACES / "mooncake-conversation.jsonl.gz")
    model = ["--model", "Llama-3.1-8B", "--gpu", "H200", "--replicas", "2"]
    told = json.loads(run(trace, *model, "--requests", "200", "--output-format", "json").output)

    assert told["deployment"]["block_size"] == 512
    assert told["workload"]["requests"] == told["runs"][0]["finished"] == 200
    assert told["runs"][0]["simulated_hit_rate"] > 0


REFUSED = {
    "a load without its lengths": (["--model", "Llama-3.1-8B", "--gpu", "H100"], "--rate, --prompt, --output"),
    "calibration without measured times": ([*LOAD, "--calibrate"], "no measured times"),
    "another block size than the trace's": (
        [str(TRACES / "mooncake-conversation.jsonl.gz"), *LOAD[:4], "--block-size", "16"],
        "--block-size 512",
    ),
}


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_simulated_is_said(arguments: list[str], sentence: str) -> None:
    result = run(*arguments)

    assert result.exit_code != 0
    assert sentence in result.output + str(result.exception)


def test_replay_tells_hit_tables_of_block_traces(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    row = {"timestamp": 0, "input_length": 1024, "output_length": 1, "hash_ids": [1, 2]}
    path.write_text("\n".join([json.dumps(row)] * 3))
    result = CliRunner().invoke(replay, [str(path), "--capacity", "1k,2k", "--output-format", "json"])
    rows = json.loads(result.output)["block_trace"]["rows"]

    assert [(row["capacity_blocks"], row["hit_blocks"]) for row in rows if row["policy"] == "lru"] == [(1, 0), (3, 4)]
