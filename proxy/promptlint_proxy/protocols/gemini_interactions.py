"""Gemini Interactions: earlier steps may be kept by the server."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from promptlint_core.exchange import PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_core.render_order import render_order
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.content import read_content
from promptlint_proxy.protocols.json_text import Object, as_list, as_object, as_text, compact
from promptlint_proxy.protocols.parameters import read_parameters
from promptlint_proxy.protocols.prompt_builder import PromptBuilder


class GeminiInteractions(Protocol):
    name: ClassVar[str] = "interactions"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:  # noqa: ARG002
        model = as_text(body.get("model")).removeprefix("models/") or None
        builder = PromptBuilder()
        for part in render_order(model, self.provider).parts:
            if part is Part.TOOLS:
                for index, tool in enumerate(map(as_object, as_list(body.get("tools")))):
                    if "parameters" in tool:
                        builder.add_tool(f"tools[{index}]", tool, tool, tool["parameters"])
                    else:
                        builder.add_other_tool(f"tools[{index}]", tool)
            elif part is Part.SYSTEM:
                for content in read_content(body.get("system_instruction"), "system_instruction"):
                    builder.add_block(content.entries, Part.SYSTEM, None, "system", content.holder, content.path)
            else:
                _read_input(builder, body)
        return replace(
            request,
            model=model,
            pieces=tuple(builder.pieces),
            bound=read_bound(as_object(body.get("generation_config")), ("max_output_tokens",), "generation_config."),
            stream=body.get("stream") is True,
            parameters=read_parameters(body, model, self.provider),
            tool_names=tuple(builder.tool_names),
            hidden_prefix=bool(body.get("previous_interaction_id") or body.get("agent")),
        )

    def read_answer(self, body: Object, answer: Answer) -> None:
        _take_interaction(body, answer)
        for step in map(as_object, (*as_list(body.get("outputs")), *as_list(body.get("steps")))):
            for delta in _read_step(step, answer):
                answer.add(delta)

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:
        kind = as_text(event.get("event_type")) or as_text(event.get("type")) or name
        if kind == "step.delta":
            yield from _read_step(as_object(event.get("delta")), answer)
        elif kind == "interaction.completed":
            answer.kind = "stop"
            _take_interaction(as_object(event.get("interaction")) or event, answer)
        elif kind == "error":
            answer.fail(event, 200)


def _read_input(builder: PromptBuilder, body: Object) -> None:
    given = body.get("input")
    turns = as_list(given)
    if turns and all(isinstance(turn, dict) and "role" in turn for turn in turns):
        for index, turn in enumerate(turns):
            role = as_text(turn.get("role"))
            builder.add_head((PieceKind.ROLE, f"input[{index}].role", role), Part.MESSAGES, index, role)
            for content in read_content(turn.get("content"), f"input[{index}].content"):
                builder.add_block(content.entries, Part.MESSAGES, index, role)
        return
    builder.add_head((PieceKind.ROLE, "input", "user"), Part.MESSAGES, 0, "user")
    for content in read_content(given, "input"):
        builder.add_block(content.entries, Part.MESSAGES, 0, "user")


def _take_interaction(interaction: Object, answer: Answer) -> None:
    answer.model = as_text(interaction.get("model")) or answer.model
    answer.finish_reason = as_text(interaction.get("status")) or answer.finish_reason
    answer.take_usage(interaction.get("usage"))


def _read_step(step: Object, answer: Answer) -> Iterable[Delta]:
    kind = as_text(step.get("type"))
    if kind.startswith("function_call"):
        answer.tools.append(as_text(step.get("name")))
        yield Delta("tool", compact(step.get("arguments") or {}))
    elif kind.startswith("thought"):
        summary = as_object(step.get("content")) or step
        yield Delta("reasoning", as_text(summary.get("text")) or as_text(summary.get("thought")))
    else:
        yield Delta("text", as_text(step.get("text")))
        for part in map(as_object, as_list(step.get("content"))):
            yield Delta("text", as_text(part.get("text")))
