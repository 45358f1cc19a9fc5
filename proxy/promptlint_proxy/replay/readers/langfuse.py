"""Langfuse exports: observations of type GENERATION, from the interface or the API, in camel or snake case."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from promptlint_proxy.replay.readers.json_records import Object, as_json, as_seconds, as_value, read_records
from promptlint_proxy.replay.recorded import RecordedExchange, Unreadable

_HIT = re.compile(r"cache(d)?_?read|cached|cacheRead")
_WRITTEN = re.compile(r"cache_?creation|cache_?write|cacheWrite")
_PARAMETERS = {"maxTokens": "max_tokens", "max_output_tokens": "max_tokens", "maxCompletionTokens": "max_tokens"}


def read_langfuse(path: Path) -> Iterator[RecordedExchange | Unreadable]:
    """The generations of an export, by the time of their start; spans and events are no calls and are left out."""
    found: list[RecordedExchange] = []
    for record in read_records(path, ("observations", "data")):
        if isinstance(record, Unreadable):
            yield record
            continue
        place, entry = record
        for inner_place, observation in _observations(place, entry):
            if str(_get(observation, "type") or "GENERATION").upper() != "GENERATION":
                continue
            read = _read(observation, inner_place)
            if isinstance(read, Unreadable):
                yield read
            else:
                found.append(read)
    yield from sorted(found, key=lambda recorded: recorded.at)


def _observations(place: str, entry: Object) -> Iterator[tuple[str, Object]]:
    """The record itself, or the observations of a trace."""
    inner = entry.get("observations")
    if not isinstance(inner, list):
        yield place, entry
        return
    for number, observation in enumerate(inner):
        if isinstance(observation, dict):
            yield f"{place}.observations[{number}]", observation


def _get(entry: Object, name: str) -> Any:
    """A field by its camel-case name, in whichever case the export has it."""
    if name in entry:
        return entry[name]
    return entry.get(re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower())


def _read(entry: Object, place: str) -> RecordedExchange | Unreadable:
    at = as_seconds(_get(entry, "startTime"))
    if at is None:
        return Unreadable(place, "`startTime` is missing or no time")
    body = _request_body(entry)
    if body is None:
        return Unreadable(place, "`input` holds no messages and no text: the prompt was not exported")
    end, first = as_seconds(_get(entry, "endTime")), as_seconds(_get(entry, "completionStartTime"))
    failed = str(entry.get("level") or "").upper() == "ERROR"
    api = _path(body)
    return RecordedExchange(
        at=at,
        path=api,
        body=as_json(body),
        usage=_usage(entry),
        told={"error": "error"} if failed else _answer(as_value(entry.get("output"))),
        status=None if failed else 200,
        ttft_s=first - at if first is not None and first >= at else None,
        e2e_s=end - at if end is not None and end >= at else None,
        place=place,
    )


def _request_body(entry: Object) -> Object | None:
    given = as_value(entry.get("input"))
    body: Object = {"model": _get(entry, "providedModelName") or entry.get("model")}
    parameters = as_value(_get(entry, "modelParameters"))
    for name, value in (parameters if isinstance(parameters, dict) else Object()).items():
        number = isinstance(value, str) and value.lstrip("-").isdigit()
        body[_PARAMETERS.get(name, name)] = int(str(value)) if number else as_value(value)
    if isinstance(given, list) and given:
        return {**body, "messages": given}
    if isinstance(given, str) and given:
        return {**body, "prompt": given}
    if isinstance(given, dict):
        if any(isinstance(given.get(name), list) for name in ("messages", "contents")) or "input" in given:
            return {**body, **given}
        if isinstance(given.get("prompt"), str):
            return {**body, "prompt": given["prompt"]}
    return None


def _path(body: Mapping[str, Any]) -> str:
    """The wire format that an input looks like; the export does not tell it."""
    if "contents" in body:
        return f"/v1beta/models/{body.get('model') or 'unknown'}:generateContent"
    if "prompt" in body:
        return "/v1/completions"
    if "messages" not in body:
        return "/v1/responses"
    return "/v1/messages" if "system" in body or _has_anthropic_blocks(body["messages"]) else "/v1/chat/completions"


def _has_anthropic_blocks(messages: object) -> bool:
    for message in messages if isinstance(messages, list) else []:
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") in {"tool_use", "tool_result", "thinking"}:
                return True
    return False


def _usage(entry: Object) -> Mapping[str, Any] | None:
    """Langfuse keeps the parts apart: `input` leaves out what stands under names of its own (cache reads, writes).

    The parts are told in the one shape that also keeps them apart; older exports have only `usage.input` and `.output`.
    """
    details = as_value(_get(entry, "usageDetails"))
    if not isinstance(details, dict) or not details:
        details = as_value(entry.get("usage"))
    if not isinstance(details, dict):
        return None
    counts = {name: value for name, value in details.items() if isinstance(value, int) and not isinstance(value, bool)}
    hits = [value for name, value in counts.items() if _HIT.search(name)]
    written = [value for name, value in counts.items() if _WRITTEN.search(name)]
    other = [v for n, v in counts.items() if n.startswith("input") and not _HIT.search(n) and not _WRITTEN.search(n)]
    output = [value for name, value in counts.items() if name.startswith("output")]
    if not other and not output:
        return None
    usage: Object = {"input_tokens": sum(other) if other else None, "output_tokens": sum(output) if output else None}
    if hits:
        usage["cache_read_input_tokens"] = sum(hits)
    if written:
        usage["cache_creation_input_tokens"] = sum(written)
    return usage


def _answer(output: object) -> Mapping[str, Any] | None:
    """Length, end and called tools of an answer, as far as its usual shapes tell them."""
    if isinstance(output, str):
        return _text(output)
    if not isinstance(output, dict):
        return None
    calls = output.get("tool_calls")
    content = output.get("content")
    told: Object = {"tool_calls": calls if isinstance(calls, list) else []}
    if isinstance(content, str):
        told |= _text(content)
    return told


def _text(text: str) -> Object:
    return {"content_chars": len(text), "content_tail": text[-400:]}
