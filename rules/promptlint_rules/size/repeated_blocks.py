"""Blocks of text that come again: within one text, and from message to message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


def blocks_of(text: str, least_chars: int) -> list[str]:
    """Lines of at least so many code points, and paragraphs of shorter lines, white space at their ends left out."""
    found: list[str] = []
    for paragraph in text.split("\n\n"):
        if len(paragraph) < least_chars:
            continue
        lines = [line.strip() for line in paragraph.splitlines() if len(line) >= least_chars]
        found += lines or [paragraph.strip()]
    return found


def repeated_within(text: str, least_chars: int) -> tuple[str, int]:
    """The block that costs most by coming again in one text, and how often it stands there; ("", 0) where none does."""
    return _costliest(Counter(blocks_of(text, least_chars)))


def repeated_across(texts: Iterable[str], least_chars: int) -> tuple[str, int]:
    """The same over several texts, each text counted once a block."""
    counted: Counter[str] = Counter()
    for text in texts:
        counted.update(set(blocks_of(text, least_chars)))
    return _costliest(counted)


def _costliest(counted: Counter[str]) -> tuple[str, int]:
    again = [(len(block) * (times - 1), block, times) for block, times in counted.items() if times > 1]
    if not again:
        return "", 0
    _cost, block, times = max(again)
    return block, times
