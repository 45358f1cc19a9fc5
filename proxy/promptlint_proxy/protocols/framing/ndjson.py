"""JSON lines, cut out of bytes that arrive in pieces of any size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from promptlint_proxy.protocols.framing.sse import MAX_EVENT_BYTES


@dataclass(slots=True)
class LineSplitter:
    """Non-empty lines, without their line ends."""

    _parts: list[bytes] = field(default_factory=list)
    _size_bytes: int = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        *lines, rest = chunk.split(b"\n")
        for line in lines:
            whole = b"".join((*self._parts, line)).strip()
            self._parts.clear()
            self._size_bytes = 0
            if whole:
                yield whole
        if rest:
            self._parts.append(rest)
            self._size_bytes += len(rest)
            if self._size_bytes > MAX_EVENT_BYTES:
                self._parts.clear()
                self._size_bytes = 0

    def finish(self) -> Iterator[bytes]:
        whole = b"".join(self._parts).strip()
        self._parts.clear()
        if whole:
            yield whole
