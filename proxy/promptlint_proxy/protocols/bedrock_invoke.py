"""Bedrock InvokeModel: the vendor's own body, its stream wrapped into base64 chunks of an AWS event stream."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from promptlint_core.exchange import PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.anthropic_messages import AnthropicMessages
from promptlint_proxy.protocols.base import Protocol, RequestHead, ResponseHead, find_header
from promptlint_proxy.protocols.bedrock_converse import BedrockConverse, model_id
from promptlint_proxy.protocols.bounds import read_bound
from promptlint_proxy.protocols.json_text import Object, as_list, as_object, as_text, read_object
from promptlint_proxy.protocols.openai_chat import OpenAIChat
from promptlint_proxy.protocols.parameters import read_parameters
from promptlint_proxy.protocols.prompt_builder import PromptBuilder

_METRICS = "amazon-bedrock-invocationMetrics"
_TEXT_NAMES = ("generation", "outputText", "completion", "text")
"""Llama, Titan, Claude before Messages, Cohere."""
_FINISH_NAMES = ("stop_reason", "completionReason", "finish_reason")


class BedrockInvoke(Protocol):
    name: ClassVar[str] = "invoke"

    def __init__(self, provider: str = "bedrock") -> None:
        super().__init__(provider)
        self._messages = AnthropicMessages(provider)
        self._chat = OpenAIChat(provider)
        self._converse = BedrockConverse(provider)

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:
        model = model_id(head.path) or None
        known = {"model": model, **body} if model else body
        if "anthropic_version" in body:
            read = self._messages.read_body(known, request, head)
        elif "messages" in body and ("inferenceConfig" in body or "schemaVersion" in body or "toolConfig" in body):
            read = self._converse.read_body(body, request, head)
        elif "messages" in body:
            read = self._chat.read_body(known, request, head)
        else:
            read = self._read_plain(body, request, model)
        return replace(read, stream="stream" in head.path.rpartition("/")[2])

    def _read_plain(self, body: Object, request: Request, model: str | None) -> Request:
        """One prompt string: Llama, Titan, Mistral text, Cohere."""
        builder = PromptBuilder()
        for name in ("preamble", "prompt", "inputText", "message"):
            part = Part.SYSTEM if name == "preamble" else Part.MESSAGES
            builder.add_block([(PieceKind.TEXT, name, as_text(body.get(name)))], part)
        titan = as_object(body.get("textGenerationConfig"))
        if titan:
            bound = read_bound(titan, ("maxTokenCount",), "textGenerationConfig.")
        else:
            bound = read_bound(body, ("max_gen_len", "max_tokens", "max_tokens_to_sample"))
        parameters = read_parameters(body, model, self.provider)
        return replace(request, model=model, pieces=tuple(builder.pieces), bound=bound, parameters=parameters)

    def read_answer(self, body: Object, answer: Answer) -> None:
        if "content" in body:
            self._messages.read_answer(body, answer)
        elif "choices" in body:
            self._chat.read_answer(body, answer)
        elif "output" in body:
            self._converse.read_answer(body, answer)
        else:
            for delta in _read_plain_event(body, answer):
                answer.add(delta)

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:
        packed = event.get("bytes")
        if isinstance(packed, str):
            event = read_object(base64.b64decode(packed)) or {}
        kind = next((key for key in event if key in _CONVERSE_EVENTS), "")
        if kind:
            yield from self._converse.read_event(event, kind, answer)
        elif "type" in event:
            yield from self._messages.read_event(event, name if name != "chunk" else "", answer)
        elif "choices" in event:
            yield from self._chat.read_event(event, "", answer)
        else:
            yield from _read_plain_event(event, answer)
        metrics = event.get(_METRICS)
        if isinstance(metrics, dict) and not ({"input_tokens", "inputTokens"} & answer.usage.keys()):
            answer.take_usage(metrics)

    def read_headers(self, head: ResponseHead, answer: Answer) -> None:
        if answer.usage:
            return
        for header, name in _COUNT_HEADERS.items():
            value = find_header(head.headers, header)
            if value.isdigit():
                answer.usage[name] = int(value)


_COUNT_HEADERS = {
    "x-amzn-bedrock-input-token-count": "inputTokenCount",
    "x-amzn-bedrock-output-token-count": "outputTokenCount",
    "x-amzn-bedrock-cache-read-input-token-count": "cacheReadInputTokenCount",
    "x-amzn-bedrock-cache-write-input-token-count": "cacheWriteInputTokenCount",
}
_CONVERSE_EVENTS = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}
)


def _read_plain_event(event: Object, answer: Answer) -> Iterable[Delta]:
    answers = [event, *map(as_object, (*as_list(event.get("results")), *as_list(event.get("outputs"))))]
    for holder in answers:
        for name in _TEXT_NAMES:
            yield Delta("text", as_text(holder.get(name)))
        for name in _FINISH_NAMES:
            answer.finish_reason = as_text(holder.get(name)) or answer.finish_reason
