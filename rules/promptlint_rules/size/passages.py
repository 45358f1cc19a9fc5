"""Retrieved passages in a text, recognised by how templates number and fence them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBERED = (
    re.compile(r"\[(\d{1,4})\](?!\()"),
    re.compile(
        r"(?i)\b(?:passage|document|doc|source|chunk|excerpt|snippet|context|result|reference|article)s?\s*#?\s*(\d{1,4})\b"
    ),
    re.compile(r"(?i)<(?:document|doc|passage|chunk|source|context|result)s?\s[^<>]{0,80}?(\d{1,4})[^<>]{0,40}>"),
)
_FENCED = re.compile(r"(?i)<(document|doc|passage|chunk|snippet|excerpt|search_result|source|item)(?:\s[^<>]{0,120})?>")
_QUESTION = re.compile(r"(?is)(?:question|query|user asks|ask)\s*:\s*(.{1,600}?)\s*(?:\Z|\n\s*(?:answer|response)\s*:)")
_BLOCK = re.compile(
    r"(?is)<(context|documents?|passages?|knowledge(?:_base)?|search_results|sources?|references?|retrieved\w*)>(.*?)</\1>"
)
_LABELLED_BLOCK = re.compile(
    r"(?is)(?:^|\n)\s*(?:#+\s*)?(?:context|documents?|passages?|knowledge|search results|sources|excerpts?)\b"
    r"[^\n]{0,40}:\s*\n"
    r"(.*?)(?=\n\s*(?:#+\s*)?(?:question|query|instructions?|task)\b[^\n]{0,20}:|\Z)"
)
_GAP_SHARE = 0.8
_LEAST_PASSAGES = 2
_TAIL_CHARS = 1200
_CLOSING = re.compile(r"(?i)</(?:document|doc|passage|chunk|snippet|excerpt|search_result|source|item)>")


@dataclass(frozen=True, slots=True)
class Passages:
    """What of a text is recognised as retrieved."""

    count: int = 0
    chars: int = 0
    """From the first passage to the end of the last one, in code points."""


def count_passages(text: str) -> int:
    """Number of passages: the longest run of numbers from 1 (or 0) on, or of fenced passages.

    >>> count_passages("[1] a [2] b [3] c Question: which?"), count_passages("Rule 1. Be kind. Rule 2. Be brief.")
    (3, 0)
    """
    return _longest_run(text)[0]


def _longest_run(text: str) -> tuple[int, int]:
    """(number of passages, where the first one begins)."""
    fenced = list(_FENCED.finditer(text))
    best = (len(fenced), fenced[0].start() if fenced else 0)
    for pattern in _NUMBERED:
        found = [(int(match[1]), match.start()) for match in pattern.finditer(text)]
        numbers = {number for number, _ in found}
        if numbers and min(numbers) <= 1 and len(numbers) >= _GAP_SHARE * (max(numbers) + 1 - min(numbers)):
            best = max(best, (len(numbers), min(start for _, start in found)), key=lambda run: run[0])
    return best


def passages_in(text: str) -> Passages:
    """The retrieved part of a text; a single numbered or fenced text is none, a block named as retrieved is.

    >>> passages_in("[1] a [2] b\\nQuestion: which?"), passages_in("See [1] for more.")
    (Passages(count=2, chars=11), Passages(count=0, chars=0))
    """
    count, start = _longest_run(text)
    block = block_chars(text)
    if count < _LEAST_PASSAGES:
        return Passages(1, block) if block else Passages()
    closing = [match.end() for match in _CLOSING.finditer(text, start)]
    question = _QUESTION.search(text, max(start, len(text) - _TAIL_CHARS))
    end = closing[-1] if closing else question.start() if question else len(text)
    return Passages(count, max(block, len(text[start:end].rstrip())))


def question_words(text: str) -> int:
    """Words of the question at the end of a text; 0 where none is recognised."""
    found = _QUESTION.search(text[-_TAIL_CHARS:])
    if found:
        return len(found[1].split())
    last = text.rstrip().rsplit("\n", 1)[-1]
    return len(last.split()) if last.endswith("?") and len(last) < 600 else 0


def block_chars(text: str) -> int:
    """Code points of the longest block that its tag or heading calls retrieved text."""
    fenced = max((len(match[2]) for match in _BLOCK.finditer(text)), default=0)
    return max(fenced, max((len(match[1]) for match in _LABELLED_BLOCK.finditer(text)), default=0))
