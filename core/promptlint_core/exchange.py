"""An exchange: one request with its response, as the wire tells it, in one shape for all protocols.

Absent is None, never 0. Times are seconds; `*_at` is seconds since 1970 UTC (or since any fixed zero in replays).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from promptlint_core.prompt import Bound, BoundKind, Part


class PieceKind(StrEnum):
    NAME = "name"
    """Of a tool or of a tool call."""
    DESCRIPTION = "description"
    SCHEMA = "schema"
    """Tool schema as compact JSON in the received key order."""
    TEXT = "text"
    REASONING = "reasoning"
    ID = "id"
    """Of a tool call or of the result that answers it."""
    ARGUMENTS = "arguments"
    """Tool-call argument string, or its input as compact JSON in the received key order."""
    ROLE = "role"
    IMAGE = "image"
    """Address, or data of an image, file or audio part."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One string of a request that the model reads, in render order."""

    path: str
    """JSON path in the request: `system`, `system[1].text`, `tools[0].schema`, `messages[2].content` …

    A list with exactly one text block reads as a string: its path is that of the list.
    """
    text: str
    kind: PieceKind
    part: Part
    message: int | None = None
    """Index in the request's own list of messages; None in tools and in a separate system field."""
    role: str = ""
    block: int | None = None
    """Position counted in the provider's content blocks over the whole prompt (tools, system, messages): what
    look-back windows of cache markers count. None where the piece is no block of its own."""
    ends_block: bool = False
    """True on the last piece of a content block: markers stand on such ends."""
    listed: bool = False
    """On the wire a list with exactly one text block stands here, not a string."""


@dataclass(frozen=True, slots=True)
class WireMarker:
    """An explicit cache breakpoint of a request."""

    path: str
    piece: int
    """Index into `Request.pieces` of the last piece inside the marked prefix; -1: before the first."""
    life_s: int
    """300 or 3600 at Anthropic, 1800 or 43200 at OpenAI."""


NO_BOUND = Bound(BoundKind.ABSENT)


@dataclass(frozen=True, slots=True)
class Request:
    """What the client asked for."""

    provider: str
    """Who serves: `openai`, `azure`, `anthropic`, `bedrock`, `gemini`, `deepseek`, `mistral`, `openrouter`, `vllm`,
    `sglang`, `llamacpp`, `ollama`, `tgi` … or `unknown`."""
    api: str
    """The wire format: `chat`, `responses`, `completions`, `messages`, `generate_content`, `converse`, `invoke`,
    `ollama_chat`, `ollama_generate`, `embeddings`, `unknown` …"""
    model: str | None
    pieces: tuple[Piece, ...] = ()
    """In the provider's render order."""
    markers: tuple[WireMarker, ...] = ()
    bound: Bound = NO_BOUND
    n: int = 1
    stream: bool = False
    wants_usage: bool | None = None
    """`stream_options.include_usage`; None where the protocol has no such switch or it is unset."""
    parameters: tuple[tuple[str, str], ...] = ()
    """Cache-relevant parameters as (name, compact JSON): tool_choice, thinking, reasoning, response_format,
    service tier, speed …; sorted by name."""
    routing_key: str | None = None
    """`prompt_cache_key`, `cache_salt`, `session_id` …: what separates or routes cache entries."""
    tool_names: tuple[str, ...] = ()
    hidden_prefix: bool = False
    """Part of the prompt is kept by the server (`previous_response_id`, `cachedContent` …): prediction is unknown."""
    salt: str | None = None
    host: str = ""
    path: str = ""
    """Request path without query."""
    signed: bool = False
    """The body is covered by a signature: it must not be edited."""
    labels: tuple[tuple[str, str], ...] = ()
    """Team, environment, route … from the configuration or headers of ours, for the report."""
    notes: tuple[str, ...] = ()
    """Clear sentences about what could not be read."""

    @property
    def text(self) -> str:
        """All pieces joined, in render order."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the server reports them; `prompt_tokens` is the whole prompt, whatever the protocol counts."""

    prompt_tokens: int | None = None
    hit_tokens: int | None = None
    """Read from the cache."""
    written_tokens: int | None = None
    """Written to the cache at an extra price or by explicit order."""
    computed_tokens: int | None = None
    """Neither read nor written: with the two above it adds up to `prompt_tokens`."""
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    written_by_life: tuple[tuple[int, int], ...] = ()
    """(life in seconds, tokens) where the provider splits writes."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Latencies of one exchange. TTFT and inter-token gaps belong to prefill and decode and are never mixed."""

    started_at: float
    first_byte_s: float | None = None
    ttft_s: float | None = None
    """Request sent to first generated content: text, reasoning or tool arguments."""
    e2e_s: float | None = None
    gaps_s: tuple[float, ...] = ()
    """Gaps between events with generated content (one choice at a time)."""
    event_tokens: tuple[int, ...] = ()
    """Tokens carried by each event with content, the first included, where known."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back."""

    status: int | None = None
    error: str | None = None
    """Kind of error: `overloaded_error`, `timeout`, `cut` …; never a text that may hold a secret."""
    finish_reason: str | None = None
    model: str | None = None
    served_by: str | None = None
    """Provider that a router chose (OpenRouter's `provider`)."""
    usage: Usage | None = None
    """None: not reported."""
    tool_calls: tuple[str, ...] = ()
    """Names of the tools that were called."""
    cited: int | None = None
    """Number of retrieved passages that the answer cites, where told."""
    content_chars: int | None = None
    content_tail: str | None = None
    reasoning: bool = False
    """The answer held reasoning content that the next request may have to replay."""
    diagnosis: str | None = None
    """The vendor's own reason for a miss (`diagnostics.cache_miss_reason`, `prompt_cache_diagnostics`)."""
    engine_hit_tokens: int | None = None
    notes: tuple[str, ...] = ()
    tools_known: bool = False
    """Whether it was told which tools were called: without, an empty `tool_calls` of an unread answer says nothing."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request with its response and timing."""

    index: int
    request: Request
    response: Response
    timing: Timing
    extra: tuple[tuple[str, str], ...] = field(default=())


class Verdict(StrEnum):
    FIRST = "first"
    APPEND_ONLY = "append-only"
    DIVERGED = "diverged"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place at which a later request differs from an earlier one."""

    part: Part
    path: str
    """In the later request."""
    char_offset: int
    """In code points inside the string at `path`."""
    earlier: str
    """The next characters of the earlier request (at most 40)."""
    later: str
    path_in_earlier: str | None = None
    """Where the indices moved."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a cache could reuse of the later request after the earlier one."""

    earlier: int
    later: int
    verdict: Verdict
    divergence: Divergence | None
    shared_prefix_share: float
    """Common prefix of the joined pieces ÷ length of the later request, in characters."""
    reusable_prefix_share: float | None
    """What the provider can really read back of it; None: unknown."""
    tokens_behind: int | None = None
    """Tokens behind the divergence that the earlier request held too: read again for nothing."""
    rule: str | None = None
