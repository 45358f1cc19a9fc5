"""Decodes bodies as they stream: content encodings undone chunk by chunk, with a limit and without exceptions."""

from __future__ import annotations

import zlib
from typing import Protocol

import brotli
import zstandard

DECODED_CAP_BYTES = 64 * 1024 * 1024


class _Step(Protocol):
    def decode(self, data: bytes) -> bytes: ...


class _Zlib:
    """gzip, with as many members as come, or deflate with or without its header."""

    def __init__(self, deflate: bool) -> None:
        self._deflate = deflate
        self._inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS if deflate else zlib.MAX_WBITS | 16)
        self._first = True

    def decode(self, data: bytes) -> bytes:
        decoded = b""
        while data:
            try:
                decoded += self._inflater.decompress(data)
            except zlib.error:
                if not (self._deflate and self._first):
                    raise
                # Some servers send raw deflate under that name.
                self._inflater = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
                decoded += self._inflater.decompress(data)
            self._first = False
            data = self._inflater.unused_data
            if data:
                self._inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        return decoded


class _Brotli:
    def __init__(self) -> None:
        self._decompressor = brotli.Decompressor()

    def decode(self, data: bytes) -> bytes:
        return bytes(self._decompressor.process(data))


class _Zstd:
    """zstd, with as many frames as come."""

    def __init__(self) -> None:
        self._frame = zstandard.ZstdDecompressor().decompressobj()

    def decode(self, data: bytes) -> bytes:
        decoded = b""
        while data:
            decoded += self._frame.decompress(data)
            data = self._frame.unused_data
            if data or self._frame.eof:
                self._frame = zstandard.ZstdDecompressor().decompressobj()
        return decoded


class Decoder:
    """Undoes the content encodings of one body.

    A body that is broken, of an unknown encoding or larger than the cap gives what could be decoded up to there;
    `note` then says why it ends.
    """

    def __init__(self, content_encoding: str, cap_bytes: int = DECODED_CAP_BYTES) -> None:
        self.note: str | None = None
        self._left_bytes = cap_bytes
        self._steps: list[_Step] = []
        for name in reversed([part.strip().lower() for part in content_encoding.split(",")]):
            if name in ("", "identity"):
                continue
            if name in ("gzip", "x-gzip"):
                self._steps.append(_Zlib(deflate=False))
            elif name == "deflate":
                self._steps.append(_Zlib(deflate=True))
            elif name == "br":
                self._steps.append(_Brotli())
            elif name == "zstd":
                self._steps.append(_Zstd())
            else:
                self.note = f"content encoding {name[:20]!r} is not known"

    def decode(self, data: bytes) -> bytes:
        """The bytes that this chunk completes; empty after a failure."""
        if self.note is not None:
            return b""
        try:
            for step in self._steps:
                data = step.decode(data)
        except Exception as error:
            self.note = f"the body cannot be decoded: {type(error).__name__}"
            return b""
        if len(data) > self._left_bytes:
            self.note = "the decoded body is larger than the limit"
            data = data[: self._left_bytes]
        self._left_bytes -= len(data)
        return data


def decode_body(body: bytes, content_encoding: str) -> bytes:
    """A whole body at once.

    >>> decode_body(zlib.compress(b"text"), "deflate")
    b'text'
    """
    return Decoder(content_encoding).decode(body) if content_encoding else body
