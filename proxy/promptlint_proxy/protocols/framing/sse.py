"""Server-sent events, cut out of bytes that arrive in pieces of any size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_EVENT_BYTES = 16 * 1024 * 1024
"""A carry larger than this is dropped: no model sends such an event, and memory must stay bounded."""


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    data: bytes
    event: str = ""


@dataclass(slots=True)
class SseSplitter:
    """Lines end in LF, CRLF or CR; a blank line ends an event; comments and fields other than data and event vanish."""

    _carry: bytearray = field(default_factory=bytearray)
    _searched: int = 0
    _data: list[bytes] = field(default_factory=list)
    _event: str = ""
    _skip_line_feed: bool = False
    overflowed: bool = False

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        if self._skip_line_feed and chunk:
            # the CR before it already ended the line
            self._skip_line_feed = False
            chunk = chunk.removeprefix(b"\n")
        carry = self._carry
        carry += chunk
        start = 0
        at = self._searched
        while True:
            feed = carry.find(b"\n", at)
            carriage = carry.find(b"\r", at, feed if feed >= 0 else len(carry))
            end = carriage if carriage >= 0 else feed
            if end < 0:
                break
            line = bytes(carry[start:end])
            start = end + 1
            if carriage >= 0:
                if start == len(carry):
                    self._skip_line_feed = True
                elif carry[start] == 0x0A:
                    start += 1
            at = start
            yield from self._line(line)
        del carry[:start]
        self._searched = len(carry)
        if len(carry) > MAX_EVENT_BYTES:
            carry.clear()
            self._searched = 0
            self.overflowed = True

    def finish(self) -> Iterator[ServerSentEvent]:
        """What a stream holds that ended without a blank line: some servers end so."""
        if self._carry:
            yield from self._line(bytes(self._carry))
            self._carry.clear()
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[ServerSentEvent]:
        if not line:
            if self._data:
                yield ServerSentEvent(b"\n".join(self._data), self._event)
                self._data = []
            self._event = ""
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
