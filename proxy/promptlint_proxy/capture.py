"""What the hot path hands over: the bytes of an exchange with the times they came, and nothing parsed.

These are the messages from the proxy to the analysis, in the order they happen: `Started`, then `Finished` or `Gone`.
`Pulse` goes a way of its own once a second, past all that waits. No type of mitmproxy is in them, so that another front
can sit on the analysis.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

Headers = tuple[tuple[str, str], ...]

# Only these reach the analysis: a header that is not named here may carry a secret. Values of routing headers
# decide which cache is asked; they are hashed with the store's key before they are recorded.
KEPT_REQUEST_HEADERS = frozenset(
    {
        "accept-encoding",
        "anthropic-beta",
        "anthropic-version",
        "content-encoding",
        "content-type",
        "host",
        "openai-beta",
        "traceparent",
        "user-agent",
        "x-dashscope-session-cache",
        "x-grok-conv-id",
        "x-session-affinity",
        "x-session-id",
        "x-stainless-retry-count",
    }
)
KEPT_RESPONSE_HEADERS = frozenset(
    {
        "cf-ray",
        "content-encoding",
        "content-type",
        "fireworks-cached-prompt-tokens",
        "fireworks-prompt-tokens",
        "fireworks-server-time-to-first-token",
        "openai-processing-ms",
        "retry-after",
        "x-amzn-bedrock-input-token-count",
        "x-amzn-bedrock-output-token-count",
        "x-generation-id",
        "x-openrouter-cache-status",
        "x-request-id",
    }
)
LABEL_PREFIX = "x-promptlint-"
"""Request headers of ours (`x-promptlint-team`, `-environment`, `-route`): labels for the records, not sent on."""

TAIL_BYTES = 64 * 1024
"""Of a body beyond the cap the end is kept too: that is where a stream reports its usage."""


def keep_headers(fields: Iterable[tuple[str, str]], kept: frozenset[str]) -> Headers:
    """Names in lower case, only those that are known to hold no secret.

    >>> keep_headers([("Content-Type", "text/plain"), ("Authorization", "Bearer s")], KEPT_REQUEST_HEADERS)
    (('content-type', 'text/plain'),)
    """
    pairs = ((name.lower(), value) for name, value in fields)
    return tuple((name, value) for name, value in pairs if name in kept)


@dataclass(slots=True)
class Started:
    """A request that is about to be sent on."""

    id: str
    started_at: float
    """Seconds since 1970 UTC."""
    method: str
    host: str
    """Of the upstream."""
    path: str
    """As sent to the upstream, without its query, which may hold a key."""
    headers: Headers
    body: bytes
    truncated: bool = False
    """The body was larger than the cap and only its start is here."""
    upstream: str = ""
    """The upstream's name from the configuration."""
    caller: str | None = None
    """Keyed hash of the API key."""
    labels: tuple[tuple[str, str], ...] = ()
    signed: bool = False
    actions: tuple[str, ...] = ()
    """What was changed in the request on order of the configuration."""


@dataclass(slots=True)
class Finished:
    """The answer to a request, complete or cut."""

    id: str
    status: int | None = None
    """None: no answer came."""
    headers: Headers = ()
    chunks: list[tuple[float, bytes]] = field(default_factory=list)
    """(seconds since the request was sent, bytes as they came: still compressed, cut anywhere)."""
    skipped_bytes: int = 0
    """Beyond the cap: bytes left out before the last of `chunks`."""
    first_byte_s: float | None = None
    e2e_s: float | None = None
    error: str | None = None
    """`cut`, `unreachable`, `timeout`, `client_closed`; None when the answer came to its end."""
    request_delay_s: float | None = None
    """Time that the proxy itself added before the request went on, and before the first byte of the answer did."""
    response_delay_s: float | None = None


@dataclass(slots=True)
class Gone:
    """A request whose end could not be handed over: it is no longer in flight."""

    id: str


@dataclass(slots=True)
class Pulse:
    """The proxy is alive; its own counters, all since its start."""

    in_flight: int = 0
    queue_depth: int = 0
    queue_bytes: int = 0
    dropped: int = 0
    draining: bool = False
    errors: dict[str, int] = field(default_factory=dict)
    """Exceptions in our own code by place, none of which reached a client."""
    actions: dict[str, int] = field(default_factory=dict)


Message = Started | Finished | Gone


class ChunkLog:
    """Keeps the chunks of a body with their times, up to a cap and its last bytes."""

    __slots__ = ("_cap_bytes", "_kept_bytes", "_tail", "_tail_bytes", "chunks", "skipped_bytes")

    def __init__(self, cap_bytes: int) -> None:
        self.chunks: list[tuple[float, bytes]] = []
        self.skipped_bytes = 0
        self._cap_bytes = cap_bytes
        self._kept_bytes = 0
        self._tail: deque[tuple[float, bytes]] = deque()
        self._tail_bytes = 0

    def add(self, at_s: float, data: bytes) -> None:
        if self._kept_bytes + len(data) <= self._cap_bytes:
            self._kept_bytes += len(data)
            self.chunks.append((at_s, data))
            return
        self._cap_bytes = 0  # what follows a gap is tail, however small
        self._tail.append((at_s, data))
        self._tail_bytes += len(data)
        while self._tail_bytes > TAIL_BYTES and len(self._tail) > 1:
            _, dropped = self._tail.popleft()
            self._tail_bytes -= len(dropped)
            self.skipped_bytes += len(dropped)

    def taken(self) -> list[tuple[float, bytes]]:
        return [*self.chunks, *self._tail]

    @property
    def kept_bytes(self) -> int:
        return self._kept_bytes + self._tail_bytes
