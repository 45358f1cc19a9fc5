"""The mitmproxy addon: translates flows into captures and passes every byte on at once and unchanged.

In a stream callback only: take the time, keep the bytes, return them. Nothing raised here reaches a client.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptlint_proxy import actions, capture, error_page
from promptlint_proxy.records.keys import keyed_hash
from promptlint_proxy.routes import Routes, Upstream

if TYPE_CHECKING:
    from mitmproxy import http, tcp

    from promptlint_proxy.settings import ProxySettings
    from promptlint_proxy.worker import Worker

Tap = Callable[[bytes], bytes | list[bytes]]

KEY_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
SIGNATURE = "AWS4-HMAC-SHA256"


@dataclass(slots=True)
class _Open:
    """An exchange in flight."""

    id: str
    sent_at_s: float
    """On the monotonic clock."""
    log: capture.ChunkLog
    captured: bool
    request_delay_s: float | None = None
    first_byte_s: float | None = None
    response_delay_s: float | None = None
    filter: actions.StreamFilter | None = None
    size_bytes: int = 0


@dataclass(slots=True)
class Counters:
    """What the proxy counts of itself."""

    in_flight: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)


class PromptlintAddon:
    """Hooks of mitmproxy that are needed, and no others: each one costs every flow."""

    def __init__(self, settings: ProxySettings, routes: Routes, worker: Worker, key: bytes) -> None:
        self.counters = Counters()
        self.draining = False
        self._settings = settings
        self._routes = routes
        self._worker = worker
        self._key = key
        self._open: dict[str, _Open] = {}

    def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Choose the upstream before mitmproxy connects."""
        try:
            self._route(flow)
        except Exception as error:
            self._failed("route", error)

    def request(self, flow: http.HTTPFlow) -> None:
        """The request is complete and about to be sent on."""
        try:
            error_page.PATH_OF_ERROR.set(_without_query(flow.request.path))
            if flow.response is None:
                self._start(flow)
        except Exception as error:
            self._failed("request", error)

    def responseheaders(self, flow: http.HTTPFlow) -> None:
        """Stream every answer: held back, server-sent events would come all at once at the end."""
        try:
            self._answer(flow)
        except Exception as error:
            self._failed("responseheaders", error)
            if flow.response is not None and flow.response.status_code != 101:
                flow.response.stream = True

    def response(self, flow: http.HTTPFlow) -> None:
        self._finish(flow, None)

    def error(self, flow: http.HTTPFlow) -> None:
        """A stream that is cut calls neither `response` nor the stream's end: only this."""
        try:
            error_page.PATH_OF_ERROR.set(_without_query(flow.request.path))
            message = flow.error.msg if flow.error else ""
        except Exception as error:
            self._failed("error", error)
            message = ""
        self._finish(flow, error_page.error_kind(message, answered=flow.response is not None))

    def websocket_message(self, flow: http.HTTPFlow) -> None:
        """mitmproxy keeps every message of a connection that may stay open for days; they go on all the same."""
        if flow.websocket is not None:
            flow.websocket.messages.clear()

    def tcp_message(self, flow: tcp.TCPFlow) -> None:
        """As for messages of a WebSocket."""
        flow.messages.clear()

    def _route(self, flow: http.HTTPFlow) -> None:
        request = flow.request
        labels = [(name, value) for name, value in request.headers.items() if _is_label(name)]
        if labels:
            for name, _ in labels:
                request.headers.pop(name, None)
            flow.metadata["promptlint.labels"] = labels
        if not self._routes.upstreams:
            return
        upstream = self._routes.find(request.host_header or "", request.path)
        if upstream is None:
            message = "no upstream for this path: see --upstream"
            flow.response = error_page.json_response(404, f"promptlint proxy: {message}", _without_query(request.path))
            return
        _send_to(flow, upstream)

    def _start(self, flow: http.HTTPFlow) -> None:
        request = flow.request
        now_s = time.monotonic()
        wall_s = time.time()
        done: tuple[str, ...] = ()
        stream_filter: actions.StreamFilter | None = None
        signed = _is_signed(request)
        if self._settings.actions.any:
            done, stream_filter = self._act(flow, signed=signed)
            if flow.response is not None:
                return
        body = request.raw_content or b""
        cap_bytes = self._settings.cap_bytes
        exchange = _Open(uuid.uuid4().hex, now_s, capture.ChunkLog(cap_bytes), captured=False, filter=stream_filter)
        exchange.size_bytes = min(len(body), cap_bytes) + 512
        self._open[flow.id] = exchange
        self.counters.in_flight += 1
        started = capture.Started(
            id=exchange.id,
            started_at=wall_s,
            method=request.method,
            host=request.host_header or request.host,
            path=_without_query(request.path),
            headers=_kept_headers(request),
            body=body[:cap_bytes],
            truncated=len(body) > cap_bytes,
            upstream=flow.metadata.get("promptlint.upstream", request.host),
            caller=self._caller(request),
            labels=tuple(
                (name.lower().removeprefix(capture.LABEL_PREFIX), value)
                for name, value in flow.metadata.get("promptlint.labels", ())
            ),
            signed=signed,
            actions=done,
        )
        exchange.captured = self._worker.offer(started, exchange.size_bytes)
        exchange.sent_at_s = time.monotonic()
        waited_s = wall_s - (request.timestamp_end or wall_s)
        exchange.request_delay_s = max(0.0, waited_s) + exchange.sent_at_s - now_s

    def _act(self, flow: http.HTTPFlow, *, signed: bool) -> tuple[tuple[str, ...], actions.StreamFilter | None]:
        """Opt-in changes of the request; a failure leaves it as it came."""
        if signed:
            return (), None
        path = _without_query(flow.request.path)
        try:
            outcome = actions.apply(self._settings.actions, path, flow.request.raw_content or b"", flow.request.headers)
        except Exception as error:
            self._failed("actions", error)
            return (), None
        self.counters.actions.update(outcome.done)
        if outcome.refusal is not None:
            flow.response = error_page.json_response(400, outcome.refusal, path)
            return outcome.done, None
        if outcome.body is not None:
            flow.request.content = outcome.body  # sets content-length too
        if outcome.stream_filter is not None:
            # The chunk that is taken out again must be readable; nobody else's answer is asked for uncompressed.
            flow.request.headers["accept-encoding"] = "identity"
        return outcome.done, outcome.stream_filter

    def _answer(self, flow: http.HTTPFlow) -> None:
        response = flow.response
        if response is None or response.status_code == 101:
            return
        if self.draining:
            response.headers["connection"] = "close"
        exchange = self._open.get(flow.id)
        if exchange is None:
            response.stream = True
            return
        exchange.first_byte_s = time.monotonic() - exchange.sent_at_s
        if response.timestamp_start:
            exchange.response_delay_s = max(0.0, time.time() - response.timestamp_start)
        stream_filter = exchange.filter
        is_plain = response.headers.get("content-encoding", "identity") == "identity"
        if stream_filter is not None and is_plain and "event-stream" in response.headers.get("content-type", ""):
            response.headers.pop("content-length", None)
            if response.http_version == "HTTP/1.1":
                response.headers["transfer-encoding"] = "chunked"
            response.stream = self._filtering_tap(exchange, stream_filter)
        else:
            response.stream = _tap(exchange) if exchange.captured else True

    def _filtering_tap(self, exchange: _Open, stream_filter: actions.StreamFilter) -> Tap:
        """For a stream whose extra usage chunk the client did not ask for."""
        keep = _tap(exchange)

        def tap(data: bytes) -> list[bytes]:
            keep(data)
            try:
                passed = stream_filter.feed(data) if data else stream_filter.end()
            except Exception as error:
                self._failed("filter", error)
                passed = stream_filter.give_up(data)
            # Sent on as a chunk of no bytes, nothing would end the answer.
            return [passed] if passed else []

        return tap

    def _finish(self, flow: http.HTTPFlow, error: str | None) -> None:
        try:
            exchange = self._open.pop(flow.id, None)
            if exchange is None:
                return
            self.counters.in_flight -= 1
            if not exchange.captured:
                return
            response = flow.response
            finished = capture.Finished(
                id=exchange.id,
                status=response.status_code if response else None,
                headers=capture.keep_headers(response.headers.items(), capture.KEPT_RESPONSE_HEADERS)
                if response
                else (),
                chunks=exchange.log.taken(),
                skipped_bytes=exchange.log.skipped_bytes,
                first_byte_s=exchange.first_byte_s,
                e2e_s=time.monotonic() - exchange.sent_at_s,
                error=error,
                request_delay_s=exchange.request_delay_s,
                response_delay_s=exchange.response_delay_s,
            )
            if not self._worker.offer(finished, exchange.log.kept_bytes + 512):
                self._worker.offer(capture.Gone(exchange.id), always=True)
        except Exception as failure:
            self._failed("finish", failure)

    def _caller(self, request: http.Request) -> str | None:
        for name in KEY_HEADERS:
            if value := request.headers.get(name):
                return keyed_hash(self._key, "caller", value)
        return None

    def _failed(self, where: str, error: Exception) -> None:
        self.counters.errors[f"{where}:{type(error).__name__}"] += 1


def _tap(exchange: _Open) -> Tap:
    add = exchange.log.add
    sent_at_s = exchange.sent_at_s
    now = time.monotonic

    def tap(data: bytes) -> bytes:
        try:
            if data:
                add(now() - sent_at_s, data)
        except Exception:  # noqa: S110 an exception here would lose the chunk for the client
            pass
        return data

    return tap


def _send_to(flow: http.HTTPFlow, upstream: Upstream) -> None:
    request = flow.request
    flow.metadata["promptlint.upstream"] = upstream.name
    if upstream.prefix or upstream.base:
        request.path = upstream.rewrite(request.path)
    request.scheme = upstream.scheme
    request.data.host = upstream.host
    request.data.port = upstream.port
    # The option keep_host_header is on, so that `find` sees what the client asked for.
    request.host_header = upstream.host_header


def _kept_headers(request: http.Request) -> capture.Headers:
    kept = capture.keep_headers(request.headers.items(), capture.KEPT_REQUEST_HEADERS)
    # That Azure's key header is there tells the provider; its value is nobody's business.
    return (*kept, ("api-key", "hidden")) if "api-key" in request.headers else kept


def _without_query(path: str) -> str:
    return path.partition("?")[0]


def _is_label(name: str) -> bool:
    return name.lower().startswith(capture.LABEL_PREFIX)


def _is_signed(request: http.Request) -> bool:
    return SIGNATURE in request.headers.get("authorization", "") or "x-amz-signature=" in request.path.lower()
