"""What rules see of traffic: one exchange at a time, with the earlier ones that it is compared with.

The same view serves recorded files and the live proxy: it holds a bounded window, never the whole past.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from promptlint_core.exchange import Comparison, Exchange, Request, Response, Verdict
from promptlint_rules.difference import Difference, Kind

LOCAL_ENGINES = frozenset({"vllm", "sglang", "llamacpp", "ollama", "tgi", "tensorrt", "unknown"})
"""Providers whose prefix cache we run ourselves: automatic, no minimum, no look-back."""


@dataclass(frozen=True, slots=True)
class Seen:
    """An exchange with its place among the others."""

    exchange: Exchange
    group: str
    """Requests that come from the same template."""
    line: str
    """Conversation within the group, told apart by content."""
    turn: int
    """Position in the line, from 0."""
    prompt_tokens: int
    reported: bool
    """Whether `prompt_tokens` comes from the server; else it is our estimate."""
    retry_of: int | None = None
    """Index of the earlier identical request that failed."""
    chars: int = -1
    """Code points of the prompt; counted from the pieces when not given."""

    def __post_init__(self) -> None:
        if self.chars < 0:
            object.__setattr__(self, "chars", sum(len(piece.text) for piece in self.exchange.request.pieces))

    @property
    def index(self) -> int:
        return self.exchange.index

    @property
    def request(self) -> Request:
        return self.exchange.request

    @property
    def response(self) -> Response:
        return self.exchange.response

    @property
    def at(self) -> float:
        return self.exchange.timing.started_at

    @property
    def begun_at(self) -> float | None:
        """When the answer began: from then on the prefix can be read. None: not known."""
        timing = self.exchange.timing
        after = timing.first_byte_s if timing.first_byte_s is not None else timing.ttft_s
        return None if after is None else timing.started_at + after

    @property
    def hit_tokens(self) -> int | None:
        return self.response.usage.hit_tokens if self.response.usage else None

    @property
    def written_tokens(self) -> int | None:
        return self.response.usage.written_tokens if self.response.usage else None

    @property
    def output_tokens(self) -> int | None:
        return self.response.usage.output_tokens if self.response.usage else None

    @property
    def failed(self) -> bool:
        status = self.response.status
        return bool(self.response.error) or (status is not None and status >= 400)

    def tokens_of_chars(self, chars: int) -> int:
        """Tokens of a part of the prompt, by its share in the characters of the whole."""
        return round(self.prompt_tokens * chars / self.chars) if self.chars else 0


class Relation(StrEnum):
    LINE = "line"
    """The later request continues the conversation of the earlier one."""
    GROUP = "group"
    """Both come from the same template and belong to different conversations."""
    RETRY = "retry"
    """The same request again, because the earlier one failed."""
    HOP = "hop"
    """The same request seen before and behind a gateway."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two compared requests."""

    earlier: Seen
    later: Seen
    relation: Relation
    comparison: Comparison
    kind: Kind | None = None
    """Of the first difference; None where there is none."""
    detail: str = ""
    """What the message should say of it: the precision, the names of tools, the number of messages …"""
    advice_path: str = ""
    """Where the message points to when that is not the first differing character."""
    differences: tuple[Difference, ...] = ()
    """All aligned differences in render order, the first ones of many."""
    shared_chars: int = 0
    shared_pieces: int = 0
    """Equal pieces at the head."""
    shared_tokens: int = 0
    behind_tokens: int = 0
    """Tokens behind the first difference that both requests hold."""
    dropped: int = 0
    """Messages that are gone from the head of the history."""
    appended: int = 0
    """Messages added at the end."""

    @property
    def append_only(self) -> bool:
        return self.comparison.verdict is Verdict.APPEND_ONLY

    @property
    def first(self) -> Difference | None:
        return self.differences[0] if self.differences else None

    @property
    def path(self) -> str:
        if self.advice_path:
            return self.advice_path
        return self.comparison.divergence.path if self.comparison.divergence else ""

    @property
    def place(self) -> str:
        """For messages: `system differs at character 12`."""
        divergence = self.comparison.divergence
        if divergence is None:
            return ""
        return f"`{divergence.path}` differs at character {divergence.char_offset}"

    @property
    def gap_s(self) -> float:
        return self.later.at - self.earlier.at

    @property
    def same_model(self) -> bool:
        return self.earlier.request.model == self.later.request.model

    @property
    def same_cache(self) -> bool:
        """Nothing but the text decides what can be read: same model, parameters, routing key, provider and salt."""
        a, b = self.earlier, self.later
        return (
            self.same_model
            and a.request.parameters == b.request.parameters
            and a.request.routing_key == b.request.routing_key
            and a.request.salt == b.request.salt
            and a.request.host == b.request.host
            and (a.response.served_by or "") == (b.response.served_by or "")
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """How the provider's prefix cache works, as far as rules need to know it."""

    explicit: bool = False
    """Nothing is cached without a marker."""
    breakpoints_only: bool = False
    """Reads only at message ends and breakpoints, never an arbitrary shorter prefix."""
    minimum_tokens: int = 0
    life_s: float | None = None
    """Life without use; None: until evicted or unknown."""
    lookback: int = 20
    marker_limit: int = 4


@dataclass(frozen=True, slots=True)
class Memory:
    """Projected KV memory when the request started; None where no geometry or pool is configured."""

    request_bytes: int | None = None
    in_flight_bytes: int | None = None
    pool_bytes: int | None = None
    in_flight: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """Running figures of a group; they need no window."""

    requests: int = 0
    answered: int = 0
    largest_output: int = 0
    outputs: int = 0
    """Answers whose output tokens are known."""
    tools_known: int = 0
    """Answers of which it is known whether a tool was called."""
    tools_called: int = 0
    streamed: int = 0
    streamed_without_usage: int = 0
    hits_unknown: int = 0
    """Answers that report usage without saying how much was read from the cache."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """The newest exchange and what came before it, oldest first, bounded."""

    current: Seen
    pairs: tuple[Pair, ...] = ()
    """The comparisons that are told of the current exchange."""
    line: tuple[Seen, ...] = ()
    """Recent exchanges of its line, itself last."""
    group: tuple[Seen, ...] = ()
    """Recent exchanges of its group, itself last."""
    line_pairs: tuple[Pair, ...] = ()
    """Recent told comparisons of its line, the current ones last."""
    group_pairs: tuple[Pair, ...] = ()
    """Recent told comparisons of its group, the current ones last."""
    policy: Policy = field(default_factory=Policy)
    counts: Counts = field(default_factory=Counts)
    memory: Memory = field(default_factory=Memory)
    utc_offset_s: int = 0
    """Of the server's clock, for its midnight."""

    def of_kind(self, *kinds: Kind) -> Iterator[Pair]:
        """The told comparisons of the current exchange whose first difference is of one of these kinds."""
        return (pair for pair in self.pairs if pair.kind in kinds and pair.relation is not Relation.HOP)

    def continuing(self) -> Iterator[Pair]:
        """The told comparisons within the line of the current exchange."""
        return (pair for pair in self.pairs if pair.relation is Relation.LINE)
