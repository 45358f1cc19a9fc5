"""Plays the simulated engine over HTTP."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator
from typing import Protocol

import brotli
import zstandard

from promptlint_proxy.simulated.clock import Clock, RealClock
from promptlint_proxy.simulated.engine import JSON, Engine, Reply
from promptlint_proxy.simulated.settings import SimulatedSettings
from promptlint_proxy.simulated.wire import HttpReply, HttpRequest, WireServer


class Compressor(Protocol):
    def add(self, data: bytes) -> bytes:
        """What can be sent of it now: every event goes on at once."""
        ...

    def end(self) -> bytes: ...


class _Gzip:
    def __init__(self) -> None:
        self._compressor = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)

    def add(self, data: bytes) -> bytes:
        return self._compressor.compress(data) + self._compressor.flush(zlib.Z_SYNC_FLUSH)

    def end(self) -> bytes:
        return self._compressor.flush()


class _Brotli:
    def __init__(self) -> None:
        self._compressor = brotli.Compressor(quality=4)

    def add(self, data: bytes) -> bytes:
        return bytes(self._compressor.process(data) + self._compressor.flush())

    def end(self) -> bytes:
        return bytes(self._compressor.finish())


class _Zstd:
    def __init__(self) -> None:
        self._compressor = zstandard.ZstdCompressor().compressobj()

    def add(self, data: bytes) -> bytes:
        return self._compressor.compress(data) + self._compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)

    def end(self) -> bytes:
        return self._compressor.flush()


COMPRESSORS: dict[str, type[_Gzip | _Brotli | _Zstd]] = {"gzip": _Gzip, "br": _Brotli, "zstd": _Zstd}


class SimulatedUpstream:
    """An inference server on a port of this machine."""

    def __init__(self, settings: SimulatedSettings | None = None, clock: Clock | None = None) -> None:
        self.engine = Engine(settings or SimulatedSettings())
        self._clock: Clock = clock or RealClock()
        self._wire = WireServer(self._handle)
        self._finished = asyncio.Event()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> str:
        """Listen; returns the URL."""
        host, port = await self._wire.start(host, port)
        return f"http://{host}:{port}"

    async def close(self) -> None:
        await self._wire.close()

    async def _handle(self, request: HttpRequest) -> HttpReply:
        if request.method == "GET":
            return self._get(request.path)
        if request.path == "/reset_prefix_cache":
            return _json(200, {}) if self.engine.cache.blocks.reset() else _json(400, {"error": "requests are running"})
        at_s = self._clock.now_s()
        while (reply := self.engine.answer(request.path, request.body, at_s)) is None:
            self._finished.clear()
            await self._finished.wait()
        return await self._play(request, reply, at_s)

    async def _play(self, request: HttpRequest, reply: Reply, at_s: float) -> HttpReply:
        encoding = self._encoding(request)
        headers = [("content-type", reply.content_type), ("x-request-id", f"req-{reply.key}"), *reply.headers]
        compressor = COMPRESSORS[encoding]() if encoding else None
        if encoding:
            headers.append(("content-encoding", encoding))

        def done() -> None:
            self.engine.finish(reply)
            self._finished.set()

        if reply.streamed:
            return HttpReply(reply.status, headers, self._events(reply, at_s, compressor), cut=reply.cut, done=done)
        due_s, body = reply.parts[0]
        await self._clock.sleep_until(at_s + due_s)
        if compressor is not None:
            body = compressor.add(body) + (b"" if reply.cut else compressor.end())
        return HttpReply(reply.status, headers, body, cut=reply.cut, done=done)

    async def _events(self, reply: Reply, at_s: float, compressor: Compressor | None) -> AsyncIterator[bytes]:
        for due_s, event in reply.parts:
            await self._clock.sleep_until(at_s + due_s)
            yield compressor.add(event) if compressor else event
        if compressor and not reply.cut:
            yield compressor.end()

    def _encoding(self, request: HttpRequest) -> str:
        wanted = self.engine.settings.encoding
        return wanted if wanted and wanted in request.headers.get("accept-encoding", "") else ""

    def _get(self, path: str) -> HttpReply:
        settings = self.engine.settings
        if path == "/metrics":
            text = self.engine.counters.exposition(settings.models[0], self.engine.cache.blocks)
            return HttpReply(200, [("content-type", "text/plain; version=0.0.4")], text.encode())
        if path == "/health":
            return HttpReply(200, [], b"")
        if path == "/v1/models":
            models = [{"id": name, "object": "model", "owned_by": "promptlint"} for name in settings.models]
            return _json(200, {"object": "list", "data": models})
        return _json(404, {"error": {"type": "not_found_error", "message": "no such path"}})


def _json(status: int, document: dict[str, object]) -> HttpReply:
    return HttpReply(status, [("content-type", JSON)], json.dumps(document).encode())
