"""What an identifier says of the value behind it: `request_id`, `reqId`, `current_user_name` …

Names are weak evidence (`Evidence.NAMED`): they never speak louder than a value that was followed to its source.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rapidfuzz import fuzz, process

from promptlint_core.cadence import Cadence, Origin

Meaning = tuple[Origin, Cadence]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_CLOCK_WORDS = frozenset("now timestamp datetime clock utcnow".split())
_DAY_WORDS = frozenset("today date weekday".split())
_ID_WORDS = frozenset("id uuid guid uid ident identifier nonce".split())
_REQUEST_WORDS = frozenset("request req correlation trace traceparent span run invocation call message msg event".split())
_SESSION_WORDS = frozenset("session conversation thread chat dialog dialogue".split())
_USER_WORDS = frozenset("user username customer member person client employee caller visitor patient student".split())
_TENANT_WORDS = frozenset("tenant org organization organisation workspace account company team".split())
_PERSONAL_WORDS = frozenset(
    "name names email mail phone id uuid profile location city country timezone locale language address nickname "
    "preferences prefs info data details persona birthday age".split()
)
_RETRIEVAL_WORDS = frozenset(
    "context contexts documents document docs passages passage chunks chunk snippets snippet memories memory "
    "retrieved retrieval evidence sources search_results results knowledge kb hits excerpts".split()
)
_TASK_WORDS = frozenset("task query question goal objective instruction request input prompt topic".split())
_STATE_WORDS = frozenset(
    "step steps iteration iter turn attempt round counter remaining budget progress todo todos plan state status "
    "index".split()
)
_HISTORY_WORDS = frozenset("history messages conversation transcript".split())

_SPELLINGS = sorted(
    _CLOCK_WORDS | _REQUEST_WORDS | _SESSION_WORDS | _USER_WORDS | _TENANT_WORDS | {"documents", "retrieved", "passages"}
)
_LEAST_SIMILARITY = 88.0


def words_of(identifier: str) -> tuple[str, ...]:
    """The words of an identifier, lower case.

    >>> words_of("currentUserName"), words_of("correlation-id"), words_of("X_REQ_ID")
    (('current', 'user', 'name'), ('correlation', 'id'), ('x', 'req', 'id'))
    """
    return tuple(word.lower() for word in _WORD.findall(identifier))


@lru_cache(maxsize=4096)
def _known(word: str) -> str:
    """A word, or the word of our vocabulary that it is a misspelling or a plural of."""
    if len(word) < 6 or word in _SPELLINGS:
        return word
    match = process.extractOne(word, _SPELLINGS, scorer=fuzz.ratio, score_cutoff=_LEAST_SIMILARITY)
    return match[0] if match else word


@lru_cache(maxsize=8192)
def origin_of_name(identifier: str) -> Meaning | None:  # noqa: C901 - one question after the other reads best
    """What a name says: the kind of value and its cadence; None where it says nothing.

    >>> origin_of_name("request_id")[0].value, str(origin_of_name("request_id")[1])
    ('random', 'call')
    >>> origin_of_name("current_user_name")[0].value, origin_of_name("max_tokens")
    ('identity', None)
    """
    split = words_of(identifier.rsplit(".", 1)[-1])
    words = tuple(_known(word) for word in split)
    if not words:
        return None
    has = frozenset(words)
    last = words[-1]
    is_id = last in _ID_WORDS
    if has & {"traceparent", "nonce", "uuid", "guid"} and not has & (_USER_WORDS | _SESSION_WORDS | _TENANT_WORDS):
        return Origin.RANDOM, Cadence.CALL
    if is_id and has & _REQUEST_WORDS:
        return Origin.RANDOM, Cadence.CALL
    if has & _SESSION_WORDS and (is_id or last in _PERSONAL_WORDS):
        return Origin.IDENTITY, Cadence.SESSION
    if has & _USER_WORDS and (last in _USER_WORDS or last in _PERSONAL_WORDS):
        if words == ("user",) or words == ("client",):
            return None
        return Origin.IDENTITY, Cadence.USER
    if has & _TENANT_WORDS and (is_id or last in _PERSONAL_WORDS):
        return Origin.IDENTITY, Cadence.TENANT
    if words in (("now",), ("timestamp",), ("current", "time"), ("current", "timestamp"), ("current", "datetime"),
                 ("datetime", "now"), ("time", "now"), ("utc", "now"), ("date", "time"), ("current", "date", "time")):  # fmt: skip
        return Origin.CLOCK, Cadence.CALL
    if words in (("today",), ("current", "date"), ("today", "date"), ("todays", "date"), ("date", "today")):
        return Origin.CLOCK, Cadence.DAY
    if last in _RETRIEVAL_WORDS and last not in {"results", "document", "docs"}:
        return Origin.RETRIEVAL, Cadence.TURN
    if has & {"retrieved", "search", "rag", "relevant", "reference"} and has & _RETRIEVAL_WORDS:
        return Origin.RETRIEVAL, Cadence.TURN
    if last in {"documents", "docs"}:
        return Origin.RETRIEVAL, Cadence.TURN
    if words[-1] in {"query", "question", "goal", "objective", "task"} or words in (
        ("user", "input"), ("user", "request"), ("user", "message"), ("user", "prompt"),
        ("task", "description"), ("user", "instruction"), ("research", "topic"),
    ):  # fmt: skip
        return Origin.TASK, Cadence.TURN
    if last in {"step", "iteration", "attempt"} or words[:1] in (("step",), ("iteration",)) and last in {
        "number", "index", "count", "no", "num"
    }:  # fmt: skip
        return Origin.STATE, Cadence.TURN
    if has & {"remaining", "left"} and has & {"budget", "tokens", "steps", "turns", "time"}:
        return Origin.STATE, Cadence.TURN
    if words in (("history",), ("chat", "history"), ("message", "history"), ("conversation", "history"), ("messages",)):
        return Origin.HISTORY, Cadence.APPEND
    return None
