"""Retrieved passages in a text, recognised by how templates number and fence them."""

from __future__ import annotations

import re

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


def count_passages(text: str) -> int:
    """Number of passages: the longest run of numbers from 1 (or 0) on, or of fenced passages.

    >>> count_passages("[1] a [2] b [3] c Question: which?"), count_passages("Rule 1. Be kind. Rule 2. Be brief.")
    (3, 0)
    """
    best = len(_FENCED.findall(text))
    for pattern in _NUMBERED:
        numbers = {int(number) for number in pattern.findall(text)}
        if numbers and min(numbers) <= 1 and len(numbers) >= _GAP_SHARE * (max(numbers) + 1 - min(numbers)):
            best = max(best, len(numbers))
    return best


def question_words(text: str) -> int:
    """Words of the question at the end of a text; 0 where none is recognised."""
    found = _QUESTION.search(text[-1200:])
    if found:
        return len(found[1].split())
    last = text.rstrip().rsplit("\n", 1)[-1]
    return len(last.split()) if last.endswith("?") and len(last) < 600 else 0


def block_chars(text: str) -> int:
    """Code points of the longest block that its tag or heading calls retrieved text."""
    fenced = max((len(match[2]) for match in _BLOCK.finditer(text)), default=0)
    return max(fenced, max((len(match[1]) for match in _LABELLED_BLOCK.finditer(text)), default=0))
