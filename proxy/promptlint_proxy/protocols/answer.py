"""What is learnt of an answer, event by event, until it is told as one Response."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from promptlint_core.exchange import Response
from promptlint_proxy.protocols.json_text import Object, as_object
from promptlint_proxy.protocols.usage import merge_usage, read_usage

TAIL_CHARS = 400
"""Enough to see a repetition; text of answers is not kept."""

UNREAD_APIS = frozenset({"unknown", "embeddings"})
"""Measured only: of their answers nothing but usage is read."""

_KIND = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]{1,63}")


@dataclass(frozen=True, slots=True)
class Delta:
    """Generated content of one event and one choice."""

    kind: str
    """`text`, `reasoning` or `tool`."""
    text: str
    choice: int = 0
    tokens: int | None = None


@dataclass(slots=True)
class Answer:
    api: str
    provider: str
    model: str | None = None
    served_by: str | None = None
    finish_reason: str | None = None
    error: str | None = None
    diagnosis: str | None = None
    engine_hit_tokens: int | None = None
    usage: Object = field(default_factory=dict)
    """As the provider sends it; of a stream all of its reports, the later winning field by field."""
    tools: list[str] = field(default_factory=list)
    cited: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    chars: int = 0
    tail: str = ""
    reasoning: bool = False
    done: bool = False
    readable: bool = True
    tokens_so_far: dict[int, int] = field(default_factory=dict)
    """Output tokens told with content so far, by choice: their steps are the tokens of one event."""
    tokens_told: dict[int, int] = field(default_factory=dict)
    """The same with events that held none: half a character is sent with the next token."""
    cumulative: dict[int, str] = field(default_factory=dict)
    """Text so far by choice, of servers whose events repeat it all."""
    kind: str = "other"
    """Of the event being read, where it holds no content."""
    choice: int = 0

    def add(self, delta: Delta) -> None:
        self.chars += len(delta.text)
        if delta.choice in self.tokens_told:
            self.tokens_so_far[delta.choice] = self.tokens_told[delta.choice]
        if delta.kind == "reasoning":
            self.reasoning = True
        elif delta.choice == 0:
            self.tail = (self.tail + delta.text)[-TAIL_CHARS:]

    def text(self, kind: str, text: str) -> None:
        if text:
            self.add(Delta(kind, text))

    def take_usage(self, usage: object) -> None:
        if isinstance(usage, dict):
            merge_usage(self.usage, usage)

    def take_step(self, choice: int, total: int | None) -> int | None:
        """Tokens of this event, and of events without content before it, from a running total of output tokens."""
        if total is None:
            return None
        step = total - self.tokens_so_far.get(choice, 0)
        self.tokens_told[choice] = total
        return step if step > 0 else None

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)

    def fail(self, body: Object | None, status: int, header: str = "") -> None:
        """The kind of an error from its body, else from its status; never its message."""
        self.fail_as(header.partition(":")[0] or error_kind(body or {}) or f"http_{status}")

    def fail_as(self, kind: str) -> None:
        self.error = kind if _KIND.fullmatch(kind) else "error"
        self.kind = "error"

    def response(self, status: int) -> Response:
        usage = read_usage(self.api, self.provider, self.usage) if self.usage else None
        told = usage is not None and any(
            count is not None for count in (usage.prompt_tokens, usage.hit_tokens, usage.output_tokens)
        )
        read = self.readable and self.error is None and self.api not in UNREAD_APIS
        return Response(
            status=status,
            error=self.error,
            finish_reason=self.finish_reason,
            model=self.model,
            served_by=self.served_by,
            usage=usage if told else None,
            tool_calls=tuple(self.tools),
            cited=len(self.cited) or None,
            content_chars=self.chars if read or self.chars else None,
            content_tail=self.tail or None,
            reasoning=self.reasoning,
            diagnosis=self.diagnosis,
            engine_hit_tokens=self.engine_hit_tokens,
            notes=tuple(self.notes),
            tools_known=read,
        )


def error_kind(body: Object) -> str:
    """The kind in an error body of any of the APIs; empty when it tells none.

    >>> error_kind({"type": "error", "error": {"type": "overloaded_error", "message": "…"}})
    'overloaded_error'
    """
    error = as_object(body.get("error"))
    for value in (
        error.get("type"),
        error.get("status"),
        error.get("code"),
        body.get("error_type"),
        body.get("__type"),
        body.get("type") if body.get("type") != "error" else None,
        body.get("code"),
    ):
        if isinstance(value, str) and _KIND.fullmatch(value):
            return value
    return ""
