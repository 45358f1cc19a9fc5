"""Lines of source for messages, each file read once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from promptlint_linter.decode import as_source, read_encoded
from promptlint_linter.sources.unit import Problem


class Excerpts:
    """`texts` holds what is not on disk: standard input."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._lines = {path: text.split("\n") for path, text in texts.items()}

    def line(self, path: str, number: int) -> str | None:
        """A line of a file, counted from 1; None when there is none."""
        if path not in self._lines:
            encoded = read_encoded(Path(path), path)
            self._lines[path] = [] if isinstance(encoded, Problem) else as_source(encoded, path).text.split("\n")
        lines = self._lines[path]
        return lines[number - 1] if 0 < number <= len(lines) else None
