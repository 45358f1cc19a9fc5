"""What the words around a differing span say that it is: the tag it stands in, its label, the heading above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from promptlint_rules.difference import Kind

_LABEL_CHARS = 90
_HEADING_REACH_CHARS = 4000
"""A heading this far above still names the block that a span stands in."""


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z])(?:{text})(?![a-z])")


_SUMMARY = _words(
    r"summar(?:y|ies|i[sz]ed)(?: so far)?|recap|conversation so far|condensed|earlier (?:talk|conversation)"
)

_ENVIRONMENT = _words(
    r"env|environment|system info\w*|cwd|working (?:directory|dir|folder)|current (?:directory|dir|folder)|pwd"
    r"|git(?: status| branch| diff| log| state)?|branch|commits?|untracked|modified|staged"
    r"|repo(?:sitory)?(?: state| map| structure)?|hostname|host|machine|node|platform|os|kernel|shell|uptime"
    r"|load average|cpu|memory usage|disk|free space|file ?list|files?|file tree|tree|directory|directories|dir"
    r"|listing"
    r"|folder|project structure|open (?:files|tabs|windows)|clipboard|workspace path|python version|pid|processes"
)
_RETRIEVAL = _words(
    r"contexts?|passages?|documents?|docs?|retriev\w+|search results?|results?|memor(?:y|ies)|recall\w*"
    r"|knowledge(?: base)?|sources?|snippets?|excerpts?|evidence|articles?|chunks?|references?|relevant\w*|facts|notes"
    r"|background|faqs?|similar|you remember|remembered"
)
_STATE = _words(
    r"steps?|iterations?|rounds?|attempts?|turns?|budget|remaining|left|used|spent|progress|todos?|to-do|tasks? list"
    r"|plan|status|state|phase|stage|mode|counter|count|score|cart|basket|queue|tokens?|percent|balance|inventory|checklist"
    r"|completed|pending"
)
_IDENTITY = _words(
    r"users?|username|customer|client|member|patient|student|employee|caller|visitor|person|guest|owner|tenant"
    r"|org(?:anisation|anization)?|workspace|company|team|account|session(?: id)?|conversation(?: id)?|thread"
    r"|chat(?: id)?|(?:talk|speak|chatt)(?:ing)? (?:to|with)|assist(?:s|ing|ant (?:of|to|for))?|helping|serving"
    r"|on behalf of|your name is|name|named|e-?mail|phone|locale|time ?zone|profile|dear|hello|card"
    r"|(?:signed|logged) in|role|channel|guild"
)
_TASK = _words(
    r"tasks?|jobs?|goals?|objectives?|quer(?:y|ies)|questions?|requests?|topics?|missions?|assignments?|instructions?"
    r"|problem|prompt|input|ask|wants?|asks?|asked|issue|subject|today's|order"
)
_VOCABULARY: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (Kind.ENVIRONMENT, _ENVIRONMENT),
    (Kind.RETRIEVAL, _RETRIEVAL),
    (Kind.STATE, _STATE),
    (Kind.IDENTITY, _IDENTITY),
    (Kind.TASK, _TASK),
)
"""Where two words end at one place, the first kind wins."""

_OPEN_TAG = re.compile(r"<([A-Za-z][\w:-]{0,40})(?:\s[^<>]{0,200})?>")
_CLOSE_TAG = re.compile(r"</([A-Za-z][\w:-]{0,40})>")
_HEADING = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+(?P<mark>.{1,80})|(?P<colon>[^\n:]{1,60}):|\[(?P<square>[^\]\n]{1,60})\]"
    r"|(?:\*\*|=+|-{2,})[ \t]*(?P<bold>[^*=\n]{1,60}?)[ \t]*(?:\*\*|=+|-{2,}):?)[ \t]*$",
    re.MULTILINE,
)
_LINE_LABEL = re.compile(r"[\s>*-]*(?:\[([A-Za-z][^\]\n]{1,30})\]|([^\n:.]{1,60}):)")
_PREPOSITION = re.compile(r" (?:of|in|for|from|on|to|at|with|by) ")
_LAST_LABEL = re.compile(r"([^\n:.;,|(\[{]{1,60})[:=]\s*[^:=]*$")

_PATHS = re.compile(
    r"^(?:[-*•]\s+)?"
    r"(?:\s?[MADRCU?!]{1,2}\s+\S+|[-dl][rwx-]{9}|(?:/|~/|\./|[A-Za-z]:\\)[\w./\\ -]+|[\w./-]+\.\w{1,5})\s*$"
)
_CHECKBOX = re.compile(r"\[[ xX~-]\]|[✓✔✗☐☑]")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The names that stand over a place of a text, nearest first."""

    tags: tuple[str, ...]
    label: str
    """The words before it in its own line."""
    line_label: str
    """What its line begins with: a name in brackets, or the words up to a colon."""
    heading: str
    """The nearest heading above it with no empty line in between a paragraph of prose."""


def enclosing_tags(text: str, at: int) -> tuple[str, ...]:
    """Tags that are open at a place, innermost first.

    >>> enclosing_tags("<a><b>x</b> here", 12)
    ('a',)
    """
    open_tags: list[str] = []
    events = sorted(
        [(m.start(), 1, m.group(1)) for m in _OPEN_TAG.finditer(text, 0, at)]
        + [(m.start(), 0, m.group(1)) for m in _CLOSE_TAG.finditer(text, 0, at)]
    )
    for _place, opens, name in events:
        if opens:
            open_tags.append(name)
        elif name in open_tags:
            while open_tags.pop() != name:
                pass
    return tuple(reversed(open_tags))


def surroundings(text: str, at: int) -> Surroundings:
    """What stands over a place: open tags, the line's own beginning, the heading above."""
    line_start = text.rfind("\n", 0, at) + 1
    label = text[max(line_start, at - _LABEL_CHARS) : at]
    opening = _LINE_LABEL.match(text, line_start, at)
    heading = ""
    for match in _HEADING.finditer(text, max(0, line_start - _HEADING_REACH_CHARS), line_start):
        heading = next((name for name in match.groups() if name), "")
        if "\n\n" in text[match.end() : line_start].strip("\n") and match.group("mark") is None:
            heading = ""
    begins = next((name for name in opening.groups() if name), "") if opening else ""
    return Surroundings(enclosing_tags(text, at), label, begins, heading)


def kind_of_context(later: str, at: int, span_earlier: str, span_later: str) -> Kind | None:
    """What the context of a differing span says that it is; None where it says nothing.

    A block that is there on one side only tells by its own tag or heading; one that calls itself a summary is the event
    of its making. Else nearest first: words inside an innermost tag, the label in its line, the heading above, then the
    text itself. A summary is prose and speaks of anything: its name goes ahead of the words in it.
    """
    whole = span_later if not span_earlier.strip() else span_earlier if not span_later.strip() else ""
    own = _kind_of_words(_own_name(whole))
    if own is not None:
        return Kind.COMPACTION if own is Kind.SUMMARY else own
    around = surroundings(later, at)
    if any(_SUMMARY.search(_spoken(name)) for name in (*around.tags, around.line_label, around.heading)):
        return Kind.SUMMARY
    for words in _contexts(around):
        kind = _kind_of_words(words)
        if kind is not None:
            return kind
    return kind_of_text(span_earlier, span_later)


def _own_name(block: str) -> str:
    """The tag or heading that a block begins with; empty where it has none."""
    text = block.strip()
    tag = _OPEN_TAG.match(text)
    heading = _HEADING.match(text)
    names = heading.groups() if heading else ()
    name = tag.group(1) if tag else next((found for found in names if found), "")
    return _spoken(name or (text[:_LABEL_CHARS] if mentions_summary(text[:_LABEL_CHARS]) else ""))


def _contexts(around: Surroundings) -> Iterator[str]:
    sentence = re.split(r"[.!?]\s", around.label)[-1]
    if around.tags:
        yield from _named(around.tags[0])
    named = _LAST_LABEL.search(sentence)
    if named:
        yield _spoken(named.group(1))
    yield _spoken(around.line_label)
    if sentence.strip():
        yield _spoken(sentence)
    yield from _named(around.heading)
    for tag in around.tags[1:]:
        yield from _named(tag)


def _named(name: str) -> Iterator[str]:
    """A heading as words, what it speaks of first: `files in the workspace` are files."""
    words = _spoken(name)
    noun = _PREPOSITION.split(words, maxsplit=1)[0]
    if noun != words:
        yield noun
    yield words


def _spoken(name: str) -> str:
    """`sessionContext` and `session-context` as words."""
    return re.sub(r"[_\W]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).lower().strip()


def _kind_of_words(words: str) -> Kind | None:
    """The kind whose word stands last: it is nearest to the value. What calls itself a summary is one, of whatever."""
    if _SUMMARY.search(words):
        return Kind.SUMMARY
    best: tuple[int, Kind] | None = None
    for kind, pattern in _VOCABULARY:
        last = max((match.end() for match in pattern.finditer(words)), default=-1)
        if last >= 0 and (best is None or last > best[0]):
            best = (last, kind)
    return best[1] if best else None


def kind_of_text(*texts: str) -> Kind | None:
    """What differing text says of itself: file lists, check lists."""
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    if lines and sum(bool(_PATHS.match(line)) for line in lines) >= 0.6 * len(lines):
        return Kind.ENVIRONMENT
    if any(_CHECKBOX.search(line) for line in lines):
        return Kind.STATE
    return None


def mentions_summary(text: str) -> bool:
    """Whether the beginning of a text calls itself a summary of earlier talk."""
    return _SUMMARY.search(text[:200].lower()) is not None
