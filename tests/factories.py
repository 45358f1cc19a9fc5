"""Complete requests, responses and exchanges with fixed times and ids: a test sets only what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from promptlint_core.exchange import (
    Exchange,
    Piece,
    PieceKind,
    Request,
    Response,
    Timing,
    Usage,
    WireMarker,
)
from promptlint_core.prompt import Bound, BoundKind, Part

STARTED_AT = 1_790_000_000.0
SYSTEM_TEXT = "You are a support agent of a shoe shop. Answer in two sentences and name the rule you used."


def pieces(system: str = SYSTEM_TEXT, turns: Sequence[str] = ("Where is my parcel?",)) -> tuple[Piece, ...]:
    """A system text and turns that alternate between user and assistant, as the chat protocol reads them."""
    found = [
        Piece("messages[0].role", "system", PieceKind.ROLE, Part.SYSTEM, 0, "system"),
        Piece("messages[0].content", system, PieceKind.TEXT, Part.SYSTEM, 0, "system", 0, True),
    ]
    for index, text in enumerate(turns, start=1):
        role = "user" if index % 2 else "assistant"
        path = f"messages[{index}]"
        found.append(Piece(f"{path}.role", role, PieceKind.ROLE, Part.MESSAGES, index, role))
        found.append(Piece(f"{path}.content", text, PieceKind.TEXT, Part.MESSAGES, index, role, index, True))
    return tuple(found)


def request(
    system: str = SYSTEM_TEXT,
    turns: Sequence[str] = ("Where is my parcel?",),
    *,
    provider: str = "openai",
    api: str = "chat",
    model: str = "gpt-5.4",
    output_bound: int | None = 300,
    markers: Sequence[WireMarker] = (),
    **fields: Any,
) -> Request:
    bound = Bound(BoundKind.ABSENT) if output_bound is None else Bound(BoundKind.LIMITED, output_bound)
    fields.setdefault("pieces", pieces(system, turns))
    return Request(provider, api, model, markers=tuple(markers), bound=bound, **fields)


def usage(prompt: int | None = 1200, hit: int | None = 0, output: int | None = 60, written: int | None = None) -> Usage:
    computed = None if prompt is None or hit is None else prompt - hit - (written or 0)
    return Usage(prompt, hit, written, computed, output)


def response(status: int = 200, *, finish_reason: str | None = "stop", **fields: Any) -> Response:
    fields.setdefault("usage", usage())
    return Response(status=status, finish_reason=finish_reason, **fields)


def exchange(
    index: int = 0,
    asked: Request | None = None,
    answered: Response | None = None,
    *,
    started_s: float | None = None,
    ttft_s: float | None = 0.4,
    e2e_s: float | None = 1.6,
    **fields: Any,
) -> Exchange:
    """`started_s` counts from STARTED_AT; by default exchanges start ten seconds apart."""
    started_at = STARTED_AT + (10.0 * index if started_s is None else started_s)
    timing = Timing(started_at, first_byte_s=ttft_s, ttft_s=ttft_s, e2e_s=e2e_s)
    return Exchange(index, asked or request(), answered or response(), timing, **fields)
