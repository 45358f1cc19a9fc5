"""The kind of the difference between two versions of one text: tools' descriptions, system text, an early message."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass

from promptlint_core.cadence import Origin
from promptlint_proxy.compare.context import kind_of_context, surroundings
from promptlint_proxy.compare.spans import Middle, changes_within_a_day, middle_of, spans_of
from promptlint_rules.difference import Kind, Span
from promptlint_rules.traffic import Relation

_ATTRIBUTION = re.compile(r"^\s*x-[a-z-]*(?:billing|attribution)[a-z-]*:|(?:^|[;\s])cch=[0-9a-f]+", re.IGNORECASE)
_FRAMEWORK_SENTENCE = re.compile(
    r"the current (?:time|date(?: and time)?) is\s*$|current date and time:?\s*$", re.IGNORECASE
)
_LABELLED = re.compile(r"^\s*(?:[-*]\s+)?([A-Za-z][\w /-]{0,24}?)\s*(?:\d+)?\s*[:>]", re.MULTILINE)
_EXAMPLE_WORDS = re.compile(r"\b(?:few[- ]?shots?|examples?|shots|demonstrations?|samples?)\b", re.IGNORECASE)
_LINE_BORDER = re.compile(r"\n")
_ITEM_BORDER = re.compile(r"[,;|:\n]| and | or |\.(?:\s|$)")
_APART_CHARS = 200
"""A typed value this far ahead of the next difference is a difference of its own."""
_TEMPORARY = re.compile(r"\btmp[\w.-]{6,}|\b0x[0-9a-fA-F]{6,}")
_WORD = re.compile(r"[^\W\d_]+[.,;:!]?")
_TIME_LABEL = re.compile(
    r"\b(?:hour|minute|second)(?: of (?:the )?day)?\s*[:=>]\s*$|\b(?:clock|timestamp)\W*$", re.IGNORECASE
)
"""What a bare number is a time behind."""
_BARE_HOUR = re.compile(r"(?:[01]?\d|2[0-3])h")
_SAYS_NOW = re.compile(
    r"(?:\b(?:it['’]?s|it is|now|as of)(?: (?:about|now|almost))?|\b(?:current|local) time(?: is)?|^\s*time)\W*$",
    re.IGNORECASE | re.MULTILINE,
)
"""What `17h` is an hour of the day behind, and no duration."""
_TYPED = (Origin.CLOCK, Origin.RANDOM)
_BLOCK_CHARS = 300
_NAME_CHARS = 60
_LEAST_ITEMS = 2
_EXAMPLES_CHARS = 50_000
"""Of a longer text the beginning shows what it is made of."""


@dataclass(frozen=True, slots=True)
class Judged:
    kind: Kind
    detail: str
    spans: tuple[Span, ...]


def judge_text(earlier: str, later: str, relation: Relation) -> Judged:
    """The kind of the difference between two versions of one text."""
    if _ATTRIBUTION.search(earlier[:400]) and _ATTRIBUTION.search(later[:400]):
        return Judged(Kind.ATTRIBUTION, "", spans_of(earlier, later))
    middle = middle_of(earlier, later)
    old, new = earlier[middle.start : middle.end_earlier], later[middle.start : middle.end_later]
    if equal_json_around(earlier, later, middle.start):
        return Judged(Kind.JSON_BYTES, json_detail(old, new), (Span(old, new, middle.start, Origin.ORDER),))
    reordered = _reordered(earlier, later, middle)
    if reordered:
        kind = Kind.EXAMPLES if _are_examples(earlier, later, middle) else Kind.ITEM_ORDER
        return Judged(kind, reordered, (Span(old, new, middle.start, Origin.ORDER),))
    if _plain(old) == _plain(new):
        return Judged(Kind.SMALL_EDIT, "white space or punctuation", (Span(old, new, middle.start),))
    spans = spans_of(earlier, later)
    typed = _typed_kind(later, spans, relation)
    if typed is not None:
        return Judged(*typed, spans)
    region = _first_region(spans)
    if _are_examples(earlier, later, region):
        return Judged(Kind.EXAMPLES, "other examples", spans)
    old, new = earlier[region.start : region.end_earlier], later[region.start : region.end_later]
    told = kind_of_context(later, region.start, old, new)
    if told is None and _are_examples(earlier, later, middle):
        return Judged(Kind.EXAMPLES, "other examples", spans)
    if told is None or (told is Kind.IDENTITY and relation is Relation.LINE):
        told = _by_shape(old, new, relation)
    return Judged(told, "", spans)


def _first_region(spans: tuple[Span, ...]) -> Middle:
    """Both sides of the first difference, with those that follow it closely: what ends the common prefix."""
    shift = 0  # of the later text against the earlier one, behind the spans so far
    start = end_later = spans[0].offset
    end_earlier = start
    for span in spans:
        if span.offset - end_later >= _APART_CHARS:
            break
        end_later = span.offset + len(span.later)
        end_earlier = span.offset - shift + len(span.earlier)
        shift += len(span.later) - len(span.earlier)
    return Middle(start, end_earlier, end_later)


def _typed_kind(later: str, spans: tuple[Span, ...], relation: Relation) -> tuple[Kind, str] | None:
    """The kind when typed values make up the difference, or its first part by itself."""
    first = spans[0]
    total = sum(len(span.earlier) + len(span.later) for span in spans)
    same = sum(len(span.earlier) + len(span.later) for span in spans if span.origin is first.origin)
    bare = _BARE_HOUR.fullmatch(first.earlier) and _BARE_HOUR.fullmatch(first.later)
    if bare and _SAYS_NOW.search(later[max(0, first.offset - _NAME_CHARS) : first.offset]):
        return Kind.CLOCK, "to the hour"
    gap = spans[1].offset - first.offset - len(first.later) if len(spans) > 1 else _APART_CHARS
    if same < 0.8 * total and gap < _APART_CHARS and not _stands_alone(later, spans):
        return None
    if first.origin is Origin.CLOCK:
        finest = next((s for s in spans if changes_within_a_day(s)), first)
        if _FRAMEWORK_SENTENCE.search(later[max(0, first.offset - 60) : first.offset]):
            return Kind.FRAMEWORK_CLOCK, finest.detail
        return Kind.CLOCK, finest.detail
    if _TEMPORARY.search(first.earlier) and _TEMPORARY.search(first.later):
        return Kind.RANDOM, "a temporary name or address"
    context = kind_of_context(later, first.offset, first.earlier, first.later)
    if first.origin is Origin.RANDOM:
        of_session = relation is Relation.GROUP and context is Kind.IDENTITY
        return (Kind.IDENTITY, "an id") if of_session else (Kind.RANDOM, first.detail)
    if first.origin is Origin.IDENTITY:
        return Kind.IDENTITY, first.detail
    if first.origin is Origin.STATE:
        if _TIME_LABEL.search(later, max(0, first.offset - _NAME_CHARS), first.offset):
            return Kind.CLOCK, "to the hour or finer"
        if context is Kind.TASK and relation is Relation.LINE:
            context = Kind.STATE
        if context is Kind.IDENTITY and relation is Relation.LINE:
            context = Kind.STATE
        return context or Kind.STATE, "a number"
    return None


def _stands_alone(later: str, spans: tuple[Span, ...]) -> bool:
    """Whether typed values are all that differs in the line of the first difference: no passage begins with one."""
    line_end = later.find("\n", spans[0].offset)
    in_line = [span for span in spans if line_end < 0 or span.offset < line_end]
    return all(span.origin in _TYPED and "\n" not in span.later.strip() for span in in_line)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def _by_shape(old: str, new: str, relation: Relation) -> Kind:
    """The kind of a span whose context says nothing: by who sent it and how long it is."""
    longest = max(len(old), len(new))
    if relation is not Relation.GROUP:
        return Kind.RETRIEVAL if min(len(old), len(new)) > _BLOCK_CHARS else Kind.STATE
    if longest > _BLOCK_CHARS:
        return Kind.RETRIEVAL
    if all(_WORD.fullmatch(text.strip()) for text in (old, new)):
        return Kind.UNKNOWN  # one word for another: two agents, two languages, or a user; nothing tells which
    names = all(_is_name(text) for text in (old, new))
    return Kind.IDENTITY if longest <= _NAME_CHARS and names else Kind.TASK


def _is_name(text: str) -> bool:
    words = [word for word in re.split(r"[^\w'@.-]+", text) if word]
    return bool(words) and all(word[:1].isupper() or not word[:1].isalpha() or "@" in word for word in words)


def _items(text: str, border: re.Pattern[str]) -> list[str]:
    stripped = (item.strip(" \t\"'[]{}().,;") for item in border.split(text))
    return [item for item in stripped if item]


def _reordered(earlier: str, later: str, middle: Middle) -> str:
    """`6 lines` when the middles hold the same items in another order; empty when they do not."""
    for stops, border, name in (("\n", _LINE_BORDER, "lines"), (",;|:", _ITEM_BORDER, "items")):
        items_old = _items(_widened(earlier, middle.start, middle.end_earlier, stops), border)
        items_new = _items(_widened(later, middle.start, middle.end_later, stops), border)
        if items_old != items_new and len(items_old) >= _LEAST_ITEMS and Counter(items_old) == Counter(items_new):
            return f"{len(items_old)} {name}"
    return ""


def _widened(text: str, start: int, end: int, borders: str) -> str:
    """A run of text widened to the next list border or line end on both sides."""
    stops = {*borders, "\n"}
    low = max(text.rfind(stop, 0, start) for stop in stops) + 1
    if end < len(text) and (end == 0 or text[end - 1] not in stops):
        ends = (text.find(stop, end) for stop in stops)
        end = min((found for found in ends if found >= 0), default=len(text))
    return text[low:end]


def _are_examples(earlier: str, later: str, middle: Middle) -> bool:
    """Whether both middles are made of blocks with the same few labels again and again: question and answer."""
    old = _widened(earlier, middle.start, middle.end_earlier, "\n")
    new = _widened(later, middle.start, middle.end_later, "\n")
    labels = []
    for text in (old, new):
        counted = Counter(label.strip().lower() for label in _LABELLED.findall(text[:_EXAMPLES_CHARS]))
        labels.append({label for label, times in counted.items() if times >= 2})
    if len(labels[0] & labels[1]) >= 2 and labels[0] == labels[1]:
        return True
    around = surroundings(later, middle.start)
    named = (*around.tags[:1], around.heading, around.label)
    return any(_EXAMPLE_WORDS.search(name.replace("_", " ")) for name in named) and len(new) > _NAME_CHARS


def equal_json_around(earlier: str, later: str, at: int) -> bool:
    """Whether a JSON value that spans a place reads as equal data on both sides, whatever the order of keys."""
    decoder = json.JSONDecoder()
    tried = 0
    for start in range(min(at, len(earlier) - 1, len(later) - 1), -1, -1):
        if later[start] not in "{[" or earlier[start] != later[start]:
            continue
        tried += 1
        if tried > 30 or at - start > 50_000:
            return False
        try:
            old, end_old = decoder.raw_decode(earlier, start)
            new, end_new = decoder.raw_decode(later, start)
        except (ValueError, RecursionError):
            continue
        if min(end_old, end_new) > at:
            return bool(old == new)
    return False


def json_detail(old: str, new: str) -> str:
    """Whether white space or the order of keys makes the difference."""
    squeezed = re.sub(r"\s+", "", old) == re.sub(r"\s+", "", new)
    return "white space" if squeezed else "key order"
