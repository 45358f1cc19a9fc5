"""Text in lines and sentences: the unit by which texts are recognised as coming from one template."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b

_VOLATILE = re.compile(r"\d+|\b[0-9a-f]{8,}\b")
_SENTENCE_ENDS = (". ", "! ", "? ", "; ")

SKETCH_SIZE = 256
"""Chunks kept of a text: those with the smallest hashes, so that two sketches are comparable."""


def chunks(text: str) -> list[str]:
    """Lines and their sentences with their trailing white space; joined they are the text.

    >>> chunks("One. Two!\\nThree")
    ['One. ', 'Two!\\n', 'Three']
    """
    return [sentence for line in text.splitlines(keepends=True) for sentence in _sentences(line)]


def _sentences(line: str) -> list[str]:
    parts = [line]
    for end in _SENTENCE_ENDS:
        if end in line:
            parts = [piece for part in parts for piece in _cut(part, end)]
    return parts


def _cut(text: str, end: str) -> list[str]:
    """The text cut behind each `end`."""
    pieces = text.split(end)
    cut = [piece + end for piece in pieces[:-1]]
    return [*cut, pieces[-1]] if pieces[-1] else cut


def _digest(chunk: str) -> int:
    return int.from_bytes(blake2b(chunk.encode("utf-8", "replace"), digest_size=8).digest())


def sketch(texts: Iterable[str]) -> frozenset[int]:
    """Hashes of the chunks of a text, numbers and digests made equal, at most `SKETCH_SIZE` of them."""
    stripped = {chunk.strip() for text in texts for chunk in chunks(_VOLATILE.sub("0", text))}
    found = {_digest(chunk) for chunk in stripped if chunk}
    return frozenset(sorted(found)[:SKETCH_SIZE] if len(found) > SKETCH_SIZE else found)


def likeness(a: frozenset[int], b: frozenset[int]) -> float:
    """Share of the smaller sketch that the other one holds too; 0.0 where one is empty."""
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0
