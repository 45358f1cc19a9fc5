"""Objects out of a JSON file, whichever way an export lays them out: one a line, a list, or a list under a key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from promptlint_core.errors import PromptlintError
from promptlint_proxy.replay.recorded import Unreadable

Object = dict[str, Any]


def read_records(path: Path, list_keys: Sequence[str] = ()) -> Iterator[tuple[str, Object] | Unreadable]:
    """(place, object) of each record; what is none is told. Raises PromptlintError where the file cannot be read.

    Args:
        list_keys: names under which an object may hold the list of records (`data`, `observations` …).
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise PromptlintError(f"{path} cannot be read: {error.strerror or error}") from None
    try:
        whole = json.loads(raw)
    except (ValueError, RecursionError):
        yield from _lines(path, raw)
        return
    records = whole
    if isinstance(whole, dict):
        records = next((whole[key] for key in list_keys if isinstance(whole.get(key), list)), [whole])
    if not isinstance(records, list):
        yield Unreadable(str(path), "this file holds one JSON value where a list of records is expected")
        return
    for number, record in enumerate(records, 1):
        yield _record(f"{path}#{number}", record)


def _lines(path: Path, raw: bytes) -> Iterator[tuple[str, Object] | Unreadable]:
    for number, line in enumerate(raw.split(b"\n"), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            yield _record(place, json.loads(line))
        except (ValueError, RecursionError) as error:
            yield Unreadable(place, f"this line is no JSON: {getattr(error, 'msg', type(error).__name__)}")


def _record(place: str, record: object) -> tuple[str, Object] | Unreadable:
    if isinstance(record, dict):
        return place, record
    return Unreadable(place, "this record is no JSON object")


def as_json(value: object) -> bytes:
    """A request body again, keys in the order of the recording."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def as_value(value: object) -> object:
    """The value itself, or what a string holds as JSON: exports of databases keep objects as strings."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def as_seconds(value: object) -> float | None:
    """Seconds since 1970 of a number or an ISO 8601 time; times without a zone are UTC. None for what is neither.

    >>> as_seconds("2026-09-09T08:00:00.500Z"), as_seconds("2026-09-09 08:00:00"), as_seconds("soon")
    (1788940800.5, 1788940800.0, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value / 1000.0 if value > 1e11 else float(value)
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
