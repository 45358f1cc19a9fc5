"""An exchange as a recording holds it, and the way from there to an exchange that can be analysed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from promptlint_core.exchange import Exchange, Request, Response, Timing, Usage
from promptlint_proxy.protocols import find
from promptlint_proxy.protocols.base import Protocol, RequestHead, ResponseHead
from promptlint_proxy.protocols.unknown import Unknown
from promptlint_proxy.protocols.usage import read_usage


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """One request with what a recording tells of its answer. Absent is None."""

    at: float
    """Start of the request in seconds since 1970 UTC, or since any fixed zero."""
    path: str
    """With query, as it was sent; only the path is kept."""
    body: bytes
    host: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "POST"
    usage: Mapping[str, Any] | None = None
    """The usage object as the provider sends it; empty or None: not reported."""
    told: Mapping[str, Any] | None = None
    """What is known of the answer: `status`, `error`, `finish_reason` or `stop_reason`, `provider`, `first_byte_at`,
    `ttft_ms`, `duration_s`, `tool_calls`, `cited`, `content_chars`, `content_tail`."""
    status: int | None = None
    response_headers: Mapping[str, str] = field(default_factory=dict)
    response_body: bytes | None = None
    """Free of content-encoding."""
    first_byte_s: float | None = None
    ttft_s: float | None = None
    e2e_s: float | None = None
    place: str = ""
    """`file:line`, for sentences."""
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A place of a recording that could not be read."""

    place: str
    sentence: str


def to_exchange(recorded: RecordedExchange, index: int, provider: str | None = None) -> Exchange | None:
    """The exchange that a recording holds; None for what asks no model (token counts, health checks).

    Args:
        provider: who serves, where the user knows it better than host and path tell.
    """
    protocol = find(recorded.method, recorded.host, recorded.path, recorded.headers, recorded.body)
    if protocol is None:
        return None
    if provider:
        protocol.provider = provider
    head = RequestHead(recorded.method, recorded.host, recorded.path, recorded.headers)
    request = protocol.read_request(recorded.body, head)
    response = _response(recorded, protocol)
    return Exchange(index, request, response, _timing(recorded), recorded.extra)


def _response(recorded: RecordedExchange, protocol: Protocol) -> Response:
    response = Response(status=recorded.status)
    if recorded.response_body is not None and not isinstance(protocol, Unknown):
        reader = protocol.stream(ResponseHead(recorded.status or 200, recorded.response_headers))
        reader.feed(recorded.response_body, 0.0)
        response = reader.finish(0.0)
    usage = response.usage
    if recorded.usage:
        usage = read_usage(protocol.name, protocol.provider, dict(recorded.usage))
    return _with_told(replace(response, usage=_or_none(usage)), recorded.told or {})


def _or_none(usage: Usage | None) -> Usage | None:
    """A usage object in which nothing is told is no usage."""
    return None if usage is None or usage == Usage() else usage


def _with_told(response: Response, told: Mapping[str, Any]) -> Response:
    calls = told.get("tool_calls")
    cited = told.get("cited")
    error = _text(told.get("error"))
    return replace(
        response,
        status=_integer(told.get("status")) or response.status,
        error=error or response.error,
        finish_reason=_text(told.get("finish_reason")) or _text(told.get("stop_reason")) or response.finish_reason,
        model=_text(told.get("model")) or response.model,
        served_by=_text(told.get("provider")) or response.served_by,
        tool_calls=_calls(calls) if calls is not None else response.tool_calls,
        tools_known=response.tools_known or calls is not None,
        cited=len(cited) if isinstance(cited, list) else _integer(cited) or response.cited,
        content_chars=_first(_integer(told.get("content_chars")), response.content_chars),
        content_tail=_first(_text(told.get("content_tail")), response.content_tail),
        diagnosis=_text(told.get("diagnosis")) or response.diagnosis,
    )


def _first(told: Any, read: Any) -> Any:
    return told if told is not None else read


def _calls(calls: object) -> tuple[str, ...]:
    """Names of the calls; a bare count gives as many nameless ones."""
    if isinstance(calls, list):
        return tuple(
            str(call.get("name") or (call.get("function") or {}).get("name") or "?")
            if isinstance(call, dict)
            else str(call)
            for call in calls
        )
    return ("?",) * (_integer(calls) or 0)


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _seconds(value: object, scale: float = 1.0) -> float | None:
    return value * scale if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _timing(recorded: RecordedExchange) -> Timing:
    told = recorded.told or {}
    first_byte_at = _seconds(told.get("first_byte_at"))
    first_byte_s = recorded.first_byte_s if first_byte_at is None else first_byte_at - recorded.at
    return Timing(
        started_at=recorded.at,
        first_byte_s=first_byte_s,
        ttft_s=_first(_seconds(told.get("ttft_ms"), 0.001), recorded.ttft_s),
        e2e_s=_first(_seconds(told.get("duration_s")), recorded.e2e_s),
    )


def is_call(request: Request) -> bool:
    """Whether a request asks a model with a prompt."""
    return request.api not in ("embeddings", "unknown")
