"""One run of everything: real clients, the proxy as it is started by hand, a simulated server, records at the end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from click.testing import CliRunner

from promptlint_cli.commands import top
from promptlint_proxy.records.read import view
from promptlint_proxy.simulated.server import SimulatedUpstream
from promptlint_proxy.simulated.settings import SimulatedSettings

SECRETS = ("sk-planted-openai", "sk-planted-anthropic", "planted-cookie", "planted-query")
RULES = " ".join(f"Rule {number}: answer politely and in the language of the customer." for number in range(60))
SETTINGS = SimulatedSettings(
    overhead_s=0.002, itl_s=0.0005, prefill_s_per_token=0.0, encoding="gzip", faults={12: "cut"}
)


class Run:
    """A proxy that has served its traffic and was told to stop."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "store"
        self.log = folder / "log"
        self.metrics = ""
        self.health: dict[str, Any] = {}
        self.findings: dict[str, Any] = {}
        self.overview: dict[str, Any] = {}
        self.top = ""
        self.exit_status: int | None = None


async def traffic(url: str) -> None:
    headers = {"Cookie": "session=planted-cookie", "X-Promptlint-Team": "search"}
    chat = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=SECRETS[0], max_retries=0, default_headers=headers)
    claude = anthropic.AsyncAnthropic(base_url=url, api_key=SECRETS[1], max_retries=0)
    ask = {"stream": True, "stream_options": {"include_usage": True}, "extra_query": {"key": "planted-query"}}
    try:
        for number in range(4):
            system = f"It is 2026-11-29T10:00:{number:02}. {RULES}"
            turn = [{"role": "system", "content": system}, {"role": "user", "content": f"question {number}"}]
            async for _ in await chat.chat.completions.create(model="m", messages=turn, **ask):
                pass
        history: list[dict[str, str]] = [{"role": "system", "content": RULES}]
        for number in range(4):
            history.append({"role": "user", "content": f"question {number}"})
            reply = await chat.chat.completions.create(model="m2", messages=history, max_tokens=30)
            history.append({"role": "assistant", "content": reply.choices[0].message.content or ""})
        for _ in range(2):
            await chat.responses.create(model="m3", input=RULES, max_output_tokens=20)
            async with claude.messages.stream(
                model="m4", max_tokens=50, system=RULES, messages=[{"role": "user", "content": "hi"}]
            ) as stream:
                await stream.get_final_message()
        with contextlib.suppress(openai.APIError, Exception):  # the cut one
            async for _ in await chat.chat.completions.create(model="m5", messages=history, **ask):
                pass
    finally:
        await chat.close()
        await claude.close()


def get(address: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def wait_for(condition: Any, seconds: float = 30.0) -> Any:
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


async def scenario(run: Run) -> None:
    upstream = SimulatedUpstream(SETTINGS)
    url = await upstream.start()
    command = [sys.executable, "-m", "promptlint_cli", "proxy", "--isolated", "--upstream", url, "--provider", "vllm"]
    command += ["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--store", str(run.store)]
    command += ["--slo", "ttft=5s", "--kv-model", "Llama-3.1-8B", "--kv-pool-bytes", "1GiB", "--environment", "test"]
    with run.log.open("wb") as log:
        process = subprocess.Popen(command, stderr=log, stdout=log)
    try:
        await asyncio.to_thread(wait_for, lambda: "metrics on" in run.log.read_text())
        lines = run.log.read_text().splitlines()
        address = next(line for line in lines if "listens on" in line).rpartition(" ")[2]
        metrics = next(line for line in lines if "metrics on" in line).rpartition(" ")[2].removesuffix("/metrics")
        await traffic(address)

        def counted() -> bool:
            run.metrics = get(f"{metrics}/metrics")[1].decode()
            return 'model="m5"' in run.metrics

        await asyncio.to_thread(wait_for, counted)
        for name in ("findings", "overview"):
            setattr(run, name, json.loads((await asyncio.to_thread(get, f"{metrics}/{name}"))[1]))
        run.health = json.loads((await asyncio.to_thread(get, f"{metrics}/healthz"))[1])
        called = CliRunner().invoke(top.command, ["--metrics", metrics.removeprefix("http://"), "--once"])
        run.top = called.output
    finally:
        process.send_signal(signal.SIGTERM)
        run.exit_status = process.wait(30)
        await upstream.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    finished = Run(tmp_path_factory.mktemp("run"))
    asyncio.run(scenario(finished))
    return finished


def rows(run: Run) -> list[dict[str, Any]]:
    return view(run.store).table("exchanges").to_pylist()


def test_it_ends_cleanly_and_seals_its_records(run: Run) -> None:
    assert run.exit_status == 0
    assert list((run.store / "live").iterdir()) == []
    assert len(list((run.store / "exchanges").glob("date=*/hour=*/*.parquet"))) >= 1
    assert len(rows(run)) == 13


def test_predicted_hits_are_the_reported_ones(run: Run) -> None:
    known = [row for row in rows(run) if row["reported_hit_tokens"] is not None]
    assert len(known) == 12
    assert [row["predicted_hit_tokens"] for row in known] == [row["reported_hit_tokens"] for row in known]
    assert sum(row["reported_hit_tokens"] for row in known) > 3000
    assert {row["prompt_tokens_source"] for row in known} == {"reported"}


def test_the_clock_ahead_of_the_rules_is_named_with_its_cost(run: Run) -> None:
    found = next(finding for finding in run.findings["findings"] if finding["rule"] == "KV101")
    assert found["tokens_behind"] > 700
    diverged = [row for row in rows(run) if row["divergence_rule"] == "KV101"]
    assert len(diverged) == 3
    assert {row["divergence_path"] for row in diverged} == {"messages[0].content"}
    logged = [json.loads(line) for line in run.log.read_text().splitlines() if line.startswith("{")]
    assert "KV101" in {line["rule"] for line in logged}


def test_a_cut_stream_is_recorded_as_cut_and_its_usage_is_unknown(run: Run) -> None:
    cut = next(row for row in rows(run) if row["model"] == "m5")
    assert cut["error"] == "cut"
    assert cut["reported_hit_tokens"] is None
    assert cut["output_tokens"] is None
    assert cut["prompt_tokens_source"] == "estimated"


def test_first_token_and_gaps_are_measured_apart(run: Run) -> None:
    streamed = [row for row in rows(run) if row["stream"] and row["error"] is None]
    assert len(streamed) == 6
    for row in streamed:
        assert 0 < row["first_byte_s"] <= row["ttft_s"] <= row["e2e_s"]
        assert row["itl_histogram"]
    assert all(row["ttft_s"] is None for row in rows(run) if not row["stream"])


def test_lines_turns_labels_and_memory_are_recorded(run: Run) -> None:
    conversation = [row for row in rows(run) if row["model"] == "m2"]
    assert [row["turn"] for row in conversation] == [0, 1, 2, 3]
    assert len({row["line"] for row in conversation}) == 1
    assert [row["verdict"] for row in conversation][1:] == ["append-only"] * 3
    assert {row["team"] for row in conversation} == {"search"}
    assert {row["environment"] for row in rows(run)} == {"test"}
    assert all(row["kv_bytes"] for row in rows(run))
    assert all(row["prompt_text"] is None and row["output_text"] is None for row in rows(run))


def test_metrics_health_and_the_live_view_tell_it(run: Run) -> None:
    assert run.health["status"] == "ok"
    assert 'promptlint_requests_total{api="chat",model="m",provider="vllm",status="200"} 4.0' in run.metrics
    assert "promptlint_unbounded_requests_total{" in run.metrics
    assert "promptlint_divergences_total{" in run.metrics
    assert "promptlint_objective_requests_total{" in run.metrics
    assert 'promptlint_added_latency_seconds_count{side="request"} 13.0' in run.metrics
    assert "promptlint_internal_errors_total{" not in run.metrics
    assert "promptlint_kv_in_flight_bytes 0.0" in run.metrics
    assert run.overview["groups"][0]["ttft_s"]["p50"] > 0
    assert "KV101" in run.top
    assert "worst divergences" in run.top


def test_no_secret_reaches_records_or_log(run: Run) -> None:
    files = [path for path in run.store.rglob("*") if path.is_file()] + [run.log]
    assert len(files) > 3
    told = json.dumps([rows(run)], default=str) + run.metrics + json.dumps(run.findings) + json.dumps(run.overview)
    for secret in SECRETS:
        assert secret not in told
        for path in files:
            assert secret.encode() not in path.read_bytes(), path


def test_text_of_prompts_reaches_neither_records_nor_log(run: Run) -> None:
    told = json.dumps(
        [view(run.store).table(name).to_pylist() for name in ("exchanges", "findings", "groups")], default=str
    )
    assert "politely" not in told
    assert "politely" not in run.log.read_text()
