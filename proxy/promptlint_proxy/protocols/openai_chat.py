"""OpenAI chat completions, and every host that speaks them: Azure, DeepSeek, Mistral, OpenRouter, vLLM, llama.cpp …"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

from promptlint_core.exchange import PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_core.render_order import render_order
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.base import Protocol, RequestHead, ResponseHead, find_header
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.content import read_content, read_images
from promptlint_proxy.protocols.json_text import Object, as_int, as_list, as_object, as_text, compact
from promptlint_proxy.protocols.parameters import read_parameters
from promptlint_proxy.protocols.prompt_builder import OPENAI_LIFE_S, Entry, PromptBuilder, life_s
from promptlint_proxy.protocols.routing import read_routing_key, read_salt

HEAD_ROLES = frozenset({"system", "developer"})
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")


class OpenAIChat(Protocol):
    name: ClassVar[str] = "chat"

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:
        model = as_text(body.get("model")) or deployment(head.path) or None
        cache_options = as_object(body.get("prompt_cache_options"))
        builder = PromptBuilder(life_s(cache_options.get("ttl"), OPENAI_LIFE_S))
        messages = as_list(body.get("messages"))
        first = head_length(messages)
        for part in render_order(model, self.provider).parts:
            if part is Part.TOOLS:
                read_tools(builder, body)
            elif part is Part.SYSTEM:
                for index in range(first):
                    read_message(builder, messages[index], index, Part.SYSTEM)
                read_documents(builder, body)
            else:
                for index in range(first, len(messages)):
                    read_message(builder, messages[index], index, Part.MESSAGES)
        if isinstance(control := body.get("cache_control"), dict):  # gateways pass Anthropic's automatic marker through
            builder.mark_last_block("cache_control", control)
        return replace(
            request,
            model=model,
            pieces=tuple(builder.pieces),
            markers=tuple(builder.markers),
            bound=read_bound(body, ("max_completion_tokens", "max_tokens")),
            n=as_int(body.get("n")) or 1,
            stream=body.get("stream") is True,
            wants_usage=wants_usage(body),
            parameters=read_parameters(body, model, self.provider),
            routing_key=read_routing_key(body, head.headers, self.provider),
            salt=read_salt(body, self.provider),
            tool_names=tuple(builder.tool_names),
            hidden_prefix=any(body.get(name) for name in ("agent_id", "conversation_id", "previous_response_id")),
        )

    def read_answer(self, body: Object, answer: Answer) -> None:
        take_envelope(body, answer)
        for choice in map(as_object, as_list(body.get("choices"))):
            message = as_object(choice.get("message"))
            for delta in read_delta(message, as_int(choice.get("index")) or 0, answer):
                answer.add(delta)
            answer.finish_reason = as_text(choice.get("finish_reason")) or answer.finish_reason

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:  # noqa: ARG002
        take_envelope(event, answer)
        usage = as_object(event.get("usage"))
        for choice in as_list(event.get("choices")):
            if not isinstance(choice, dict):
                continue
            index = as_int(choice.get("index")) or 0
            answer.choice = index
            tokens = event_tokens(choice, usage, index, answer)
            delta = as_object(choice.get("delta"))
            if delta.get("role"):
                answer.kind = "role"
            yield from _with_tokens(read_delta(delta, index, answer), tokens)
            if choice.get("finish_reason"):
                answer.finish_reason = as_text(choice.get("finish_reason"))
                answer.kind = "stop"
                answer.take_usage(choice.get("usage"))  # Moonshot

    def read_headers(self, head: ResponseHead, answer: Answer) -> None:
        cached = find_header(head.headers, "fireworks-cached-prompt-tokens")
        prompt = find_header(head.headers, "fireworks-prompt-tokens")
        if cached.isdigit() and prompt.isdigit():
            answer.engine_hit_tokens = int(cached)
            answer.usage.setdefault("prompt_tokens", int(prompt))
            answer.usage.setdefault("prompt_tokens_details", {"cached_tokens": int(cached)})
        if find_header(head.headers, "x-openrouter-cache-status").upper() == "HIT":
            # a stored response: no prompt was read, and its usage of 0 is no prompt-cache hit
            answer.usage.clear()
            answer.note("the router answered from its response cache; no model was asked")


def deployment(path: str) -> str:
    """The deployment in an Azure path, which stands for the model; empty for other paths."""
    _, found, rest = path.partition("/openai/deployments/")
    return rest.partition("/")[0] if found else ""


def wants_usage(body: Object) -> bool | None:
    value = as_object(body.get("stream_options")).get("include_usage")
    return value if isinstance(value, bool) else None


def head_length(messages: list[Any]) -> int:
    """How many messages at the head belong to the system part."""
    for index, message in enumerate(messages):
        if as_object(message).get("role") not in HEAD_ROLES:
            return index
    return len(messages)


def read_tools(builder: PromptBuilder, body: Object) -> None:
    for index, tool in enumerate(as_list(body.get("tools"))):
        if not isinstance(tool, dict):
            continue
        path = f"tools[{index}]"
        function = tool.get("function")
        if isinstance(function, dict):
            builder.add_tool(path, tool, function, function.get("parameters"))
        elif isinstance(custom := tool.get("custom"), dict):
            builder.add_tool(path, tool, custom, custom.get("format"))
        elif isinstance(tool.get("name"), str) and ("parameters" in tool or "input_schema" in tool):
            builder.add_tool(path, tool, tool, tool.get("parameters", tool.get("input_schema")))
        else:
            builder.add_other_tool(path, tool)
    for index, function in enumerate(as_list(body.get("functions"))):
        if isinstance(function, dict):
            builder.add_tool(f"functions[{index}]", function, function, function.get("parameters"))


def read_message(builder: PromptBuilder, message: Any, index: int, part: Part) -> None:
    path = f"messages[{index}]"
    if isinstance(message, str):  # accepted by some servers
        builder.add_block([(PieceKind.TEXT, path, message)], part, index, "user")
        return
    message = as_object(message)
    role = as_text(message.get("role"))
    builder.add_head((PieceKind.ROLE, f"{path}.role", role), part, index, role)
    for key in ("name", "tool_name"):
        builder.add_head((PieceKind.NAME, f"{path}.{key}", as_text(message.get(key))), part, index, role)
    reasoning = _read_reasoning(message, path)
    if reasoning:
        builder.add_block(reasoning, part, index, role)
    call_id: list[Entry] = [(PieceKind.ID, f"{path}.tool_call_id", as_text(message.get("tool_call_id")))]
    contents = read_content(message.get("content"), f"{path}.content")
    images = read_images(message.get("images"), f"{path}.images")
    for content in (*contents, *images):
        builder.add_block([*call_id, *content.entries], part, index, role, content.holder, content.path)
        call_id = []
    if call_id and call_id[0][2]:
        builder.add_block(call_id, part, index, role)
    for number, call in enumerate(as_list(message.get("tool_calls"))):
        _read_call(builder, as_object(call), f"{path}.tool_calls[{number}]", part, index, role)
    legacy = as_object(message.get("function_call"))
    if legacy:
        builder.add_block(_call_entries(legacy, f"{path}.function_call"), part, index, role)
    builder.mark(message, path)


def _read_call(builder: PromptBuilder, call: Object, path: str, part: Part, index: int, role: str) -> None:
    key = "custom" if isinstance(call.get("custom"), dict) else "function"
    identity: Entry = (PieceKind.ID, f"{path}.id", as_text(call.get("id")))
    builder.add_block([identity, *_call_entries(as_object(call.get(key)), f"{path}.{key}")], part, index, role)


def _call_entries(function: Object, path: str) -> list[Entry]:
    key = "input" if "input" in function else "arguments"
    arguments = function.get(key)
    text = arguments if isinstance(arguments, str) else "" if arguments is None else compact(arguments)
    return [
        (PieceKind.NAME, f"{path}.name", as_text(function.get("name"))),
        (PieceKind.ARGUMENTS, f"{path}.{key}", text),
    ]


def _read_reasoning(message: Object, path: str) -> list[Entry]:
    for name in _REASONING_FIELDS:
        value = message.get(name)
        if isinstance(value, str) and value:
            return [(PieceKind.REASONING, f"{path}.{name}", value)]
        if isinstance(value, list) and value:
            return [(PieceKind.REASONING, f"{path}.{name}", compact(value))]
    return []


def read_documents(builder: PromptBuilder, body: Object) -> None:
    """Documents that the chat template renders: vLLM, SGLang, Cohere."""
    for index, document in enumerate(as_list(body.get("documents"))):
        text = document if isinstance(document, str) else compact(document)
        builder.add_block([(PieceKind.TEXT, f"documents[{index}]", text)], Part.SYSTEM)


def take_envelope(body: Object, answer: Answer) -> None:
    """What stands beside the choices: model, usage wherever a host puts it, a router's choice, an error under 200."""
    answer.model = as_text(body.get("model")) or answer.model
    answer.served_by = as_text(body.get("provider")) or answer.served_by
    usage = body.get("usage")
    if isinstance(usage, dict):
        answer.kind = "usage"
        answer.take_usage(usage)
    answer.take_usage(as_object(body.get("x_groq")).get("usage"))
    timings = as_object(body.get("timings"))
    if timings:
        cached, computed = as_int(timings.get("cache_n")), as_int(timings.get("prompt_n"))
        answer.engine_hit_tokens = cached
        if cached is not None and computed is not None:
            answer.usage.setdefault("prompt_tokens", cached + computed)
        answer.take_usage({"timings": timings})
        if "completion_tokens" not in answer.usage:
            answer.take_usage({"completion_tokens": as_int(timings.get("predicted_n"))})
    if isinstance(body.get("error"), dict | str):
        answer.fail(body, 200)
    citations = as_list(body.get("citations")) or as_list(body.get("search_results"))
    answer.cited.update(compact(citation) for citation in citations)


def event_tokens(choice: Object, usage: Object, index: int, answer: Answer) -> int | None:
    """Tokens of one event: the step of a running usage, else the length of its token ids or log probabilities."""
    step = answer.take_step(index, as_int(usage.get("completion_tokens")))
    if step is not None:
        return step
    ids = choice.get("token_ids")
    if isinstance(ids, list) and ids:
        return len(ids)
    logprobs = as_object(choice.get("logprobs"))
    for name in ("content", "tokens"):
        entries = logprobs.get(name)
        if isinstance(entries, list) and entries:
            return len(entries)
    return None


def _with_tokens(deltas: Iterator[Delta], tokens: int | None) -> Iterator[Delta]:
    """Give an event's tokens to its first delta: one event seldom holds text and reasoning at once."""
    for delta in deltas:
        yield Delta(delta.kind, delta.text, delta.choice, tokens)
        tokens = None if tokens is None else 0


def read_delta(delta: Object, choice: int, answer: Answer) -> Iterator[Delta]:
    """Generated content of a delta, or of a whole message: the shapes are the same."""
    for name in ("reasoning_content", "reasoning"):
        text = delta.get(name)
        if isinstance(text, str) and text:
            yield Delta("reasoning", text, choice)
            break
    content = delta.get("content")
    if isinstance(content, str):
        if content:
            yield Delta("text", content, choice)
    else:
        for part in as_list(content):
            yield from _read_part(as_object(part), choice)
    refusal = delta.get("refusal")
    if isinstance(refusal, str) and refusal:
        yield Delta("text", refusal, choice)
    for call in (*as_list(delta.get("tool_calls")), {"function": delta.get("function_call")}):
        function = as_object(as_object(call).get("function")) or as_object(as_object(call).get("custom"))
        name = as_text(function.get("name"))
        if name:
            answer.tools.append(name)
            answer.kind = "tool"
        arguments = function.get("arguments", function.get("input"))
        text = arguments if isinstance(arguments, str) else "" if arguments is None else compact(arguments)
        if text:
            yield Delta("tool", text, choice)
    audio = as_text(as_object(delta.get("audio")).get("transcript"))
    if audio:
        yield Delta("text", audio, choice)
    for annotation in as_list(delta.get("annotations")):
        answer.cited.add(compact(_source(as_object(annotation))))


def _read_part(part: Object, choice: int) -> Iterator[Delta]:
    thinking = part.get("thinking")
    if isinstance(thinking, str):
        yield Delta("reasoning", thinking, choice)
    for step in as_list(thinking):  # Mistral
        yield Delta("reasoning", as_text(as_object(step).get("text")), choice)
    text = as_text(part.get("text"))
    if text:
        yield Delta("text", text, choice)


def _source(annotation: Object) -> object:
    citation = as_object(annotation.get("url_citation")) or annotation
    return citation.get("url") or citation.get("file_id") or citation
