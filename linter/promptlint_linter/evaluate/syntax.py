"""The standard parser, and where its nodes stand."""

from __future__ import annotations

import ast
import warnings

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def parse(text: str) -> list[ast.stmt]:
    """The statements of some lines of source.

    Raises SyntaxError, ValueError, RecursionError or MemoryError when the text cannot be parsed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes and the like are not ours to report
        return ast.parse(text).body


def characters(line: str, offset_bytes: int) -> int:
    """A column of the standard parser, which counts bytes of UTF-8, in characters."""
    return offset_bytes if line.isascii() else len(line.encode()[:offset_bytes].decode("utf-8", "ignore"))
