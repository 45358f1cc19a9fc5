"""HAR: what browsers, proxies and HTTP debuggers save."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from promptlint_core.errors import PromptlintError
from promptlint_proxy.replay.readers.json_records import as_seconds
from promptlint_proxy.replay.recorded import RecordedExchange, Unreadable


def read_har(path: Path) -> Iterator[RecordedExchange | Unreadable]:
    """The POST requests of a HAR file, in its order. Raises PromptlintError where the file is none."""
    try:
        whole = json.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
        entries = whole["log"]["entries"]
    except OSError as error:
        raise PromptlintError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise PromptlintError(f"{path} is no HAR file: `log.entries` is expected in a JSON object") from None
    for number, entry in enumerate(entries if isinstance(entries, list) else []):
        place = f"{path}#log.entries[{number}]"
        try:
            recorded = _read_entry(entry, place)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            yield Unreadable(place, f"this entry is no HAR entry ({type(error).__name__}: {error})")
            continue
        if recorded is not None:
            yield recorded


def _read_entry(entry: Mapping[str, Any], place: str) -> RecordedExchange | Unreadable | None:
    request, response = entry["request"], entry["response"]
    if request["method"].upper() != "POST":
        return None
    at = as_seconds(entry["startedDateTime"])
    if at is None:
        return Unreadable(place, "`startedDateTime` is no ISO 8601 time")
    posted = request.get("postData") or {}
    if "text" not in posted:
        return Unreadable(place, "the body of the request was not saved: record it with content")
    address = urlsplit(request["url"])
    content = response.get("content") or {}
    timings = entry.get("timings") or {}
    return RecordedExchange(
        at=at,
        path=address.path + (f"?{address.query}" if address.query else ""),
        body=_bytes(posted["text"], posted.get("encoding")),
        host=address.netloc.rpartition("@")[2],
        headers=_headers(request.get("headers")),
        status=response.get("status") or None,  # 0: no answer came
        response_headers=_headers(response.get("headers"), content.get("mimeType")),
        response_body=_bytes(content["text"], content.get("encoding")) if "text" in content else None,
        first_byte_s=_milliseconds(timings.get("wait")),
        e2e_s=_milliseconds(entry.get("time")),
        place=place,
    )


def _headers(entries: object, content_type: object = None) -> dict[str, str]:
    headers = {}
    for header in entries if isinstance(entries, list) else []:
        headers[str(header["name"]).lower()] = str(header["value"])
    if isinstance(content_type, str) and content_type:
        headers.setdefault("content-type", content_type)
    return headers


def _bytes(text: str, encoding: object) -> bytes:
    if encoding == "base64":
        try:
            return base64.b64decode(text)
        except binascii.Error as error:
            raise ValueError("a body is no base64") from error
    return text.encode("utf-8", "surrogatepass")


def _milliseconds(value: object) -> float | None:
    """Seconds; HAR writes −1 for what does not apply."""
    return value / 1000.0 if isinstance(value, int | float) and value >= 0 else None
