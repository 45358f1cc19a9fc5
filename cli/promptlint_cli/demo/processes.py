"""The processes of the demonstration: started on free ports of this machine, ended whatever happens."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from promptlint_core.errors import PromptlintError

START_S = 30.0
END_S = 20.0
WORKERS = 2


@contextlib.contextmanager
def simulated_upstream() -> Iterator[str]:
    """A simulated server whose time to first token depends on what its prefix cache holds; yields its URL."""
    command = [sys.executable, "-m", "promptlint_proxy.simulated", "--port", "0", "--call-tools"]
    command += ["--output-tokens", "24", "--itl-s", "0.002", "--prefill-s-per-token", "0.0002", "--overhead-s", "0.01"]
    with _running(command) as (_, output):
        yield _wait_for(output, "http://").strip()


@contextlib.contextmanager
def proxy(upstreams: list[str], store: Path) -> Iterator[tuple[str, str]]:
    """The sidecar; yields its URL and its metrics address."""
    command = [sys.executable, "-m", "promptlint_cli", "proxy", "--isolated", "--store", str(store)]
    command += ["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--provider", "vllm"]
    command += ["--slo", "ttft=100ms", "--slo", "itl=20ms", "--kv-model", "Llama-3.1-8B", "--kv-pool-bytes", "8GiB"]
    for upstream in upstreams:
        command += ["--upstream", upstream]
    with _running(command) as (_, output):
        url = _wait_for(output, "listens on ").rpartition("listens on ")[2].strip()
        metrics = _wait_for(output, "metrics on ").rpartition("http://")[2].strip().removesuffix("/metrics")
        yield url, metrics


def run_application(folder: Path, base_url: str) -> None:
    """The workers of the example service, with the real clients. Raises PromptlintError when one fails."""
    with ThreadPoolExecutor(WORKERS) as workers:
        list(workers.map(lambda part: _run_worker(folder, part, base_url), range(WORKERS)))


def _run_worker(folder: Path, part: int, base_url: str) -> None:
    environment = os.environ | {
        "OPENAI_BASE_URL": f"{base_url}/v1",
        "ANTHROPIC_BASE_URL": base_url,
        "OPENAI_API_KEY": "demo",
        "ANTHROPIC_API_KEY": "demo",
        # Two workers of a service iterate over a set in two orders.
        "PYTHONHASHSEED": str(part + 1),
        "PYTHONPATH": "",
    }
    command = [sys.executable, str(Path(__file__).with_name("drive.py")), str(folder), str(part)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise PromptlintError(f"the example application ended with an error: {last[:300]}")


@contextlib.contextmanager
def _running(command: list[str]) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    with tempfile.TemporaryDirectory(prefix="promptlint-demo-") as folder:
        output = Path(folder) / "output"
        with output.open("wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        try:
            yield process, output
        finally:
            process.terminate()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(output: Path, text: str) -> str:
    """The line that holds a text, once it was written."""
    end_s = time.monotonic() + START_S
    while time.monotonic() < end_s:
        for line in output.read_text(errors="replace").splitlines(keepends=True):
            if text in line and line.endswith("\n"):
                return line
        time.sleep(0.05)
    said = (output.read_text(errors="replace").strip().splitlines() or ["nothing"])[-1]
    raise PromptlintError(f"a process of the demonstration did not start: it said {said[:300]}")
