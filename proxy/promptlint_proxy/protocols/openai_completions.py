"""Legacy completions: one prompt string; also fill-in-the-middle (prompt and suffix) of Mistral and DeepSeek."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

from promptlint_core.exchange import PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.json_text import Object, as_int, as_list, as_object, as_text
from promptlint_proxy.protocols.openai_chat import deployment, event_tokens, read_delta, take_envelope, wants_usage
from promptlint_proxy.protocols.parameters import read_parameters
from promptlint_proxy.protocols.prompt_builder import PromptBuilder
from promptlint_proxy.protocols.routing import read_routing_key, read_salt

_SERVER_BOUND = {"openai": 16, "azure": 16, "vllm": 16, "sglang": 16}
"""Tokens that a request without a bound gets; hosts that document none are not listed."""
UNTOLD_TEXT = "the prompt is given as token ids: its text is not known, its token count is exact"


class OpenAICompletions(Protocol):
    name: ClassVar[str] = "completions"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:
        model = as_text(body.get("model")) or deployment(head.path) or None
        builder = PromptBuilder()
        prompts = read_prompts(builder, body.get("prompt"))
        suffix = as_text(body.get("suffix"))
        builder.add_block([(PieceKind.TEXT, "suffix", suffix)], Part.MESSAGES)
        answers = max(as_int(body.get("n")) or 1, as_int(body.get("best_of")) or 1)
        return replace(
            request,
            model=model,
            pieces=tuple(builder.pieces),
            bound=read_bound(
                body, ("max_tokens", "max_completion_tokens"), server_tokens=_SERVER_BOUND.get(self.provider)
            ),
            n=answers * max(prompts, 1),
            stream=body.get("stream") is True,
            wants_usage=wants_usage(body),
            parameters=read_parameters(body, model, self.provider),
            routing_key=read_routing_key(body, head.headers, self.provider),
            salt=read_salt(body, self.provider),
            notes=(UNTOLD_TEXT,) if _holds_ids(body.get("prompt")) else (),
        )

    def read_answer(self, body: Object, answer: Answer) -> None:
        take_envelope(body, answer)
        for choice in map(as_object, as_list(body.get("choices"))):
            index = as_int(choice.get("index")) or 0
            answer.add(Delta("text", as_text(choice.get("text")), index))
            for delta in read_delta(as_object(choice.get("message")), index, answer):  # fill-in-the-middle
                answer.add(delta)
            answer.finish_reason = as_text(choice.get("finish_reason")) or answer.finish_reason

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:  # noqa: ARG002
        take_envelope(event, answer)
        usage = as_object(event.get("usage"))
        for choice in map(as_object, as_list(event.get("choices"))):
            index = as_int(choice.get("index")) or 0
            answer.choice = index
            tokens = event_tokens(choice, usage, index, answer)
            yield Delta("text", as_text(choice.get("text")), index, tokens)
            yield from read_delta(as_object(choice.get("delta")), index, answer)
            if choice.get("finish_reason"):
                answer.finish_reason = as_text(choice.get("finish_reason"))
                answer.kind = "stop"


def read_prompts(builder: PromptBuilder, prompt: Any, path: str = "prompt") -> int:
    """Pieces of a prompt: a string, token ids, or a list of either. Returns how many prompts it holds."""
    if isinstance(prompt, str):
        builder.add_block([(PieceKind.TEXT, path, prompt)], Part.MESSAGES, 0, "user")
        return 1
    items = [prompt] if isinstance(prompt, int) else as_list(prompt)
    if items and all(isinstance(item, int) for item in items):
        builder.add_block([(PieceKind.TEXT, path, ids_as_text(items))], Part.MESSAGES, 0, "user")
        return 1
    for index, item in enumerate(items):
        place = path if len(items) == 1 and isinstance(item, str) else f"{path}[{index}]"
        read_prompts(builder, item, place)
    return len(items)


def ids_as_text(ids: list[Any]) -> str:
    """Token ids as text that is a prefix of another exactly when the ids are.

    >>> ids_as_text([5, 17])
    '5 17 '
    """
    return "".join(f"{item} " for item in ids)


def _holds_ids(prompt: Any) -> bool:
    items = as_list(prompt)
    return bool(items) and (isinstance(items[0], int) or _holds_ids(items[0]))
