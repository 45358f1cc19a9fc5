"""A small HTTP/1.1 server on asyncio: enough for SDKs and proxies, with chunked bodies and connections cut on order."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 256 * 1024 * 1024
REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests", 529: "Overloaded"}


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    path: str
    """Without the query."""
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


@dataclass(slots=True)
class HttpReply:
    status: int
    headers: list[tuple[str, str]]
    body: AsyncIterator[bytes] | bytes
    """An iterator is sent chunked, each item at once."""
    cut: bool = False
    done: Callable[[], None] = field(default=lambda: None)
    """Called when the reply was sent or its client left."""


Handler = Callable[[HttpRequest], Awaitable[HttpReply]]


class WireServer:
    """Serves one handler; knows its open connections, so that closing leaves none behind."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> tuple[str, int]:
        """Listen; returns the address."""
        self._server = await asyncio.start_server(self._connected, host, port, limit=MAX_HEAD_BYTES, backlog=512)
        address = self._server.sockets[0].getsockname()
        return address[0], address[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass
        except asyncio.CancelledError:
            pass
        finally:
            self._tasks.discard(task)
            with contextlib.suppress(ConnectionError, RuntimeError):
                writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its reply; False when the connection ends."""
        request = await read_request(reader)
        if request is None:
            return False
        reply = await self._handler(request)
        try:
            await _send(writer, reply)
        finally:
            reply.done()
        if reply.cut:
            writer.transport.abort()
            return False
        return request.headers.get("connection", "").lower() != "close"


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """The next request of a connection; None at its end."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.split("\r\n")
    method, target, _version = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = await _read_chunked(reader)
    else:
        length = int(headers.get("content-length", 0))
        if length > MAX_BODY_BYTES:
            raise ValueError("the body is too large")
        body = await reader.readexactly(length) if length else b""
    return HttpRequest(method, target.partition("?")[0], headers, body)


async def _read_chunked(reader: asyncio.StreamReader) -> bytes:
    parts: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    return b"".join(parts)


async def _send(writer: asyncio.StreamWriter, reply: HttpReply) -> None:
    headers = list(reply.headers)
    whole = reply.body if isinstance(reply.body, bytes) else None
    if whole is None:
        headers.append(("transfer-encoding", "chunked"))
    else:
        # A cut answer promises more than comes.
        headers.append(("content-length", str(len(whole) * 2 if reply.cut else len(whole))))
    lines = [f"HTTP/1.1 {reply.status} {REASONS.get(reply.status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in headers]
    writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
    if whole is not None:
        writer.write(whole)
    elif not isinstance(reply.body, bytes):
        async for part in reply.body:
            if part:
                writer.write(b"%x\r\n%b\r\n" % (len(part), part))
                await writer.drain()
        if not reply.cut:
            writer.write(b"0\r\n\r\n")
    await writer.drain()
