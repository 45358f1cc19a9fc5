"""Flow files of mitmproxy (`mitmdump -w`, mitmweb's save)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mitmproxy.exceptions import FlowReadException
from mitmproxy.http import Headers, HTTPFlow
from mitmproxy.io import FlowReader

from promptlint_proxy.replay.recorded import RecordedExchange, Unreadable


def read_flows(path: Path) -> Iterator[RecordedExchange | Unreadable]:
    """The POST requests of a flow file, in its order; a file that ends in the middle of a flow tells so at its end."""
    number = 0
    with path.open("rb") as file:
        try:
            for number, flow in enumerate(FlowReader(file).stream()):
                if isinstance(flow, HTTPFlow) and flow.request.method.upper() == "POST":
                    yield _read_flow(flow, f"{path}#flow {number}")
        except FlowReadException as error:
            yield Unreadable(f"{path}#flow {number}", f"the flow file cannot be read further: {error}")
        except Exception as error:  # mitmproxy takes what it unpacks for a flow
            reason = f"{type(error).__name__}: {error}"
            yield Unreadable(f"{path}#flow {number}", f"the flow file cannot be read further: no flow ({reason})")


def _read_flow(flow: HTTPFlow, place: str) -> RecordedExchange | Unreadable:
    request, response = flow.request, flow.response
    body = request.get_content(strict=False)
    if body is None:
        return Unreadable(place, "the body of the request was not kept: it was streamed through")
    started_at = request.timestamp_start
    return RecordedExchange(
        at=started_at,
        path=request.path,
        body=body,
        host=request.host_header or f"{request.host}:{request.port}",
        headers=_headers(request.headers),
        status=response.status_code if response else None,
        response_headers=_headers(response.headers) if response else {},
        response_body=response.get_content(strict=False) if response else None,
        first_byte_s=_since(started_at, response.timestamp_start if response else None),
        e2e_s=_since(started_at, response.timestamp_end if response else None),
        told={"error": "cut" if response else "unreachable"} if flow.error else None,
        place=place,
    )


def _headers(headers: Headers) -> dict[str, str]:
    return {name.lower(): headers[name] for name in headers}


def _since(started_at: float, at: float | None) -> float | None:
    return at - started_at if at is not None and at >= started_at else None
