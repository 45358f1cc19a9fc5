"""Errors in the shape that each API's own clients understand, told again by our own reader."""

from __future__ import annotations

import json

import pytest

from promptlint_proxy.protocols import PROTOCOLS
from promptlint_proxy.protocols.answer import error_kind
from promptlint_proxy.protocols.errors import error_body

SHAPES = [
    ("chat", 502, {"error": {"message": "m", "type": "server_error", "param": None, "code": None}}),
    ("responses", 429, {"error": {"message": "m", "type": "rate_limit_error", "param": None, "code": None}}),
    ("messages", 529, {"type": "error", "error": {"type": "overloaded_error", "message": "m"}, "request_id": None}),
    ("messages", 502, {"type": "error", "error": {"type": "api_error", "message": "m"}, "request_id": None}),
    ("generate_content", 504, {"error": {"code": 504, "message": "m", "status": "DEADLINE_EXCEEDED"}}),
    ("converse", 502, {"message": "m"}),
    ("ollama_chat", 502, {"error": "m"}),
    ("tgi", 502, {"error": "m", "error_type": "generation"}),
    ("llamacpp", 400, {"error": {"code": 400, "message": "m", "type": "invalid_request_error"}}),
    (None, 504, {"error": {"message": "m", "type": "server_error", "param": None, "code": None}}),
]


@pytest.mark.parametrize(("api", "status", "expected"), SHAPES)
def test_an_error_has_the_shape_of_its_api(api: str | None, status: int, expected: dict[str, object]) -> None:
    body, content_type = error_body(api, status, "m")

    assert "application/json" == content_type
    assert expected == json.loads(body)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.name)
def test_every_protocol_has_a_json_error_with_the_message(protocol: type) -> None:
    body, _ = error_body(protocol("unknown"), 502, "the upstream is down: “no route”")

    assert "the upstream is down: “no route”" in body.decode()
    assert isinstance(json.loads(body), dict)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"error": {"type": "invalid_request_error", "code": "context_length_exceeded"}}, "invalid_request_error"),
        ({"error": {"code": "DeploymentNotFound"}}, "DeploymentNotFound"),
        ({"error": {"type": None, "code": 429}}, ""),
        ({"error": "text of any kind"}, ""),
        ({"__type": "ValidationException"}, "ValidationException"),
        ({"error": {"type": "sk-live-0123456789/abc=="}}, ""),
        ({}, ""),
    ],
)
def test_the_kind_of_an_error_is_a_word_and_never_a_text(body: dict[str, object], expected: str) -> None:
    assert expected == error_kind(body)
