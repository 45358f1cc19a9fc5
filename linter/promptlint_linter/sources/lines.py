"""Offsets in a text to lines and columns."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from promptlint_core.prompt import Place


class Lines:
    """The line starts of one text.

    >>> Lines("a.txt", "ab\\ncd").place(4, 5)
    Place(path='a.txt', line=2, column=2, end_line=2, end_column=3)
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self._starts = [0, *accumulate(len(line) + 1 for line in text.split("\n")[:-1])]

    def place(self, start: int, end: int) -> Place:
        """The span between two offsets; `end` is exclusive."""
        line, column = self._at(start)
        end_line, end_column = self._at(max(end, start))
        return Place(self.path, line, column, end_line, end_column)

    def _at(self, offset: int) -> tuple[int, int]:
        index = bisect_right(self._starts, offset) - 1
        return index + 1, offset - self._starts[index] + 1
