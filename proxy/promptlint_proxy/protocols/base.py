"""What every protocol does: read a request, a response, and the events of a stream, out of bytes.

Nothing here raises for bad input: what cannot be read gives a Request or Response without pieces and with a note.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from typing import Protocol as Interface

from promptlint_core.exchange import Request, Response
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.framing.event_stream import FrameSplitter
from promptlint_proxy.protocols.framing.json_array import ArraySplitter
from promptlint_proxy.protocols.framing.ndjson import LineSplitter
from promptlint_proxy.protocols.framing.sse import SseSplitter
from promptlint_proxy.protocols.json_text import Object, read_json, read_object


def find_header(headers: Mapping[str, str], name: str) -> str:
    """The value of a header whatever its case; empty when absent."""
    value = headers.get(name)
    if value is not None:
        return value
    for key, other in headers.items():
        if key.lower() == name:
            return other
    return ""


@dataclass(frozen=True, slots=True)
class RequestHead:
    method: str
    host: str
    """With port, as in the Host header."""
    path: str
    """A query may follow; it is cut off before anything is kept."""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def path_only(self) -> str:
        return self.path.partition("?")[0]


@dataclass(frozen=True, slots=True)
class ResponseHead:
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def content_type(self) -> str:
        return find_header(self.headers, "content-type").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream, or its part that belongs to one choice."""

    at: float
    """Seconds, on the clock of the caller of `feed`."""
    content: bool
    """Carries generated text, reasoning or tool arguments: the first such event ends the time to first token."""
    choice: int = 0
    tokens: int | None = None
    """Tokens in the event, where the server tells; None: estimate by `chars`."""
    kind: str = "other"
    """`text`, `reasoning`, `tool`; without content `role`, `ping`, `usage`, `stop`, `error`, `other`."""
    chars: int = 0
    """Characters of generated content."""


class StreamReader(Interface):
    """Reads a response body while it passes. Chunks are free of content-encoding and may be cut anywhere."""

    def feed(self, chunk: bytes, at: float) -> list[StreamEvent]: ...

    def finish(self, at: float) -> Response:
        """Call once, also after a cut: the response as far as it came."""
        ...


class Protocol(ABC):
    """One wire format, served by one provider."""

    name: ClassVar[str]
    """The `api` of requests: `chat`, `responses`, `messages` …"""

    def __init__(self, provider: str = "unknown") -> None:
        self.provider = provider

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.provider!r})"

    @abstractmethod
    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:
        """The request told by a JSON body; `request` holds what the head told already."""

    def read_answer(self, body: Object, answer: Answer) -> None:  # noqa: B027 - embeddings tell nothing
        """Take what a whole, successful JSON response tells."""

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:  # noqa: ARG002
        """Take what one event of a stream tells; `name` is its SSE or AWS event type. Yields generated content."""
        return ()

    def read_request(self, body: bytes, head: RequestHead) -> Request:
        empty = Request(
            provider=self.provider, api=self.name, model=None, host=head.host, path=head.path_only, signed=_signed(head)
        )
        parsed = read_object(body)
        if parsed is None:
            return replace(empty, notes=("the request body is no JSON object",))
        try:
            return self.read_body(parsed, empty, head)
        except Exception as error:  # a shape nobody thought of must not stop the traffic
            return replace(empty, notes=(f"the request body could not be read ({type(error).__name__})",))

    def read_response(self, body: bytes, head: ResponseHead) -> Response:
        answer = Answer(self.name, self.provider)
        parsed = _read_response_object(body)
        if head.status >= 400:
            answer.fail(parsed, head.status, find_header(head.headers, "x-amzn-errortype"))
        elif parsed is None:
            answer.readable = False
            answer.note("the response body is no JSON object")
        else:
            try:
                self.read_answer(parsed, answer)
            except Exception as error:
                answer.note(f"the response body could not be read ({type(error).__name__})")
        self.read_headers(head, answer)
        return answer.response(head.status)

    def read_headers(self, head: ResponseHead, answer: Answer) -> None:  # noqa: B027 - few hosts tell anything there
        """Take what response headers tell."""

    def stream(self, head: ResponseHead) -> StreamReader:
        """A reader for a response of any kind; one that is no stream is read when it is finished."""
        content_type = head.content_type
        if head.status < 400:
            if content_type == "text/event-stream":
                return EventReader(self, head, SseSplitter())
            if content_type in {"application/x-ndjson", "application/jsonl", "application/stream+json"}:
                return EventReader(self, head, LineSplitter())
            if content_type == "application/vnd.amazon.eventstream":
                return EventReader(self, head, FrameSplitter())
            if self.streams_arrays:
                return EventReader(self, head, ArraySplitter())
        return WholeReader(self, head)

    streams_arrays: ClassVar[bool] = False
    """A JSON array that is written piece by piece is a stream of this protocol."""


_SSE_STARTS = (b"data:", b"event:", b"id:", b"retry:", b":")
_LONGEST_SSE_START_BYTES = 6


class WholeReader:
    """Keeps a body that is no stream and reads it at its end; server-sent events under another name are seen."""

    def __init__(self, protocol: Protocol, head: ResponseHead) -> None:
        self._protocol = protocol
        self._head = head
        self._body = bytearray()
        self._events: EventReader | None = None
        self._sniffed = head.status >= 400

    def feed(self, chunk: bytes, at: float) -> list[StreamEvent]:
        if self._events is not None:
            return self._events.feed(chunk, at)
        self._body += chunk
        if self._sniffed or len(self._body) < _LONGEST_SSE_START_BYTES:
            return []
        self._sniffed = True
        if not self._body.startswith(_SSE_STARTS):
            return []
        self._events = EventReader(self._protocol, self._head, SseSplitter())
        return self._events.feed(bytes(self._body), at)

    def finish(self, at: float) -> Response:
        if self._events is not None:
            return self._events.finish(at)
        return self._protocol.read_response(bytes(self._body), self._head)


Splitter = SseSplitter | LineSplitter | FrameSplitter | ArraySplitter


class EventReader:
    """Cuts a stream into events and lets the protocol read them."""

    def __init__(self, protocol: Protocol, head: ResponseHead, splitter: Splitter) -> None:
        self._protocol = protocol
        self._head = head
        self._splitter = splitter
        self._answer = Answer(protocol.name, protocol.provider)

    def feed(self, chunk: bytes, at: float) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for raw in self._splitter.feed(chunk):
            self._take(raw, at, events)
        return events

    def finish(self, at: float) -> Response:
        events: list[StreamEvent] = []
        for raw in self._splitter.finish():
            self._take(raw, at, events)
        if isinstance(self._splitter, FrameSplitter) and self._splitter.damaged:
            self._answer.note("a frame of the event stream is damaged; nothing behind it was read")
        self._protocol.read_headers(self._head, self._answer)
        return self._answer.response(self._head.status)

    def _take(self, raw: Any, at: float, events: list[StreamEvent]) -> None:
        answer = self._answer
        if isinstance(raw, bytes):
            data, name = raw, ""
        elif hasattr(raw, "payload"):
            data, name = raw.payload, raw.headers.get(":event-type") or raw.headers.get(":exception-type", "")
            if raw.headers.get(":message-type") in {"exception", "error"}:
                answer.fail_as(name or "exception")
                events.append(StreamEvent(at, False, kind="error"))
                return
        else:
            data, name = raw.data, raw.event
        if data == b"[DONE]":
            answer.done = True
            events.append(StreamEvent(at, False, kind="stop"))
            return
        event = read_object(data)
        if event is None:
            events.append(StreamEvent(at, False, kind="ping" if name == "ping" else "other"))
            return
        answer.kind = "other"
        answer.choice = 0
        count = len(events)
        try:
            for delta in self._protocol.read_event(event, name, answer):
                if delta.text:
                    answer.add(delta)
                    events.append(StreamEvent(at, True, delta.choice, delta.tokens, delta.kind, len(delta.text)))
        except Exception as error:
            answer.note(f"an event of the stream could not be read ({type(error).__name__})")
        if len(events) == count:
            events.append(StreamEvent(at, False, answer.choice, kind=answer.kind))


def _read_response_object(body: bytes) -> Object | None:
    """The object of a response, also where it is the one entry of a list (TGI's root path)."""
    try:
        value = read_json(body)
    except ValueError:
        return None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) else None


def _signed(head: RequestHead) -> bool:
    """AWS signatures cover the body."""
    authorization = find_header(head.headers, "authorization")
    return authorization.startswith("AWS4-") or bool(find_header(head.headers, "x-amz-content-sha256"))
