"""AWS event stream frames (`application/vnd.amazon.eventstream`), read only.

A frame: total length u32, headers length u32, CRC-32 of these 8 bytes, headers, payload, CRC-32 of all before it; all
numbers big-endian. Limits and value types as in botocore's event stream module.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from zlib import crc32

_PRELUDE = struct.Struct(">III")
_PRELUDE_BYTES = 12
_TRAILER_BYTES = 4
_MAX_HEADERS_BYTES = 128 * 1024
_MAX_PAYLOAD_BYTES = 24 * 1024 * 1024
_FIXED_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_BYTES, _STRING = 6, 7


class DamagedFrameError(ValueError):
    """A length or a checksum is wrong: nothing behind it can be trusted."""


@dataclass(frozen=True, slots=True)
class Frame:
    headers: dict[str, str]
    """The string headers: `:message-type`, `:event-type`, `:exception-type`, `:content-type`."""
    payload: bytes


@dataclass(slots=True)
class FrameSplitter:
    _carry: bytearray = field(default_factory=bytearray)
    damaged: bool = False
    """Set by the first wrong checksum; everything behind it is passed over."""

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        if self.damaged:
            return
        self._carry += chunk
        try:
            while (frame := self._take()) is not None:
                yield frame
        except DamagedFrameError:
            self.damaged = True
            self._carry.clear()

    def finish(self) -> Iterator[Frame]:
        self._carry.clear()
        return iter(())

    def _take(self) -> Frame | None:
        carry = self._carry
        if len(carry) < _PRELUDE_BYTES:
            return None
        total, headers_size, prelude_sum = _PRELUDE.unpack_from(carry)
        if crc32(carry[:8]) != prelude_sum:
            raise DamagedFrameError("prelude checksum")
        payload_size = total - headers_size - _PRELUDE_BYTES - _TRAILER_BYTES
        if payload_size < 0 or headers_size > _MAX_HEADERS_BYTES or payload_size > _MAX_PAYLOAD_BYTES:
            raise DamagedFrameError("lengths")
        if len(carry) < total:
            return None
        whole = bytes(carry[:total])
        if crc32(whole[:-_TRAILER_BYTES]) != int.from_bytes(whole[-_TRAILER_BYTES:], "big"):
            raise DamagedFrameError("message checksum")
        del carry[:total]
        headers_end = _PRELUDE_BYTES + headers_size
        return Frame(_read_headers(whole[_PRELUDE_BYTES:headers_end]), whole[headers_end:-_TRAILER_BYTES])


def _read_headers(raw: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    at = 0
    try:
        while at < len(raw):
            name_end = at + 1 + raw[at]
            name = raw[at + 1 : name_end].decode("utf-8", "replace")
            kind = raw[name_end]
            at = name_end + 1
            if kind in _FIXED_SIZES:
                at += _FIXED_SIZES[kind]
            elif kind in (_BYTES, _STRING):
                value_end = at + 2 + int.from_bytes(raw[at : at + 2], "big")
                if kind == _STRING:
                    headers[name] = raw[at + 2 : value_end].decode("utf-8", "replace")
                at = value_end
            else:
                raise DamagedFrameError("header type")
    except IndexError as error:
        raise DamagedFrameError("headers") from error
    return headers
