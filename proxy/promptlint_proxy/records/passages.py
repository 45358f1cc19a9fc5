"""Retrieved passages of the texts seen lately: a history that comes back each turn is searched once."""

from __future__ import annotations

from collections import OrderedDict

from promptlint_rules.size.passages import Passages, passages_in

LEAST_CHARS = 80
"""Shorter texts are questions and labels."""
MOST_TEXTS = 5_000
_NONE = Passages()


class SeenPassages:
    """Remembers what was found by hash, never the text."""

    def __init__(self, most: int = MOST_TEXTS) -> None:
        self._most = most
        self._known: OrderedDict[tuple[int, int], Passages] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def of(self, text: str) -> Passages:
        """The retrieved part of a text."""
        if len(text) < LEAST_CHARS:
            return _NONE
        key = (hash(text), len(text))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = passages_in(text)
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return found
