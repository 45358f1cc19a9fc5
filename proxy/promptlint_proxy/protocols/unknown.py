"""Calls that are passed through and measured, but whose prompt is not read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from promptlint_core.exchange import Request
from promptlint_proxy.protocols.answer import Answer, Delta
from promptlint_proxy.protocols.base import Protocol, RequestHead
from promptlint_proxy.protocols.json_text import Object, as_object, as_text, read_object


class Unknown(Protocol):
    """Anything else: only a model's name and a usage object of a known shape are taken."""

    name: ClassVar[str] = "unknown"

    def read_request(self, body: bytes, head: RequestHead) -> Request:
        request = super().read_request(body if read_object(body) is not None else b"{}", head)
        return replace(request, notes=())

    def read_body(self, body: Object, request: Request, head: RequestHead) -> Request:  # noqa: ARG002
        return replace(request, model=as_text(body.get("model")) or None, stream=body.get("stream") is True)

    def read_answer(self, body: Object, answer: Answer) -> None:
        answer.model = as_text(body.get("model")) or None
        answer.take_usage(body.get("usage") or body.get("usageMetadata"))

    def read_event(self, event: Object, name: str, answer: Answer) -> Iterable[Delta]:  # noqa: ARG002
        self.read_answer(event, answer)
        answer.take_usage(as_object(event.get("response")).get("usage"))
        return ()


class Embeddings(Unknown):
    """Embeddings and rerankers: they have no prefix to reuse and generate nothing."""

    name: ClassVar[str] = "embeddings"
