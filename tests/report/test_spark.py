"""Spark gives the numbers that DuckDB gives: in local mode, and on a standalone cluster of two workers on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_golden import write_week
from report_traffic import at, record, write, write_prices

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not os.environ.get("PROMPTLINT_TEST_SPARK"), reason="make test-spark"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The golden week with one exchange that a second sidecar saw too."""
    base = tmp_path_factory.mktemp("spark")
    store = write_week(base)
    write(store, "exchanges", [record("A2", at(0, 9, 30), sidecar="c", prompt_tokens_source="estimated")], "c-000000")
    write_prices(base)
    return base


def _report(folder: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "promptlint_cli", "report", "--store", str(folder / "store"), "--week", "2026-W48"]
    command += ["--prices", str(folder / "prices.toml"), "--timezone", "Europe/Rome", "--min-requests", "1"]
    done = subprocess.run(
        [*command, "--format", "json", *options], capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    report: dict[str, Any] = json.loads(done.stdout)
    assert report.pop("made_at")
    # The written week may not be over by the clock of this machine: projections go by it.
    for section in report["sections"]:
        section["figures"] = [item for item in section["figures"] if not item["id"].startswith("projection_")]
    return report


@pytest.fixture(scope="module")
def on_duckdb(folder: Path) -> dict[str, Any]:
    report = _report(folder)
    assert report.pop("engine") == "duckdb"
    return report


def test_local_spark_gives_the_same_numbers(folder: Path, on_duckdb: dict[str, Any]) -> None:
    report = _report(folder, "--engine", "spark", "--spark-master", "local[2]")

    assert report.pop("engine") == "spark"
    assert on_duckdb == report


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a standalone master with two workers."""
    import pyspark

    home = Path(pyspark.__file__).parent
    work = tmp_path_factory.mktemp("cluster")
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    port = _free_port()
    address = f"spark://127.0.0.1:{port}"
    start = str(home / "bin/spark-class")
    master = [start, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port)]
    worker = [start, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "-c", "1", "-m", "1g"]
    commands = [[*master, "--webui-port", "0"]]
    commands += [[*worker, "--webui-port", "0", "-d", str(work / name), address] for name in ("one", "two")]
    with contextlib.ExitStack() as stack:
        log = stack.enter_context((work / "log").open("w"))
        for command in commands:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        _wait_for(work / "log", "Registering worker", 2)
        yield address


def test_a_cluster_of_two_workers_gives_the_same_numbers(folder: Path, on_duckdb: dict[str, Any], cluster: str) -> None:
    report = _report(folder, "--engine", "spark", "--spark-master", cluster)

    assert report.pop("engine") == "spark"
    assert on_duckdb == report


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_for(log: Path, text: str, times: int) -> None:
    end = time.monotonic() + 120
    while log.read_text(errors="replace").count(text) < times:
        assert time.monotonic() < end, log.read_text(errors="replace")[-2000:]
        time.sleep(0.2)
