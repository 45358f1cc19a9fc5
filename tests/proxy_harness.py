"""Runs the proxy in the test's own event loop between a canned upstream and a raw client, with nothing analysed."""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

# mitmproxy 11 imports ldap3 and passlib, which use what newer libraries deprecate.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import mitmproxy.addons

    del mitmproxy

from promptlint_proxy.analyst_process import AnalystProcess
from promptlint_proxy.capture import Finished, Gone, Message, Pulse, Started
from promptlint_proxy.master import Sidecar
from promptlint_proxy.settings import ProxySettings
from promptlint_proxy.simulated.wire import HttpReply, HttpRequest, WireServer

Respond = Callable[[HttpRequest], HttpReply]


class Collecting(AnalystProcess):
    """Keeps the messages instead of analysing them."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.metrics_address = ""

    def start(self) -> None: ...

    @property
    def is_alive(self) -> bool:
        return True

    def beat(self, pulse: Pulse) -> None: ...

    def send(self, messages: Sequence[Message]) -> None:
        self.messages += messages

    def close(self, timeout_s: float = 0.0) -> None: ...

    def all(self, kind: type[Any]) -> list[Any]:
        return [message for message in self.messages if isinstance(message, kind)]


@dataclass
class Running:
    sidecar: Sidecar
    analyst: Collecting
    port: int
    upstream_port: int
    requests: list[HttpRequest] = field(default_factory=list)

    async def exchange(self, raw: bytes, port: int | None = None) -> bytes:
        """Send raw bytes, read until the other side closes or the answer is complete."""
        return await exchange(port or self.port, raw)

    async def captured(self) -> tuple[list[Started], list[Finished]]:
        """What was handed over, once everything that started has ended."""
        for _ in range(200):
            await asyncio.sleep(0.01)
            started, finished = self.analyst.all(Started), self.analyst.all(Finished)
            if started and len(finished) + len(self.analyst.all(Gone)) >= len(started):
                return started, finished
        raise AssertionError(self.analyst.messages)


@contextlib.asynccontextmanager
async def proxy(respond: Respond, **settings: Any) -> AsyncIterator[Running]:
    requests: list[HttpRequest] = []

    async def handle(request: HttpRequest) -> HttpReply:
        requests.append(request)
        return respond(request)

    upstream = WireServer(handle)
    _, upstream_port = await upstream.start()
    specs = settings.pop("upstream", (f"http://127.0.0.1:{upstream_port}",))
    specs = tuple(spec.replace("{port}", str(upstream_port)) for spec in specs)
    analyst = Collecting()
    sidecar = Sidecar(ProxySettings(upstream=specs, listen="127.0.0.1:0", **settings), analyst)
    run = asyncio.create_task(sidecar.run())
    while not sidecar.proxyserver.listen_addrs():
        assert not run.done(), run.exception()
        await asyncio.sleep(0.001)
    try:
        yield Running(sidecar, analyst, sidecar.listen_address[1], upstream_port, requests)
    finally:
        sidecar.shutdown()
        await run
        await upstream.close()


def post(path: str, body: bytes, headers: Iterable[tuple[str, str]] = ()) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "host: client.example", f"content-length: {len(body)}", "connection: close"]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def exchange(port: int, raw: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(raw)
    with contextlib.suppress(ConnectionError):
        data = await asyncio.wait_for(reader.read(-1), 60)
    writer.close()
    return data


def body_of(answer: bytes) -> bytes:
    """The body of a raw answer, chunked framing undone as far as it came."""
    head, _, body = answer.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" not in head.lower():
        return body
    parts = []
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size or b"0", 16)
        if not length:
            # A connection that is used again would take anything more for the next answer.
            assert rest in (b"", b"\r\n"), rest
            break
        parts.append(rest[:length])
        body = rest[length + 2 :]
    return b"".join(parts)


async def streamed(parts: Iterable[bytes]) -> AsyncIterator[bytes]:
    for part in parts:
        yield part
        await asyncio.sleep(0)
