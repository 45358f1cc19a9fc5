"""Builders of recorded exchanges for the tests of live rules: real-looking sequences in few words."""

from __future__ import annotations

import json
from typing import Any

from promptlint_proxy.analysis import Analysis, AnalysisSettings
from promptlint_proxy.replay.readers.json_lines import read_line
from promptlint_proxy.replay.recorded import RecordedExchange, to_exchange
from promptlint_rules.base import Severity

OPENAI = "api.openai.com"
ANTHROPIC = "api.anthropic.com"
VLLM = "127.0.0.1:8000"

_WHEN = ("the order was split", "a parcel is late", "the colour is wrong", "a button is missing", "the label is torn")
_THEN = ("return the money the same way", "offer a new date", "ask for a photo", "name the shelf", "write one line")


def rules(count: int = 61) -> str:
    """A long, stable system text: about 20 tokens a rule."""
    return " ".join(
        f"Rule {n}. When {_WHEN[n % 5]} over {n + 2} days, {_THEN[n * 3 % 5]} and note it under point {n}."
        for n in range(1, count + 1)
    )


def entries(start: int, count: int = 4) -> str:
    return " ".join(
        f"Entry {n}: the count in hall {n * 7 % 13} was {n * 53 % 701} units." for n in range(start, start + count)
    )


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


def call(name: str, arguments: str, call_id: str = "call_1") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def result(text: str, call_id: str = "call_1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def tool(name: str, description: str = "", schema: dict[str, Any] | None = None) -> dict[str, Any]:
    function = {"name": name, "description": description or f"Does what {name} says, once.", "parameters": schema or {}}
    return {"type": "function", "function": function}


def chat(t: float, messages: list[dict[str, Any]], host: str = VLLM, **body: Any) -> dict[str, Any]:
    """A chat request; `usage` and `response` of the line are taken from keywords of these names."""
    line: dict[str, Any] = {"t": t, "path": "/v1/chat/completions", "headers": {"host": host}}
    for name in ("usage", "response"):
        if name in body:
            line[name] = body.pop(name)
    model = body.pop("model", "gpt-5.4" if host == OPENAI else "Qwen3-8B")
    body.setdefault("max_tokens", 300)
    return {
        **line,
        "request": {"model": model, "messages": messages, **{k: v for k, v in body.items() if v is not None}},
    }


def claude(
    t: float, system_blocks: Any, messages: list[dict[str, Any]], host: str = ANTHROPIC, **body: Any
) -> dict[str, Any]:
    line: dict[str, Any] = {
        "t": t,
        "path": "/v1/messages",
        "headers": {"host": host, "anthropic-version": "2023-06-01"},
    }
    for name in ("usage", "response"):
        if name in body:
            line[name] = body.pop(name)
    request = {"model": "claude-sonnet-4-6", "max_tokens": 300, "system": system_blocks, "messages": messages, **body}
    return {**line, "request": request}


def responses(t: float, items: list[dict[str, Any]], instructions: str, **body: Any) -> dict[str, Any]:
    request = {"model": "gpt-5.4", "max_output_tokens": 300, "instructions": instructions, "input": items, **body}
    return {"t": t, "path": "/v1/responses", "headers": {"host": OPENAI}, "request": request}


def gemini(t: float, texts: list[str], system_text: str) -> dict[str, Any]:
    """Turns of the user and the model in turn."""
    contents = [{"role": "model" if n % 2 else "user", "parts": [{"text": text}]} for n, text in enumerate(texts)]
    request = {
        "systemInstruction": {"parts": [{"text": system_text}]},
        "contents": contents,
        "generationConfig": {"maxOutputTokens": 300},
    }
    path = "/v1beta/models/gemini-2.5-flash:generateContent"
    return {"t": t, "path": path, "headers": {"host": "generativelanguage.googleapis.com"}, "request": request}


def converse(t: float, system_blocks: list[dict[str, Any]], text: str) -> dict[str, Any]:
    request = {
        "system": system_blocks,
        "messages": [{"role": "user", "content": [{"text": text}]}],
        "inferenceConfig": {"maxTokens": 300},
    }
    path = "/model/anthropic.claude-sonnet-4-5-20250929-v1:0/converse"
    return {"t": t, "path": path, "headers": {"host": "bedrock-runtime.us-east-1.amazonaws.com"}, "request": request}


def block(text: str, marked: bool = False, ttl: str | None = None) -> dict[str, Any]:
    control = {"cache_control": {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}} if marked else {}
    return {"type": "text", "text": text, **control}


def claude_usage(new: int, written: int = 0, read: int = 0, output: int = 40) -> dict[str, int]:
    return {
        "input_tokens": new,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": read,
        "output_tokens": output,
    }


def usage(prompt: int, cached: int | None = 0, output: int = 40) -> dict[str, Any]:
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    return {"prompt_tokens": prompt, "completion_tokens": output, **details}


def analysed(lines: list[dict[str, Any]], settings: AnalysisSettings | None = None) -> Analysis:
    analysis = Analysis(settings)
    for index, line in enumerate(lines):
        recorded = read_line(json.dumps(line).encode(), f"line {index}")
        assert isinstance(recorded, RecordedExchange), recorded
        exchange = to_exchange(recorded, index)
        assert exchange is not None
        analysis.observe(exchange)
    return analysis


def told(lines: list[dict[str, Any]]) -> set[str]:
    """Rules of level error or warning that a sequence shows."""
    return {f.rule for f in analysed(lines).findings() if f.severity is not Severity.INFO}


def told_at_all(lines: list[dict[str, Any]]) -> set[str]:
    return {f.rule for f in analysed(lines).findings()}
