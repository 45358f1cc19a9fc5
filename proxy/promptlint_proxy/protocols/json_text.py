"""JSON in and out, as the wire has it: fast where orjson is installed, tolerant everywhere."""

from __future__ import annotations

import json
import re
from typing import Any

try:
    import orjson
except ModuleNotFoundError:  # the base install replays without it
    orjson = None  # type: ignore[assignment, unused-ignore]

Object = dict[str, Any]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode


def read_json(body: bytes | str) -> Any:
    """Any JSON value; raises ValueError for what is none. Huge numbers are taken as they come.

    Half a surrogate pair, which clients send that cut a text inside an emoji, becomes U+FFFD: no file, label or
    tokenizer takes it.
    """
    if orjson is not None:
        try:
            return orjson.loads(body)
        except ValueError:
            pass  # orjson refuses lone surrogates, NaN and a byte order mark, which real clients send
    try:
        value = json.loads(body)
        held = body if isinstance(body, str) else body.decode("utf-8", "replace")
        return _encodable(value) if _SURROGATE_ESCAPE.search(held) or _SURROGATE.search(held) else value
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def encodable(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, so that every offset stays.

    >>> encodable("a\\ud83d b") == "a\\ufffd b"
    True
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {encodable(key): _encodable(entry) for key, entry in value.items()}
    return [_encodable(entry) for entry in value] if isinstance(value, list) else value


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
