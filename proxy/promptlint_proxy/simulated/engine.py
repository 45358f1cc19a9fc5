"""Decides what the simulated upstream answers and when each byte is due: no clock, no socket, no luck but the seed."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from promptlint_core import tokens
from promptlint_core.exchange import PieceKind, Request
from promptlint_core.prompt import BoundKind
from promptlint_proxy.predict.render import PieceEncoder, render_pieces
from promptlint_proxy.protocols.anthropic_messages import AnthropicMessages
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.openai_chat import OpenAIChat
from promptlint_proxy.protocols.openai_completions import OpenAICompletions
from promptlint_proxy.protocols.openai_responses import OpenAIResponses
from promptlint_proxy.simulated.answer import Answer, speak
from promptlint_proxy.simulated.caches import UpstreamCache
from promptlint_proxy.simulated.counters import Counters
from promptlint_proxy.simulated.settings import SimulatedSettings
from promptlint_proxy.simulated.shapes import chat, messages, responses

ENCODING = tokens.Encoding("o200k_base", exact=True)
EPOCH_S = 1_750_000_000
JSON = "application/json"
EVENTS = "text/event-stream; charset=utf-8"

PROTOCOLS: dict[str, Protocol] = {
    "/v1/chat/completions": OpenAIChat("vllm"),
    "/v1/completions": OpenAICompletions("vllm"),
    "/v1/responses": OpenAIResponses("vllm"),
    "/v1/messages": AnthropicMessages("anthropic"),
}
REPLAYED = frozenset({"content", "reasoning_content", "tool_calls"})
CLOSING_TOKENS = 4
"""Behind an answer in the next prompt: its end, and the start of the next answer."""
FAULT_STATUS = {
    "429": (429, "rate_limit_error", "too many requests"),
    "529": (529, "overloaded_error", "overloaded"),
    "500": (500, "api_error", "internal error"),
}


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP answer: its parts with the seconds after the request at which they are due."""

    status: int
    content_type: str
    parts: tuple[tuple[float, bytes], ...]
    streamed: bool = False
    cut: bool = False
    """The connection is closed after the last part, before the body's end."""
    key: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Engine:
    """The server without its sockets. Not for several threads."""

    settings: SimulatedSettings = field(default_factory=SimulatedSettings)
    counters: Counters = field(default_factory=Counters)
    cache: UpstreamCache = field(init=False)
    encoder: PieceEncoder = field(init=False)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.cache = UpstreamCache(self.settings)
        self.encoder = PieceEncoder(lambda text: tokens.encode(text, ENCODING.name))

    def answer(self, path: str, body: bytes, at_s: float) -> Reply | None:
        """The reply to a POST; None when the block pool has no room until `finish` of another.

        Args:
            path: of the API, without a query.
            body: JSON.
            at_s: seconds; only differences count.
        """
        protocol = PROTOCOLS.get(path)
        if protocol is None:
            return self._error(path, 404, "not_found_error", f"no such path: {path[:80]}")
        head = RequestHead("POST", "simulated", path, {"content-type": JSON})
        request = protocol.read_request(body, head)
        if request.notes and not request.pieces:
            return self._error(path, 400, "invalid_request_error", request.notes[0])
        document: dict[str, Any] = json.loads(body)
        if path == "/v1/messages" and request.bound.kind is not BoundKind.LIMITED:
            return self._error(path, 400, "invalid_request_error", "max_tokens: field required")
        number = next(self._numbers)
        fault = self._fault(number)
        if fault in FAULT_STATUS:
            return self._error(path, *FAULT_STATUS[fault])
        answer = self._think(number, request, at_s)
        if isinstance(answer, Reply) or answer is None:
            return answer
        answer = self._with_generated(path, protocol, document, request, answer)
        return self._shape(path, request, document, answer, cut=fault == "cut")

    def finish(self, reply: Reply) -> None:
        """The answer was sent, or its client left: blocks are free again."""
        if reply.key:
            self.cache.finish(reply.key)
            self.counters.running -= 1

    def _fault(self, number: int) -> str:
        if number in self.settings.faults:
            return self.settings.faults[number]
        draw = random.Random(f"{self.settings.seed}:fault:{number}")  # noqa: S311 a simulation
        return draw.choice(self.settings.fault_kinds) if draw.random() < self.settings.fault_share else ""

    def _think(self, number: int, request: Request, at_s: float) -> Answer | Reply | None:
        settings = self.settings
        rendered = render_pieces(request, self.encoder, ENCODING)
        prompt_tokens = len(rendered.ids)
        if prompt_tokens >= settings.max_model_len:
            sentence = f"the prompt has {prompt_tokens} tokens, the context holds {settings.max_model_len}"
            return self._error(request.path, 400, "invalid_request_error", sentence)
        key = f"{number}"
        first_byte_s = settings.overhead_s / 2
        found = self.cache.lookup(key, request, rendered, at_s, first_byte_s)
        if found is None:
            self.counters.waiting += 1
            return None
        uncached = prompt_tokens - (found.usage.hit_tokens or 0)
        bound = request.bound.tokens if request.bound.kind is BoundKind.LIMITED else None
        room = settings.max_model_len - prompt_tokens
        tool = request.tool_names[0] if settings.call_tools and request.tool_names else None
        argument = _argument_of(request)
        pieces, length_reached = speak(
            settings,
            f"{settings.seed}:{number}",
            uncached_tokens=uncached,
            bound=room if bound is None else min(bound, room),
            tool=tool,
            argument=argument,
            choices=request.n,
        )
        output = sum(piece.tokens for piece in pieces)
        reasoning = sum(piece.tokens for piece in pieces if piece.kind == "reasoning")
        self.counters.take(found.usage, output, [piece.at_s for piece in pieces])
        first_s = settings.overhead_s + uncached * settings.prefill_s_per_token
        return Answer(
            id=f"sim-{number}",
            model=request.model or settings.models[0],
            created_at=EPOCH_S + int(at_s),
            pieces=pieces,
            first_byte_s=first_byte_s,
            end_s=pieces[-1].at_s if pieces else first_s,
            usage=replace(found.usage, output_tokens=output, reasoning_tokens=reasoning),
            length_reached=length_reached,
            tool=tool,
            choices=request.n,
        )

    def _with_generated(
        self, path: str, protocol: Protocol, document: dict[str, Any], request: Request, answer: Answer
    ) -> Answer:
        """Enter the generated tokens into the cache, as an engine does: they are those that the answer has when it is
        sent back as a part of the next prompt. A tool call has more of them than its argument has words.
        """
        if answer.choices > 1 or not answer.pieces or request.hidden_prefix:
            return answer
        prompt = render_pieces(request, self.encoder, ENCODING).ids
        _, whole = _shapes(path, answer, self.settings, document)
        body = json.dumps(next_request(path, document, whole())).encode()
        replayed = protocol.read_request(body, RequestHead("POST", "simulated", path, {"content-type": JSON}))
        ids = render_pieces(replayed, self.encoder, ENCODING).ids
        if ids[: len(prompt)] != prompt:
            return answer
        generated = len(ids) - len(prompt) - (0 if path == "/v1/completions" else CLOSING_TOKENS)
        if answer.tool is None:
            generated = min(generated, answer.usage.output_tokens or 0)
        self.cache.keep_generated(answer.id.removeprefix("sim-"), ids[: len(prompt) + generated - 1])
        return replace(answer, usage=replace(answer.usage, output_tokens=generated))

    def _shape(self, path: str, request: Request, document: dict[str, Any], answer: Answer, *, cut: bool) -> Reply:
        stream, whole = _shapes(path, answer, self.settings, document)
        if not request.stream:
            body = json.dumps(whole(), separators=(",", ":")).encode()
            parts = ((answer.end_s, body[: len(body) // 2] if cut else body),)
            return Reply(200, JSON, parts, cut=cut, key=answer.id.removeprefix("sim-"))
        events = tuple(stream())
        if cut:
            # In the middle of an event, as a lost connection does it.
            events = events[: max(2, len(events) // 2)]
            at_s, last = events[-1]
            events = (*events[:-1], (at_s, last[: len(last) // 2]))
        return Reply(200, EVENTS, events, streamed=True, cut=cut, key=answer.id.removeprefix("sim-"))

    def _error(self, path: str, status: int, kind: str, sentence: str) -> Reply:
        self.counters.failed += 1
        error = {"type": kind, "message": sentence}
        document: dict[str, Any] = {"error": {**error, "param": None, "code": kind}}
        if path.startswith("/v1/messages"):
            document = {"type": "error", "error": error}
        headers = (("retry-after", "1"),) if status in (429, 529) else ()
        return Reply(status, JSON, ((0.0, json.dumps(document).encode()),), headers=headers)


def next_request(path: str, document: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """The request of the next turn, which sends an answer back and asks nothing more."""
    if path == "/v1/completions":
        return document | {"prompt": f"{document.get('prompt', '')}{answer['choices'][0]['text']}"}
    if path == "/v1/responses":
        asked = document.get("input", "")
        items = [{"role": "user", "content": asked}] if isinstance(asked, str) else list(asked)
        return document | {"input": [*items, *answer["output"]]}
    message = answer["choices"][0]["message"] if path == "/v1/chat/completions" else answer
    told = {"role": "assistant", **{key: value for key, value in message.items() if key in REPLAYED}}
    return document | {"messages": [*document.get("messages", []), told]}


def _argument_of(request: Request) -> str:
    """Name of the first tool's first required argument, so that an application can run the call."""
    schema = next((piece.text for piece in request.pieces if piece.kind is PieceKind.SCHEMA), "{}")
    try:
        document = json.loads(schema)
        names = [*document.get("required", []), *document.get("properties", {})]
    except (ValueError, AttributeError):
        names = []
    return str(names[0]) if names else "query"


def _shapes(
    path: str, answer: Answer, settings: SimulatedSettings, document: dict[str, Any]
) -> tuple[Callable[[], Iterator[tuple[float, bytes]]], Callable[[], dict[str, Any]]]:
    if path == "/v1/messages":
        return lambda: messages.stream(answer), lambda: messages.whole(answer)
    if path == "/v1/responses":
        return lambda: responses.stream(answer), lambda: responses.whole(answer)
    legacy = path == "/v1/completions"
    return (
        lambda: chat.stream(answer, settings, document, legacy=legacy),
        lambda: chat.whole(answer, settings, legacy=legacy),
    )
