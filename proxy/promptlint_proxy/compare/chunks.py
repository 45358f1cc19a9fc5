"""Text in lines and sentences: the unit by which texts are recognised as coming from one template."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b

_BORDER = re.compile(r"(?<=\n)|(?<=[.!?;]\s)")
_VOLATILE = re.compile(r"\d+|\b[0-9a-f]{8,}\b")

SKETCH_SIZE = 256
"""Chunks kept of a text: those with the smallest hashes, so that two sketches are comparable."""


def chunks(text: str) -> list[str]:
    """Lines and sentences with their trailing white space; joined they are the text.

    >>> chunks("One. Two!\\nThree")
    ['One. ', 'Two!\\n', 'Three']
    """
    return [chunk for chunk in _BORDER.split(text) if chunk]


def _digest(chunk: str) -> int:
    return int.from_bytes(blake2b(chunk.encode("utf-8", "replace"), digest_size=8).digest())


def sketch(texts: Iterable[str]) -> frozenset[int]:
    """Hashes of the chunks of a text, numbers and digests made equal, at most `SKETCH_SIZE` of them."""
    found = {_digest(_VOLATILE.sub("0", chunk.strip())) for text in texts for chunk in chunks(text) if chunk.strip()}
    return frozenset(sorted(found)[:SKETCH_SIZE])


def likeness(a: frozenset[int], b: frozenset[int]) -> float:
    """Share of the smaller sketch that the other one holds too; 0.0 where one is empty."""
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0
