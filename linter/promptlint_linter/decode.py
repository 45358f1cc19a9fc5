"""Bytes of a source file to text: byte order marks, PEP 263 declarations, and clear sentences for the rest."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from promptlint_core.prompt import Place
from promptlint_linter.sources.unit import Problem, SourceFile

DECLARATION = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_source(path: Path, shown: str, max_bytes: int) -> SourceFile | Problem:
    """Read and decode one file; a `Problem` says why that could not be done."""
    try:
        size_bytes = path.stat().st_size
        if size_bytes > max_bytes:
            return Problem(
                Place(shown, 1),
                f"file of {size_bytes / 1e6:.1f} MB skipped: more than max-file-bytes ({max_bytes / 1e6:.1f} MB)",
            )
        data = path.read_bytes()
    except OSError as error:
        return Problem(Place(shown, 1), f"cannot read the file: {error.strerror or error}")
    return decode(data, shown, python=path.suffix in (".py", ".pyw", ".pyi"))


def decode(data: bytes, shown: str, *, python: bool) -> SourceFile | Problem:
    """Decode the bytes of a file as the Python compiler would; other text is UTF-8, or UTF-16 with a mark."""
    for mark, wide in WIDE_MARKS:
        if data.startswith(mark):
            if python:
                return Problem(Place(shown, 1), f"{wide.upper()} is no source encoding: save the file as UTF-8")
            return _decode_as(data, wide, shown)
    encoding = "utf-8"
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    elif python:
        encoding = _declared_encoding(data) or encoding
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        return Problem(Place(shown, line), "the file holds a NUL byte")
    return _decode_as(data, encoding, shown)


def _declared_encoding(data: bytes) -> str | None:
    lines = data.split(b"\n", 2)[:2]
    for index, line in enumerate(lines):
        match = DECLARATION.match(line)
        if match:
            return match[1].decode("ascii", "replace")
        if index == 0 and line.strip() and not line.lstrip().startswith(b"#"):
            return None  # a declaration on the second line counts only behind a comment or an empty line
    return None


def _decode_as(data: bytes, encoding: str, shown: str) -> SourceFile | Problem:
    try:
        if not codecs.lookup(encoding)._is_text_encoding:  # type: ignore[attr-defined]  # noqa: SLF001
            raise LookupError(encoding)
        text = data.decode(encoding)
    except LookupError:
        return Problem(Place(shown, 1), f"unknown source encoding {encoding!r}")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Problem(Place(shown, line), f"the bytes are not {encoding.upper()}: {error.reason}")
    except (UnicodeError, ValueError) as error:
        return Problem(Place(shown, 1), f"the bytes are not {encoding.upper()}: {error}")
    return SourceFile(shown, text.replace("\r\n", "\n").replace("\r", "\n"))
