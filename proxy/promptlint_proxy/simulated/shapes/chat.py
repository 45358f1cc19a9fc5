"""OpenAI chat completions and legacy completions, as vLLM and OpenAI write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from promptlint_proxy.simulated.answer import Answer, Piece
from promptlint_proxy.simulated.settings import SimulatedSettings
from promptlint_proxy.simulated.shapes.events import DONE, data_event


def usage_of(answer: Answer, settings: SimulatedSettings) -> dict[str, Any]:
    usage = answer.usage
    told: dict[str, Any] = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": (usage.prompt_tokens or 0) + (usage.output_tokens or 0),
    }
    if settings.hosted or settings.prompt_tokens_details:
        told["prompt_tokens_details"] = {"cached_tokens": usage.hit_tokens}
    if settings.reasoning_tokens:
        told["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return told


def whole(answer: Answer, settings: SimulatedSettings, *, legacy: bool = False) -> dict[str, Any]:
    choices = []
    for index in range(answer.choices):
        finish = _finish(answer)
        if legacy:
            choices.append({"index": index, "text": answer.text("text", index), "finish_reason": finish})
            continue
        message: dict[str, Any] = {"role": "assistant", "content": answer.text("text", index) or None}
        if reasoning := answer.text("reasoning", index):
            message["reasoning_content"] = reasoning
        if answer.tool and (arguments := answer.text("tool", index)):
            function = {"name": answer.tool, "arguments": arguments}
            message["tool_calls"] = [{"id": f"call_{index}", "type": "function", "function": function}]
        choices.append({"index": index, "message": message, "finish_reason": finish})
    return {**_head(answer, "text_completion" if legacy else "chat.completion"), "choices": choices} | {
        "usage": usage_of(answer, settings)
    }


def stream(
    answer: Answer, settings: SimulatedSettings, body: dict[str, Any], *, legacy: bool = False
) -> Iterator[tuple[float, bytes]]:
    """Events with the moment they are due."""
    head = _head(answer, "text_completion" if legacy else "chat.completion.chunk")
    options = body.get("stream_options") or {}
    wants_usage = bool(options.get("include_usage"))
    continuous = wants_usage and bool(options.get("continuous_usage_stats"))
    null_usage: dict[str, Any] = {"usage": None} if wants_usage and not continuous else {}
    said = 0

    def chunk(choice: int, delta: dict[str, Any], finish: str | None = None) -> bytes:
        content = {"text": delta.get("content", "")} if legacy else {"delta": delta}
        extra = dict(null_usage)
        if continuous:
            extra["usage"] = {"prompt_tokens": answer.usage.prompt_tokens, "completion_tokens": said}
        if settings.padding and not legacy:
            extra["obfuscation"] = "x" * (16 - len(str(delta)) % 16)
        return data_event({**head, "choices": [{"index": choice, **content, "finish_reason": finish}], **extra})

    if not legacy:
        for choice in range(answer.choices):
            yield answer.first_byte_s, chunk(choice, {"role": "assistant", "content": ""})
    if settings.empty_first_chunk:
        yield answer.first_byte_s, chunk(0, {"content": ""})
    begun: set[int] = set()
    for piece in answer.pieces:
        said += piece.tokens
        yield piece.at_s, chunk(piece.choice, _delta(answer, piece, begun))
    for choice in range(answer.choices):
        yield answer.end_s, chunk(choice, {}, _finish(answer))
    if wants_usage:
        yield answer.end_s, data_event({**head, "choices": [], "usage": usage_of(answer, settings)})
    yield answer.end_s, DONE


def _delta(answer: Answer, piece: Piece, begun: set[int]) -> dict[str, Any]:
    if piece.kind == "reasoning":
        return {"reasoning_content": piece.text}
    if piece.kind != "tool":
        return {"content": piece.text}
    call: dict[str, Any] = {"index": 0, "function": {"arguments": piece.text}}
    if piece.choice not in begun:
        begun.add(piece.choice)
        call |= {"id": f"call_{piece.choice}", "type": "function"}
        call["function"]["name"] = answer.tool
    return {"tool_calls": [call]}


def _finish(answer: Answer) -> str:
    return "length" if answer.length_reached else "tool_calls" if answer.tool else "stop"


def _head(answer: Answer, kind: str) -> dict[str, Any]:
    return {"id": answer.id, "object": kind, "created": answer.created_at, "model": answer.model}
