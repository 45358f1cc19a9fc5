"""Anthropic messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from promptlint_proxy.simulated.answer import Answer, Piece
from promptlint_proxy.simulated.shapes.events import named_event

BLOCKS = {"text": "text", "reasoning": "thinking", "tool": "tool_use"}
DELTAS = {
    "text": ("text_delta", "text"),
    "reasoning": ("thinking_delta", "thinking"),
    "tool": ("input_json_delta", "partial_json"),
}


def usage_of(answer: Answer, output_tokens: int | None) -> dict[str, Any]:
    """Anthropic's own count: what was read or written is not part of `input_tokens`."""
    usage = answer.usage
    told: dict[str, Any] = {
        "input_tokens": usage.computed_tokens,
        "cache_read_input_tokens": usage.hit_tokens,
        "cache_creation_input_tokens": usage.written_tokens or 0,
        "output_tokens": output_tokens,
    }
    if usage.written_by_life:
        lives = dict(usage.written_by_life)
        told["cache_creation"] = {
            "ephemeral_5m_input_tokens": lives.get(300, 0),
            "ephemeral_1h_input_tokens": lives.get(3600, 0),
        }
    return told


def whole(answer: Answer) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if reasoning := answer.text("reasoning"):
        content.append({"type": "thinking", "thinking": reasoning, "signature": "simulated"})
    if text := answer.text("text"):
        content.append({"type": "text", "text": text})
    if answer.tool and answer.text("tool"):
        content.append(_tool_block(answer) | {"input": json.loads(answer.text("tool"))})
    return {
        **_head(answer),
        "content": content,
        "stop_reason": _stop(answer),
        "stop_sequence": None,
        "usage": usage_of(answer, answer.usage.output_tokens),
    }


def stream(answer: Answer) -> Iterator[tuple[float, bytes]]:
    """Events with the moment they are due."""
    start = {**_head(answer), "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage_of(answer, 1)}
    yield answer.first_byte_s, named_event({"type": "message_start", "message": start})
    yield answer.first_byte_s, named_event({"type": "ping"})
    index = -1
    kind = ""
    for piece in answer.pieces:
        if piece.kind != kind:
            if kind:
                yield piece.at_s, named_event({"type": "content_block_stop", "index": index})
            index += 1
            kind = piece.kind
            block = _empty_block(answer, kind)
            yield piece.at_s, named_event({"type": "content_block_start", "index": index, "content_block": block})
        yield piece.at_s, named_event({"type": "content_block_delta", "index": index, "delta": _delta(piece)})
    if kind:
        yield answer.end_s, named_event({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": _stop(answer), "stop_sequence": None}
    usage = {"output_tokens": answer.usage.output_tokens}
    yield answer.end_s, named_event({"type": "message_delta", "delta": delta, "usage": usage})
    yield answer.end_s, named_event({"type": "message_stop"})


def _delta(piece: Piece) -> dict[str, Any]:
    name, field = DELTAS[piece.kind]
    return {"type": name, field: piece.text}


def _empty_block(answer: Answer, kind: str) -> dict[str, Any]:
    if kind == "tool":
        return _tool_block(answer) | {"input": {}}
    if kind == "reasoning":
        return {"type": "thinking", "thinking": "", "signature": ""}
    return {"type": "text", "text": ""}


def _tool_block(answer: Answer) -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_0", "name": answer.tool}


def _stop(answer: Answer) -> str:
    return "max_tokens" if answer.length_reached else "tool_use" if answer.tool else "end_turn"


def _head(answer: Answer) -> dict[str, Any]:
    return {"id": answer.id, "type": "message", "role": "assistant", "model": answer.model}
