"""How often text changes: the ordered scale, where a value comes from, and how sure we are of it."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Cadence(IntEnum):
    """How often the bytes of a segment change, slowest first. The best prompt is sorted by it."""

    FIXED = 0
    """Literal text."""
    DEPLOY = 1
    """Environment, version, evaluated once per process."""
    DAY = 2
    TENANT = 3
    USER = 4
    SESSION = 5
    APPEND = 6
    """History that only grows."""
    TURN = 7
    """This request's question, retrieved passages, state of the step."""
    CALL = 8
    """Changes although nothing was asked to change: clock to the second, random ids, unordered iteration."""

    def __str__(self) -> str:
        return self.name.lower()


class Evidence(StrEnum):
    PROVED = "proved"
    """The value was followed to its source."""
    NAMED = "named"
    """Only its name says so."""
    OBSERVED = "observed"
    """Seen to change on the wire."""


class Origin(StrEnum):
    """What kind of value a segment holds: the rule that judges it follows from this."""

    LITERAL = "literal"
    CLOCK = "clock"
    RANDOM = "random"
    """uuid4, secrets, getrandbits, id(), temporary names."""
    SAMPLE = "sample"
    """Shuffled or sampled examples."""
    IDENTITY = "identity"
    """User, tenant, session: name, id, mail."""
    ENVIRONMENT = "environment"
    """git status, working directory, file lists, platform readings."""
    ATTRIBUTION = "attribution"
    RETRIEVAL = "retrieval"
    """Passages, memories, search results."""
    STATE = "state"
    """Counters, budgets, plans, the state of a step."""
    TASK = "task"
    """The question, query, goal of this conversation or turn."""
    ORDER = "order"
    """Iteration without a fixed order: sets, directory listings, completion order."""
    HISTORY = "history"
    CONFIG = "config"
    """Settings, environment variables, evaluated once per process."""
    UNKNOWN = "unknown"
