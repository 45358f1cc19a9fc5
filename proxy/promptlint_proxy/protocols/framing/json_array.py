"""The objects of one JSON array that is written piece by piece: Gemini's stream without `alt=sse`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from promptlint_proxy.protocols.framing.sse import MAX_EVENT_BYTES

_TELLING = re.compile(rb'["\\{}]')
_QUOTE, _BACKSLASH, _OPEN, _CLOSE = b'"\\{}'


@dataclass(slots=True)
class ArraySplitter:
    """Yields the bytes of every top-level object; what stands between objects is passed over."""

    _object: bytearray = field(default_factory=bytearray)
    _depth: int = 0
    _in_string: bool = False
    _escaped: bool = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        if not chunk:
            return
        start = 0
        literal = 0 if self._escaped else -1
        self._escaped = False
        for match in _TELLING.finditer(chunk):
            at = match.start()
            byte = chunk[at]
            if at == literal:  # behind a backslash
                continue
            if self._in_string:
                if byte == _BACKSLASH:
                    literal = at + 1
                elif byte == _QUOTE:
                    self._in_string = False
            elif byte == _QUOTE:
                self._in_string = self._depth > 0
            elif byte == _OPEN:
                if self._depth == 0:
                    start = at
                self._depth += 1
            elif byte == _CLOSE and self._depth:
                self._depth -= 1
                if self._depth == 0:
                    self._object += chunk[start : at + 1]
                    yield bytes(self._object)
                    self._object.clear()
        self._escaped = self._in_string and literal == len(chunk)
        if self._depth:
            self._object += chunk[start:]
        if len(self._object) > MAX_EVENT_BYTES:
            self._object.clear()
            self._depth, self._in_string, self._escaped = 0, False, False

    def finish(self) -> Iterator[bytes]:
        self._object.clear()
        return iter(())
