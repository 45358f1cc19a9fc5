"""JSON lines: one request with what is known of its answer on each line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from promptlint_proxy.replay.recorded import RecordedExchange, Unreadable

_YEAR_10000_S = 253_402_300_800
"""Seconds from 1970 on; also below what a time in milliseconds comes to."""


def read_json_lines(path: Path) -> Iterator[RecordedExchange | Unreadable]:
    """The exchanges of a file, in its order; a line that cannot be read is told and the rest goes on.

    A line holds `t` (seconds), `path`, `headers`, `request`, and optionally `usage` and `response`.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield read_line(line, f"{path}:{number}")


def read_line(line: bytes, place: str) -> RecordedExchange | Unreadable:
    """One line; an Unreadable says what is wrong with it."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Unreadable(place, f"this line is no JSON: {_reason(error)}")
    if not isinstance(entry, dict):
        return Unreadable(place, f"this line holds a JSON {_kind(entry)} where an object is expected")
    request = entry.get("request")
    if not isinstance(request, dict):
        found = "is missing" if "request" not in entry else f"is a JSON {_kind(request)}"
        return Unreadable(place, f"`request` {found}; the body of the request as a JSON object is expected")
    at = entry.get("t")
    if isinstance(at, bool) or not isinstance(at, (int, float)):
        return Unreadable(place, "`t` is missing or no number; the start of the request in seconds is expected")
    if not abs(at) < _YEAR_10000_S:
        return Unreadable(
            place, "`t` lies in no year that a clock shows; the start of the request in seconds is expected"
        )
    headers = {
        str(name): str(value)
        for name, value in _object(entry.get("headers")).items()
        if not isinstance(value, (dict, list))
    }
    host = next((value for name, value in headers.items() if name.lower() == "host"), "")
    return RecordedExchange(
        at=float(at),
        path=str(entry.get("path") or ""),
        body=json.dumps(request, ensure_ascii=False).encode("utf-8", "surrogatepass"),
        host=host,
        headers=headers,
        usage=_object(entry.get("usage")) or None,
        told=_object(entry.get("response")) or None,
        place=place,
    )


def _reason(error: Exception) -> str:
    """What keeps a line from being JSON, in words."""
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8 text"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(getattr(error, "msg", error))


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _kind(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "boolean", int: "number", float: "number", str: "string", list: "array"}
    return names.get(type(value), "value")
