"""The processes of the demonstration: started on free ports of this machine, ended whatever happens."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

from promptlint_core.errors import PromptlintError

START_S = 30.0
END_S = 20.0
WORK_S = 90.0
WORKERS = 2


@contextlib.contextmanager
def simulated_upstream() -> Iterator[str]:
    """A simulated server whose time to first token depends on what its prefix cache holds; yields its URL."""
    command = [sys.executable, "-m", "promptlint_proxy.simulated", "--port", "0", "--call-tools"]
    command += ["--output-tokens", "24", "--itl-s", "0.002", "--prefill-s-per-token", "0.0002", "--overhead-s", "0.01"]
    with _running(command) as started:
        yield _wait_for(started, "http://").strip()


@contextlib.contextmanager
def proxy(upstreams: list[str], store: Path) -> Iterator[tuple[str, str]]:
    """The sidecar; yields its URL and its metrics address."""
    command = [sys.executable, "-m", "promptlint_cli", "proxy", "--isolated", "--store", str(store)]
    command += ["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--provider", "vllm"]
    command += ["--slo", "ttft=100ms", "--slo", "itl=20ms", "--kv-model", "Llama-3.1-8B", "--kv-pool-bytes", "8GiB"]
    for upstream in upstreams:
        command += ["--upstream", upstream]
    with _running(command) as started:
        url = _wait_for(started, "listens on ").rpartition("listens on ")[2].strip()
        metrics = _wait_for(started, "metrics on ").rpartition("http://")[2].strip().removesuffix("/metrics")
        yield url, metrics


@contextlib.contextmanager
def watched_server(upstream_names: list[str], store: Path) -> Iterator[Callable[[], tuple[str, str]]]:
    """The simulated server with the sidecar in front, started behind the caller's back; yields what waits for them."""
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(1) as starter:

        def start() -> tuple[str, str]:
            upstream = stack.enter_context(simulated_upstream())
            return stack.enter_context(proxy([f"/{name}={upstream}" for name in upstream_names], store))

        yield starter.submit(start).result


class Workers:
    """The workers of the example service, with the real clients. Their imports take longest: start them early."""

    def __init__(self) -> None:
        self._processes = [_start_worker(part) for part in range(WORKERS)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()

    def run(self, application: Path, base_url: str) -> None:
        """Let all of them do the day's work once. Raises PromptlintError when one fails."""
        for process in self._processes:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(f"{application}\t{base_url}\n")
                process.stdin.flush()
        with ThreadPoolExecutor(WORKERS) as readers:
            list(readers.map(_wait_until_done, self._processes))


def _start_worker(part: int) -> subprocess.Popen[str]:
    environment = os.environ | {
        "OPENAI_API_KEY": "demo",
        "ANTHROPIC_API_KEY": "demo",
        # Two workers of a service iterate over a set in two orders.
        "PYTHONHASHSEED": str(part + 1),
        "PYTHONPATH": "",
    }
    command = [sys.executable, str(Path(__file__).with_name("drive.py")), str(part)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def _wait_until_done(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    late = threading.Timer(WORK_S, process.kill)
    late.start()
    try:
        said = process.stdout.readline().strip()
    finally:
        late.cancel()
    if said != "done":
        assert process.stderr is not None
        last = (process.stderr.read().strip().splitlines() or ["no message"])[-1]
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


def _wait_for(started: tuple[subprocess.Popen[bytes], Path], text: str) -> str:
    """The line that holds a text, once it was written."""
    process, output = started
    end_s = time.monotonic() + START_S
    has_ended = False
    while time.monotonic() < end_s and not has_ended:
        has_ended = process.poll() is not None  # what it said last is read all the same
        for line in output.read_text(errors="replace").splitlines(keepends=True):
            if text in line and line.endswith("\n"):
                return line
        time.sleep(0.05)
    said = (output.read_text(errors="replace").strip().splitlines() or ["nothing"])[-1]
    raise PromptlintError(f"a process of the demonstration did not start: it said {said[:300]}")
