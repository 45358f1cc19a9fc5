"""OpenAI responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from promptlint_proxy.simulated.answer import Answer
from promptlint_proxy.simulated.shapes.events import named_event


def usage_of(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.hit_tokens or 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": (usage.prompt_tokens or 0) + (usage.output_tokens or 0),
    }


def whole(answer: Answer) -> dict[str, Any]:
    status = "incomplete" if answer.length_reached else "completed"
    details = {"reason": "max_output_tokens"} if answer.length_reached else None
    return _head(answer, status) | {
        "incomplete_details": details,
        "output": _items(answer),
        "usage": usage_of(answer),
    }


def stream(answer: Answer) -> Iterator[tuple[float, bytes]]:
    """Events with the moment they are due."""
    number = 0

    def event(kind: str, **fields: object) -> bytes:
        nonlocal number
        number += 1
        return named_event({"type": kind, "sequence_number": number - 1, **fields})

    for kind in ("response.created", "response.in_progress"):
        yield answer.first_byte_s, event(kind, response=_head(answer, "in_progress") | {"output": []})
    items = _items(answer)
    for index, item in enumerate(items):
        kind = {"reasoning": "reasoning", "message": "text", "function_call": "tool"}[item["type"]]
        pieces = [piece for piece in answer.pieces if piece.kind == kind]
        place = {"item_id": item["id"], "output_index": index}
        yield pieces[0].at_s, event("response.output_item.added", output_index=index, item=_begun(item))
        if kind == "text":
            part: dict[str, Any] = {"type": "output_text", "text": "", "annotations": []}
            yield pieces[0].at_s, event("response.content_part.added", **place, content_index=0, part=part)
        for piece in pieces:
            yield piece.at_s, event(DELTAS[kind], **place, **_delta_fields(kind), delta=piece.text)
        yield pieces[-1].at_s, event(DONES[kind], **place, **_delta_fields(kind), **_whole_text(kind, answer))
        yield pieces[-1].at_s, event("response.output_item.done", output_index=index, item=item)
    last = whole(answer)
    yield answer.end_s, event(f"response.{last['status']}", response=last)


DELTAS = {
    "text": "response.output_text.delta",
    "reasoning": "response.reasoning_text.delta",
    "tool": "response.function_call_arguments.delta",
}
DONES = {
    "text": "response.output_text.done",
    "reasoning": "response.reasoning_text.done",
    "tool": "response.function_call_arguments.done",
}


def _delta_fields(kind: str) -> dict[str, Any]:
    return {} if kind == "tool" else {"content_index": 0, "logprobs": []} if kind == "text" else {"content_index": 0}


def _whole_text(kind: str, answer: Answer) -> dict[str, Any]:
    return {"name": answer.tool, "arguments": answer.text("tool")} if kind == "tool" else {"text": answer.text(kind)}


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    emptied: dict[str, Any] = {"content": []} if "content" in item else {"arguments": ""}
    return item | emptied | {"status": "in_progress"}


def _items(answer: Answer) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reasoning := answer.text("reasoning"):
        content = [{"type": "reasoning_text", "text": reasoning}]
        items.append({"type": "reasoning", "id": "rs_0", "summary": [], "content": content, "status": "completed"})
    if text := answer.text("text"):
        output: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
        message = {"type": "message", "id": "msg_0", "role": "assistant", "content": [output]}
        items.append(message | {"status": "completed"})
    if arguments := answer.text("tool"):
        call = {"type": "function_call", "id": "fc_0", "call_id": "call_0", "name": answer.tool}
        items.append(call | {"arguments": arguments, "status": "completed"})
    return items


def _head(answer: Answer, status: str) -> dict[str, Any]:
    return {
        "id": answer.id,
        "object": "response",
        "created_at": answer.created_at,
        "status": status,
        "model": answer.model,
        "error": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
    }
