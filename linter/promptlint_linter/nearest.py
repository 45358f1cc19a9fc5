"""The nearest known word to one that is unknown."""

from __future__ import annotations

from collections.abc import Iterable

LEAST_LIKENESS = 60.0
"""Percent of rapidfuzz's ratio; below it an offer would be a guess."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, or None when none is like it."""
    from rapidfuzz import fuzz, process

    def plain(text: str) -> str:
        return text.lower().replace("_", "-")

    found = process.extractOne(word, list(known), scorer=fuzz.ratio, processor=plain, score_cutoff=LEAST_LIKENESS)
    return found[0] if found else None
