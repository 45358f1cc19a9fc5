"""A prompt: segments in the order the model reads them, each with a cadence and the place it came from.

The linter builds prompts from source, the proxy from traffic; the same rules judge both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from promptlint_core.cadence import Cadence, Evidence, Origin


class Part(StrEnum):
    """The three parts of a prompt. Their render order is the provider's: see `RenderOrder`."""

    TOOLS = "tools"
    SYSTEM = "system"
    MESSAGES = "messages"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A span of source text. Lines and columns count from 1; `end_column` is exclusive."""

    path: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the way a value takes into a prompt, as told to the user."""

    place: Place
    note: str
    """`read here`, `returned here`, `enters the prompt` …"""


@dataclass(frozen=True, slots=True)
class Marker:
    """A cache breakpoint that stands directly behind a segment."""

    life_s: int | None = None
    """Requested life in seconds (300 or 3600 at Anthropic); None: the provider's default."""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of prompt text that changes as one."""

    text: str | None
    """The literal text; None where it is not known (any value but a constant)."""
    cadence: Cadence | None
    """None: nothing is known of how often it changes; such a segment never causes a finding."""
    origin: Origin = Origin.LITERAL
    evidence: Evidence = Evidence.PROVED
    part: Part = Part.SYSTEM
    role: str = ""
    """`system`, `user`, `assistant`, `tool` … where known."""
    place: Place | None = None
    """Where the value is read when its flow is known, else where it enters the prompt."""
    expression: str = ""
    """The source text of the expression that yields the value, one line."""
    flow: tuple[Step, ...] = ()
    """From where the value is read to where it enters the prompt."""
    marker: Marker | None = None
    repeated: bool = False
    """Stands for any number of copies (a loop, a comprehension, a history)."""
    detail: str = ""
    """What the message should say of it: `to the second`, `uuid4`, `set order` …"""

    @property
    def is_literal(self) -> bool:
        return self.text is not None and self.origin is Origin.LITERAL


@dataclass(frozen=True, slots=True)
class Prompt:
    """Segments in render order, as far as source or traffic tells them."""

    segments: tuple[Segment, ...]
    place: Place | None = None
    """Where the prompt is assembled."""
    name: str = ""
    """Function, constant or file it comes from, for people."""
    complete: bool = False
    """True when a call to a model was seen that sends exactly these segments."""
    multi_turn: bool = False
    """True when it is sent again with a growing history (a loop, a history variable)."""
    chat_template: bool = False
    """True for a server's chat template: its clock is the server's, and every prompt of every client passes it."""

    def behind(self, index: int) -> Iterator[Segment]:
        """The segments that stand behind the segment at `index`."""
        return iter(self.segments[index + 1 :])


class BoundKind(StrEnum):
    LIMITED = "limited"
    ABSENT = "absent"
    """The call sends no bound."""
    UNLIMITED = "unlimited"
    """The call says explicitly that there is none: None, -1, inf."""
    UNKNOWN = "unknown"
    """A variable, a `**kwargs`, a configuration: never a finding."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The bound on output tokens that a call sends."""

    kind: BoundKind
    tokens: int | None = None
    place: Place | None = None
    parameter: str = ""


UNKNOWN_BOUND = Bound(BoundKind.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Call:
    """A call to a model, a constructor of an agent or client, or a retrieval, as the source tells it."""

    callee: str
    """Canonical name: `openai.chat.completions.create`."""
    provider: str
    place: Place
    bound: Bound = UNKNOWN_BOUND
    model: str | None = None
    prompt: Prompt | None = None
    switches: tuple[tuple[str, str, Place], ...] = ()
    """Literal keyword arguments that change the prompt or its caching: (name, value as source, place)."""
    retrieved: int | None = None
    """Literal number of passages that a retrieval asks for (`k`, `top_k` …)."""
    kind: str = "model"
    """`model`, `agent`, `client` or `retrieval`."""
    in_loop: bool = False
    markers: tuple[Marker, ...] = field(default=())
