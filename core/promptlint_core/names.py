"""What an identifier says of the value behind it: `request_id`, `reqId`, `current_user_name` …

Names are weak evidence (`Evidence.NAMED`): they never speak louder than a value that was followed to its source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz, process

from promptlint_core.cadence import Cadence, Origin

Meaning = tuple[Origin, Cadence]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ID = _set("id ids uuid guid uid ident identifier")
_PERSONAL = _ID | _set(
    "name names firstname lastname email mail phone profile location city country timezone locale language address "
    "nickname preferences prefs info data details persona birthday age"
)
_USER = _set("user username customer member person employee caller visitor patient student")
_SESSION = _set("session conversation thread chat dialog dialogue")
_TENANT = _set("tenant org organization organisation workspace account company team")
_REQUEST = _set("request req correlation trace span run invocation call message msg event")
_RETRIEVED = _set("context contexts passages chunks snippets memories retrieved retrieval evidence knowledge excerpts")
_ROLE = _set(
    "personality persona character role style brand system additional extra global static base project domain "
    "environment env runtime execution scenario"
)
_BACKGROUND = _set("context contexts knowledge")
"""Behind a word of `_ROLE`: who the model is to be and what it is told of its setting, which stays; nothing was looked
up."""
_AGENT = _set("role agent subagent entity persona profile character bot teammate")
_AIMS = _set("goal goals objective objectives")
"""Of an agent they say what it is for, as its name does; of a task they say what is asked."""
_QUANTITY = _set("total num number count max min n per")
"""`total_chunks` is a number, no text."""
_DOCUMENTS = _set("documents document docs results memory sources hits snippet passage chunk text texts content")


@dataclass(frozen=True, slots=True)
class _Row:
    """An identifier says `meaning` when its last word is in `last` and, unless empty, another word is in `other`."""

    meaning: Meaning
    last: frozenset[str]
    other: frozenset[str] = frozenset()


_CLOCK_NAMES = (
    "now|timestamp|current time|current timestamp|current datetime|datetime now|time now|utc now|now utc|date time"
    "|current date time|local time|now str|now iso|time str"
)
_TASK_NAMES = (
    "user input|user request|user message|user prompt|task description|user instruction|research topic|objective|goal"
    "|query|question|task"
)

_EXACT: dict[tuple[str, ...], Meaning] = {
    tuple(name.split()): meaning
    for names, meaning in (
        (_CLOCK_NAMES, (Origin.CLOCK, Cadence.CALL)),
        ("today|current date|today date|todays date|date today|today str|current day", (Origin.CLOCK, Cadence.DAY)),
        ("nonce|traceparent|guid|uuid", (Origin.RANDOM, Cadence.CALL)),
        ("history|messages|chat history|message history|conversation history", (Origin.HISTORY, Cadence.APPEND)),
        (_TASK_NAMES, (Origin.TASK, Cadence.TURN)),
        ("documents|docs|rag context|search results", (Origin.RETRIEVAL, Cadence.TURN)),
    )
    for name in names.split("|")
}  # fmt: skip

_ROWS: tuple[_Row, ...] = (
    _Row((Origin.RANDOM, Cadence.CALL), _ID, _REQUEST),
    _Row((Origin.IDENTITY, Cadence.SESSION), _PERSONAL, _SESSION),
    _Row((Origin.IDENTITY, Cadence.USER), _PERSONAL, _USER),
    _Row((Origin.IDENTITY, Cadence.USER), _set("username customer employee patient")),
    _Row((Origin.IDENTITY, Cadence.TENANT), _ID | {"name"}, _TENANT),
    _Row((Origin.RETRIEVAL, Cadence.TURN), _RETRIEVED),
    _Row(
        (Origin.RETRIEVAL, Cadence.TURN),
        _DOCUMENTS | {"summary", "article"},
        _set("retrieved search rag relevant reference research web webpage website page article transcript"),
    ),
    _Row((Origin.TASK, Cadence.TURN), _set("query question goal objective task")),
    _Row((Origin.STATE, Cadence.TURN), _set("step iteration attempt")),
    _Row((Origin.STATE, Cadence.TURN), _set("number index count no num"), _set("step iteration attempt turn")),
    _Row(
        (Origin.STATE, Cadence.TURN), _set("budget tokens steps turns left"), _set("remaining left budget steps turns")
    ),
)
"""First match wins."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VOCABULARY = sorted(_USER | _SESSION | _TENANT | _REQUEST | _RETRIEVED)
_LEAST_SIMILARITY = 91.0
_LEAST_FUZZY_LETTERS = 7
"""Short words are too close to one another to be taken for a misspelling."""
_WORDS_OF_THEIR_OWN = frozenset({"snippet"})
"""No misspellings: a snippet is any piece of text, of a prompt or of code; snippets are what a search gives."""


def words_of(identifier: str) -> tuple[str, ...]:
    """The words of an identifier, lower case.

    >>> words_of("currentUserName"), words_of("correlation-id"), words_of("X_REQ_ID")
    (('current', 'user', 'name'), ('correlation', 'id'), ('x', 'req', 'id'))
    """
    return tuple(word.lower() for word in _WORD.findall(identifier))


@lru_cache(maxsize=4096)
def _corrected(word: str) -> str:
    """The word of our vocabulary that a long word is a misspelling of, else the word itself."""
    if len(word) < _LEAST_FUZZY_LETTERS or word in _WORDS_OF_THEIR_OWN:
        return word
    match = process.extractOne(word, _VOCABULARY, scorer=fuzz.ratio, score_cutoff=_LEAST_SIMILARITY)
    if match is None or (match[0] in _USER and word == match[0] + "s"):
        return word  # many customers are no customer: a number or a list of them
    return match[0]


@lru_cache(maxsize=8192)
def origin_of_name(identifier: str) -> Meaning | None:
    """What a name says: the kind of value and its cadence; None where it says nothing.

    Only the last attribute of a dotted name is looked at, except that `user.name` says user.

    >>> [str(part) for part in origin_of_name("request_id")], [str(part) for part in origin_of_name("user.name")]
    (['random', 'call'], ['identity', 'user'])
    >>> origin_of_name("max_tokens"), origin_of_name("corelation_id") == origin_of_name("correlation_id")
    (None, True)
    """
    words = tuple(_corrected(word) for word in words_of(".".join(identifier.split(".")[-2:]).removeprefix("self.")))
    if not words:
        return None
    if words[-1] in _AIMS and words[0] in _AGENT:
        return None
    last_attribute = words_of(identifier.rsplit(".", 1)[-1])
    exact = _EXACT.get(words) or _EXACT.get(last_attribute)
    if exact:
        return exact
    others = frozenset(words[:-1])
    if words[-1] in _ID and len(last_attribute) > 1:
        others = frozenset(last_attribute[:-1])  # `dialog.kb_ids`: of what the last word's own words say
    if words[-1] in _BACKGROUND and len(last_attribute) > 1 and last_attribute[-2] in _ROLE:
        return None
    if words[-1] in _RETRIEVED and _QUANTITY.intersection(last_attribute):
        return None
    for row in _ROWS:
        if words[-1] in row.last and (not row.other or row.other & others):
            return row.meaning
    return None
