"""Bytes of a source file to text: byte order marks, PEP 263 declarations, and clear sentences for the rest."""

from __future__ import annotations

import codecs
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from promptlint_core.prompt import Place
from promptlint_linter.sources.unit import Problem, SourceFile

DECLARATION = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
PYTHON_SUFFIXES = (".py", ".pyw", ".pyi")


@dataclass(frozen=True, slots=True)
class Encoded:
    """Text with what is needed to write it back: line ends are as in the file."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""


def read_source(path: Path, shown: str, max_bytes: int) -> SourceFile | Problem:
    """Read and decode one file, line ends made `\\n`; a `Problem` says why that could not be done."""
    encoded = read_encoded(path, shown, max_bytes)
    return encoded if isinstance(encoded, Problem) else as_source(encoded, shown)


def read_encoded(path: Path, shown: str, max_bytes: int | None = None) -> Encoded | Problem:
    """Read and decode one file as it is."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return Problem(Place(shown, 1), "cannot read the file: it is no regular file")  # a pipe may never end
        if max_bytes is not None and status.st_size > max_bytes:
            return Problem(Place(shown, 1), f"file of {status.st_size / 1e6:.1f} MB is not read")
        data = path.read_bytes()
    except OSError as error:
        return Problem(Place(shown, 1), f"cannot read the file: {error.strerror or error}")
    return decode(data, shown, python=path.suffix in PYTHON_SUFFIXES)


def lines_of(text: str) -> list[str]:
    """The lines with their ends, as readers count them.

    `str.splitlines` would also split at form feeds and Unicode separators, which stand inside of lines.
    """
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def between(lines: Sequence[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The text from a line and column up to another, both from 0, the end not included."""
    taken = list(lines[start[0] : end[0] + 1])
    taken[-1] = taken[-1][: end[1]]
    taken[0] = taken[0][start[1] :]
    return "".join(taken)


def as_source(encoded: Encoded, shown: str) -> SourceFile:
    """The text as readers want it: lines end in `\\n`."""
    return SourceFile(shown, encoded.text.replace("\r\n", "\n").replace("\r", "\n"))


def decode(data: bytes, shown: str, *, python: bool) -> Encoded | Problem:
    """Decode the bytes of a file as the Python compiler would; other text is UTF-8, or UTF-16 with a mark."""
    for mark, wide in WIDE_MARKS:
        if data.startswith(mark):
            if python:
                return Problem(Place(shown, 1), f"{wide[:6].upper()} is no source encoding: save the file as UTF-8")
            return _decode_as(data[len(mark) :], wide, mark, shown)
    encoding, mark = "utf-8", b""
    if data.startswith(codecs.BOM_UTF8):
        mark, data = codecs.BOM_UTF8, data[len(codecs.BOM_UTF8) :]
    elif python:
        encoding = _declared_encoding(data) or encoding
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        return Problem(Place(shown, line), "the file holds a NUL byte")
    return _decode_as(data, encoding, mark, shown)


def _declared_encoding(data: bytes) -> str | None:
    for line in data.split(b"\n", 2)[:2]:
        match = DECLARATION.match(line)
        if match:
            return match[1].decode("ascii", "replace")
        if line.strip() and not line.lstrip().startswith(b"#"):
            return None  # a declaration on the second line counts only behind a comment or an empty line
    return None


def _decode_as(data: bytes, encoding: str, mark: bytes, shown: str) -> Encoded | Problem:
    try:
        text = data.decode(encoding)
    except LookupError:
        return Problem(Place(shown, 1), f"unknown source encoding {encoding!r}")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Problem(Place(shown, line), f"the bytes are not {encoding.upper()}: {error.reason}")
    except (UnicodeError, ValueError) as error:
        return Problem(Place(shown, 1), f"the bytes are not {encoding.upper()}: {error}")
    return Encoded(text, encoding, mark)
