"""JSON in and out, as the wire has it: fast where orjson is installed, tolerant everywhere."""

from __future__ import annotations

import json
from typing import Any

try:
    import orjson
except ModuleNotFoundError:  # the base install replays without it
    orjson = None  # type: ignore[assignment, unused-ignore]

Object = dict[str, Any]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


def read_json(body: bytes | str) -> Any:
    """Any JSON value; raises ValueError for what is none. Lone surrogates and huge numbers are taken as they come."""
    if orjson is not None:
        try:
            return orjson.loads(body)
        except ValueError:
            pass  # orjson refuses lone surrogates, NaN and a byte order mark, which real clients send
    try:
        return json.loads(body)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def read_object(body: bytes | str) -> Object | None:
    """The JSON object in a body; None where there is none."""
    try:
        value = read_json(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def compact(value: object) -> str:
    """Compact JSON in the received key order: what pieces hold of schemas and inputs."""
    return _encode(value)


def as_object(value: object) -> Object:
    """The value if it is an object, else an empty one: absent and malformed read alike."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


LARGEST = 1 << 53
"""JSON numbers beyond are not exact, and a record has no room for them."""


def as_int(value: object) -> int | None:
    """A whole number up to 2⁵³; None for what is none. Some servers send counts as floats."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None


def as_count(value: object) -> int | None:
    """As `as_int`, from 0."""
    number = as_int(value)
    return number if number is not None and number >= 0 else None
