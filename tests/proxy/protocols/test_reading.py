"""Of a request without end the beginning is analysed, and the rest is said to be hidden."""

from __future__ import annotations

import base64
import json

import pytest

from promptlint_core.exchange import PieceKind
from promptlint_proxy import reading
from promptlint_proxy.capture import Started
from promptlint_proxy.reading import ReadRequest, read_started

LIMIT_CHARS = 1000


def read(content: object, *, truncated: bool = False) -> ReadRequest:
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": content}]
    body = json.dumps({"model": "gpt-4o", "messages": messages}).encode()
    headers = (("content-type", "application/json"),)
    found = read_started(Started("1", 0.0, "POST", "a", "/v1/chat/completions", headers, body, truncated), {})
    assert found is not None
    return found


IMAGE = "data:image/png;base64," + base64.b64encode(bytes(3000)).decode()
WHOLE = {
    "short": "Where is my parcel?",
    "just within the limit": "x" * (LIMIT_CHARS - 100),
    "a large image": [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": IMAGE}}],
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_within_the_limit_is_read_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "READ_CHARS", LIMIT_CHARS)
    request = read(WHOLE[name]).request

    assert not request.hidden_prefix
    assert not request.notes


BEYOND = {
    "one line": "x" * 50_000,
    "many messages' worth of lines": "a line of text\n" * 5000,
    "parts": [{"type": "text", "text": "y" * 700}] * 40,
}


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_beyond_the_limit_is_hidden(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "READ_CHARS", LIMIT_CHARS)
    request = read(BEYOND[name]).request
    text_chars = sum(len(piece.text) for piece in request.pieces if piece.kind is not PieceKind.IMAGE)

    assert text_chars == LIMIT_CHARS
    assert request.hidden_prefix
    assert request.notes == ("the request is larger than the limit and was not read whole",)


def test_a_body_that_was_cut_is_told_the_same_way() -> None:
    request = read("x", truncated=True).request

    assert request.hidden_prefix
    assert "was not read whole" in request.notes[0]
