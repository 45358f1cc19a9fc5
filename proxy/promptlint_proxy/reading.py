"""Turns the bytes of a capture into an Exchange: protocol found, encodings undone, stream cut into timed events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from promptlint_core.exchange import Exchange, Piece, PieceKind, Request, Response
from promptlint_proxy.capture import Finished, Started
from promptlint_proxy.protocols import find
from promptlint_proxy.protocols.base import Protocol, RequestHead, ResponseHead, StreamEvent
from promptlint_proxy.protocols.json_text import encodable
from promptlint_proxy.stream import Decoder, decode_body
from promptlint_proxy.timing import Latency, measure

READ_CHARS = 4_000_000
"""Text of one request that is analysed, in code points: about a million tokens, more than nearly all models take. What
stands behind it would cost seconds of processor time."""


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A request that asks a model."""

    protocol: Protocol
    request: Request


def provider_of(settings: Sequence[str]) -> Mapping[str, str]:
    """`vllm` → {"": "vllm"}, `local=vllm` → {"local": "vllm"}."""
    pairs = (entry.rpartition("=") for entry in settings)
    return {upstream: name for upstream, _, name in pairs}


def cleaned(started: Started) -> Started:
    """With texts that every file and label takes: bytes of a request line or header need not be UTF-8."""
    return replace(
        started,
        host=encodable(started.host),
        path=encodable(started.path),
        headers=tuple((name, encodable(value)) for name, value in started.headers),
        labels=tuple((encodable(name), encodable(value)) for name, value in started.labels),
    )


def read_started(started: Started, providers: Mapping[str, str]) -> ReadRequest | None:
    """The request of a capture; None for what asks no model."""
    headers = dict(started.headers)
    body = decode_body(started.body, headers.get("content-encoding", ""))
    protocol = find(started.method, started.host, started.path, headers, body)
    if protocol is None:
        return None
    provider = providers.get(started.upstream) or providers.get("")
    if provider:
        protocol = type(protocol)(provider)
    head = RequestHead(started.method, started.host, started.path, headers)
    request = protocol.read_request(body, head)
    pieces, cut = _within_limit(request.pieces)
    cut = cut or started.truncated
    notes = (*request.notes, "the request is larger than the limit and was not read whole") if cut else ()
    labels = (*started.labels, *((("actions", ",".join(started.actions)),) if started.actions else ()))
    return ReadRequest(
        protocol,
        replace(
            request,
            signed=started.signed or request.signed,
            labels=labels,
            pieces=pieces,
            hidden_prefix=request.hidden_prefix or cut,
            notes=notes or request.notes,
        ),
    )


def _within_limit(pieces: tuple[Piece, ...]) -> tuple[tuple[Piece, ...], bool]:
    """The pieces up to the limit, and whether some were left out; bytes of images are hashed, never searched."""
    left_chars = READ_CHARS
    for index, piece in enumerate(pieces):
        if piece.kind is PieceKind.IMAGE:
            continue
        left_chars -= len(piece.text)
        if left_chars < 0:
            return (*pieces[:index], replace(piece, text=piece.text[: len(piece.text) + left_chars])), True
    return pieces, False


def read_finished(index: int, started: Started, read: ReadRequest, finished: Finished) -> tuple[Exchange, Latency]:
    """The exchange with its latency, whatever of the answer came."""
    response, events = _read_response(read.protocol, finished)
    usage = response.usage
    latency = measure(
        started.started_at,
        events if _is_stream(finished) else (),
        first_byte_s=finished.first_byte_s,
        e2e_s=finished.e2e_s,
        output_tokens=usage.output_tokens if usage else None,
    )
    # The analysis keeps many exchanges to compare with; a gap for every token of each would be most of its memory.
    kept = replace(latency.timing, gaps_s=(), event_tokens=())
    return Exchange(index, read.request, response, kept), latency


def _read_response(protocol: Protocol, finished: Finished) -> tuple[Response, list[StreamEvent]]:
    if finished.status is None:
        return Response(error=finished.error or "unreachable"), []
    headers = dict(finished.headers)
    decoder = Decoder(headers.get("content-encoding", ""))
    reader = protocol.stream(ResponseHead(finished.status, headers))
    events: list[StreamEvent] = []
    left_out = finished.skipped_bytes
    at_s = 0.0
    for at_s, chunk in finished.chunks:
        events += reader.feed(decoder.decode(chunk), at_s)
    response = reader.finish(finished.e2e_s if finished.e2e_s is not None else at_s)
    notes = response.notes
    if decoder.note:
        notes = (*notes, decoder.note)
    if left_out:
        notes = (*notes, f"{left_out} bytes in the middle of the answer were not kept")
    return replace(response, error=response.error or finished.error, notes=notes), events


def read_answer_text(finished: Finished) -> str:
    """The answer's decoded body as it came, for records that keep text on order."""
    decoder = Decoder(dict(finished.headers).get("content-encoding", ""))
    return b"".join(decoder.decode(chunk) for _, chunk in finished.chunks).decode("utf-8", "replace")


def _is_stream(finished: Finished) -> bool:
    kind = dict(finished.headers).get("content-type", "").partition(";")[0].strip().lower()
    return kind in STREAM_TYPES or "stream" in kind


STREAM_TYPES = frozenset({"text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream"})
