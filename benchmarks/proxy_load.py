"""A canned upstream, a load generator and the proxies under test: what the proxy benchmarks share.

Each part is a process of its own, so that none of them is measured by the time of another.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

EVENT = (
    b'data: {"id":"1","object":"chat.completion.chunk","model":"m",'
    b'"choices":[{"index":0,"delta":{"content":" word"}}]}\n\n'
)
LAST = (
    b'data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[],'
    b'"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":64}}}\n\n'
    b"data: [DONE]\n\n"
)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
TRIVIAL_ADDON = """
class Streams:
    def responseheaders(self, flow):
        flow.response.stream = lambda data: data
addons = [Streams()]
"""


class CannedUpstream(asyncio.Protocol):
    """Answers every request with a stream of `events` events, `gap_s` apart (0: all at once)."""

    events = 20
    gap_s = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.received = bytearray()

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = bytes(self.received[:end]).lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.received) < end + 4 + length:
                return
            del self.received[: end + 4 + length]
            self.answer()

    def answer(self) -> None:
        if not self.gap_s:
            body = b"".join(b"%x\r\n%b\r\n" % (len(EVENT), EVENT) for _ in range(self.events))
            self.transport.write(HEAD + body + b"%x\r\n%b\r\n0\r\n\r\n" % (len(LAST), LAST))
            return
        self.transport.write(HEAD)
        self.send(0)

    def send(self, sent: int) -> None:
        if sent == self.events:
            self.transport.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(LAST), LAST))
            return
        self.transport.write(b"%x\r\n%b\r\n" % (len(EVENT), EVENT))
        asyncio.get_running_loop().call_later(self.gap_s, self.send, sent + 1)


async def _serve_upstream(port: int, events: int, gap_s: float) -> None:
    CannedUpstream.events, CannedUpstream.gap_s = events, gap_s
    server = await asyncio.get_running_loop().create_server(CannedUpstream, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


@dataclass(frozen=True, slots=True)
class Load:
    """What a run measured."""

    requests: int
    seconds: float
    ttft_s: list[float]
    events: int

    @property
    def requests_per_s(self) -> float:
        return self.requests / self.seconds

    @property
    def events_per_s(self) -> float:
        return self.events / self.seconds

    def ttft_ms(self, q: float) -> float:
        return sorted(self.ttft_s)[int(q * (len(self.ttft_s) - 1))] * 1000


def prompt_body(size_bytes: int, number: int) -> bytes:
    """A chat request of about that size; its last message differs from request to request."""
    filler = "The cache gives back everything up to the first byte that changed. "
    system = (filler * (size_bytes // len(filler) + 1))[: max(0, size_bytes - 180)]
    messages = [{"role": "system", "content": system}, {"role": "user", "content": f"question {number}"}]
    return json.dumps({"model": "m", "stream": True, "max_tokens": 50, "messages": messages}).encode()


Body = Callable[[int], bytes]


async def _one_client(port: int, numbers: Iterator[int], body_of: Body, load: list[tuple[float, int]]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    for number in numbers:
        body = body_of(number)
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
        began_s = time.perf_counter()
        writer.write(head.encode() + body)
        first_s, received = 0.0, b""
        while not received.endswith(b"0\r\n\r\n"):
            data = await reader.read(2**18)
            if not data:
                raise ConnectionError(f"cut after {received[-80:]!r}")
            received += data
            if not first_s and b"data:" in received:
                first_s = time.perf_counter() - began_s
        load.append((first_s, received.count(b"data:") - 2))
    writer.close()


async def _generate(port: int, requests: range, clients: int, body_of: Body) -> Load:
    numbers = iter(requests)
    results: list[tuple[float, int]] = []
    began_s = time.perf_counter()
    await asyncio.gather(*(_one_client(port, numbers, body_of, results) for _ in range(clients)))
    seconds = time.perf_counter() - began_s
    return Load(len(results), seconds, [first for first, _ in results], sum(events for _, events in results))


def generate(
    port: int, requests: int | range, clients: int = 16, size_bytes: int = 2000, body_of: Body | None = None
) -> Load:
    """Send requests over keep-alive connections and read every answer to its end."""
    numbers = range(requests) if isinstance(requests, int) else requests
    return asyncio.run(_generate(port, numbers, clients, body_of or (lambda number: prompt_body(size_bytes, number))))


def cpu_s(process_id: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(process_id: int) -> float:
    """Memory of a process now."""
    return int(Path(f"/proc/{process_id}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def child_of(process_id: int) -> int:
    """The process that a process has started: the proxy's analysis."""
    tasks = Path(f"/proc/{process_id}/task").glob("*/children")
    return next(int(child) for task in tasks for child in task.read_text().split())


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


@contextlib.contextmanager
def running(command: list[str], port: int, log: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A process that listens on a port, ended afterwards."""
    out = log.open("wb") if log else subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
                break
            if process.poll() is not None:
                raise RuntimeError(f"{command[:3]} ended with {process.returncode}")
            time.sleep(0.05)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def upstream(events: int = 20, gap_s: float = 0.0) -> Iterator[int]:
    port = free_port()
    command = [sys.executable, __file__, "upstream", str(port), str(events), str(gap_s)]
    with running(command, port):
        yield port


@contextlib.contextmanager
def promptlint_proxy(upstream_port: int, store: Path | None, *options: str) -> Iterator[tuple[int, int, int]]:
    """Yields (port, metrics port, process id)."""
    port, metrics_port = free_port(), free_port()
    command = [sys.executable, "-m", "promptlint_cli", "proxy", "--isolated", "--provider", "vllm"]
    command += ["--upstream", f"http://127.0.0.1:{upstream_port}", "--listen", f"127.0.0.1:{port}"]
    command += ["--metrics-listen", f"127.0.0.1:{metrics_port}", *options]
    command += ["--store", str(store)] if store else []
    with running(command, port) as process:
        yield port, metrics_port, process.pid


@contextlib.contextmanager
def plain_mitmdump(upstream_port: int) -> Iterator[int]:
    """Stock mitmdump with an addon that only streams."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "streams.py"
        script.write_text(TRIVIAL_ADDON)
        command = [str(Path(sys.executable).with_name("mitmdump")), "-q", "-s", str(script)]
        command += [
            "--mode",
            f"reverse:http://127.0.0.1:{upstream_port}",
            "--listen-host",
            "127.0.0.1",
            "-p",
            str(port),
        ]
        with running([*command, "--set", f"confdir={folder}"], port):
            yield port


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["upstream"])
    parser.add_argument("port", type=int)
    parser.add_argument("events", type=int)
    parser.add_argument("gap_s", type=float)
    options = parser.parse_args()
    serve = _serve_upstream(options.port, options.events, options.gap_s)
    with contextlib.suppress(KeyboardInterrupt):
        try:
            import uvloop
        except ImportError:
            asyncio.run(serve)
        else:
            uvloop.run(serve)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
