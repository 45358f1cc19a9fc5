"""Bodies and streams as servers send them, and a short way to read them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any
from zlib import crc32

from promptlint_core.exchange import Request, Response
from promptlint_proxy.protocols import find
from promptlint_proxy.protocols.base import Protocol, RequestHead, ResponseHead, StreamEvent

SSE = {"content-type": "text/event-stream; charset=utf-8"}
JSON = {"content-type": "application/json"}
JSON_LINES = {"content-type": "application/x-ndjson"}
EVENT_STREAM = {"content-type": "application/vnd.amazon.eventstream"}


def protocol(
    host: str, path: str, body: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
) -> Protocol:
    found = find("POST", host, path, headers or {}, json.dumps(body).encode() if body is not None else None)
    assert found is not None
    return found


def read(host: str, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Request:
    raw = json.dumps(body, ensure_ascii=False).encode()
    return protocol(host, path, body, headers).read_request(raw, RequestHead("POST", host, path, headers or {}))


def shown(request: Request) -> list[tuple[str, str]]:
    return [(piece.path, piece.text) for piece in request.pieces]


def answer(host: str, path: str, body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    head = ResponseHead(status, headers or JSON)
    return protocol(host, path).read_response(json.dumps(body).encode(), head)


def sse(*events: Mapping[str, Any] | str, named: bool = False) -> bytes:
    """`data:` events; `named` adds `event:` lines from each event's type; strings are sent as they are."""
    out = []
    for event in events:
        if isinstance(event, str):
            out.append(event)
            continue
        name = f"event: {event['type']}\n" if named else ""
        out.append(f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n")
    return "".join(out).encode()


def frame(payload: Mapping[str, Any], **headers: str) -> bytes:
    """One AWS event stream frame; `event_type` becomes `:event-type`."""
    raw = b""
    for name, value in headers.items():
        key = ":" + name.replace("_", "-")
        raw += bytes([len(key)]) + key.encode() + b"\x07" + len(value).to_bytes(2, "big") + value.encode()
    body = json.dumps(payload).encode()
    prelude = (16 + len(raw) + len(body)).to_bytes(4, "big") + len(raw).to_bytes(4, "big")
    message = prelude + crc32(prelude).to_bytes(4, "big") + raw + body
    return message + crc32(message).to_bytes(4, "big")


def chunk(payload: Mapping[str, Any]) -> bytes:
    """A Bedrock invoke chunk: the vendor's event as base64."""
    packed = base64.b64encode(json.dumps(payload).encode()).decode()
    return frame({"bytes": packed}, event_type="chunk", message_type="event")


def stream(
    host: str,
    path: str,
    body: bytes,
    headers: Mapping[str, str] = SSE,
    cuts: Sequence[int] = (),
) -> tuple[list[StreamEvent], Response]:
    """Events and response of a stream whose bytes arrive cut at the given places, one second apart."""
    reader = protocol(host, path).stream(ResponseHead(200, headers))
    places = sorted({0, *(cut % (len(body) + 1) for cut in cuts), len(body)})
    events: list[StreamEvent] = []
    for at, (start, end) in enumerate(pairwise(places)):
        events += reader.feed(body[start:end], float(at))
    return events, reader.finish(float(len(places)))


def content(events: Sequence[StreamEvent]) -> list[tuple[str, int, int | None, int]]:
    return [(event.kind, event.choice, event.tokens, event.chars) for event in events if event.content]
