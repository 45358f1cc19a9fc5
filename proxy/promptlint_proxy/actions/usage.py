"""Asks for usage in chat streams, and takes the extra chunk out of the answer again."""

from __future__ import annotations

import json
from typing import Any

from promptlint_proxy.actions.api import Api

EVENT_ENDS = (b"\r\n\r\n", b"\n\n", b"\r\r")
MAX_HELD_BYTES = 1024 * 1024


def ask(api: Api, document: dict[str, Any]) -> bool:
    """Set `stream_options.include_usage` where the client does not say; an explicit false is respected."""
    if api not in (Api.CHAT, Api.COMPLETIONS) or document.get("stream") is not True:
        return False
    options = document.get("stream_options")
    if options is None:
        document["stream_options"] = {"include_usage": True}
        return True
    if not isinstance(options, dict) or options.get("include_usage") is not None:
        return False
    options["include_usage"] = True
    return True


class StreamFilter:
    """Takes the usage chunk with no choices out of a stream of server-sent events; all other bytes pass unchanged.

    Complete events go on at once; at most the start of one event is held until its end has come.
    """

    def __init__(self) -> None:
        self._held = b""
        self._open = True

    def feed(self, data: bytes) -> bytes:
        """The bytes that can go on after this chunk."""
        if not self._open:
            return data
        self._held += data
        passed = []
        while (end := _end_of_event(self._held)) is not None:
            event, self._held = self._held[:end], self._held[end:]
            if not is_usage_chunk(event):
                passed.append(event)
        if len(self._held) > MAX_HELD_BYTES:
            passed.append(self._held)
            self._held = b""
            self._open = False
        return b"".join(passed)

    def end(self) -> bytes:
        """What is left at the end of the stream."""
        held, self._held = self._held, b""
        return held

    def give_up(self, data: bytes) -> bytes:
        """Pass everything on from here; `data` is held already when `feed` has taken it."""
        self._open = False
        held = self.end()
        return held if held.endswith(data) else held + data


def is_usage_chunk(event: bytes) -> bool:
    """True for the chunk that carries usage and no choice."""
    if b'"usage"' not in event:
        return False
    lines = event.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    payload = b"\n".join(line[5:].strip() for line in lines if line.startswith(b"data:"))
    try:
        document = json.loads(payload)
    except ValueError:
        return False
    return isinstance(document, dict) and document.get("choices") == [] and isinstance(document.get("usage"), dict)


def _end_of_event(data: bytes) -> int | None:
    ends = [(found, found + len(end)) for end in EVENT_ENDS if (found := data.find(end)) >= 0]
    return min(ends)[1] if ends else None
