"""Every stream reader: what its stream says, and that it says so wherever the bytes are cut."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protocol_streams import CHAT, CONVERSE, MESSAGES, SAMPLES, Sample
from protocol_wire import JSON, SSE, content, protocol, sse, stream
from random_examples import examples

from promptlint_core.exchange import Response
from promptlint_proxy.protocols.base import ResponseHead, StreamEvent

NAMES = sorted(SAMPLES)


def _counts(response: Response) -> tuple[int | None, ...]:
    usage = response.usage
    assert usage is not None
    return (usage.prompt_tokens, usage.hit_tokens, usage.written_tokens, usage.computed_tokens, usage.output_tokens)


@pytest.mark.parametrize("name", NAMES)
def test_a_stream_tells_content_usage_and_end(name: str) -> None:
    sample = SAMPLES[name]

    events, response = stream(sample.host, sample.path, sample.body, sample.headers)

    assert sample.content == content(events)
    for field, expected in sample.response.items():
        assert expected == (_counts(response) if field == "usage" else getattr(response, field)), field
    assert response.status == 200
    assert response.error is None
    assert response.notes == ()


def _timeless(events: list[StreamEvent]) -> list[StreamEvent]:
    return [replace(event, at=0.0) for event in events]


@pytest.mark.parametrize("name", NAMES)
@examples(25)
@given(cuts=st.lists(st.integers(min_value=0, max_value=1 << 16), max_size=12))
def test_cuts_change_nothing(name: str, cuts: list[int]) -> None:
    sample = SAMPLES[name]
    whole = stream(sample.host, sample.path, sample.body, sample.headers)

    events, response = stream(sample.host, sample.path, sample.body, sample.headers, cuts)

    assert _timeless(whole[0]) == _timeless(events)
    assert whole[1] == response


@pytest.mark.parametrize("name", NAMES)
def test_bytes_one_by_one_change_nothing(name: str) -> None:
    sample = SAMPLES[name]
    whole = stream(sample.host, sample.path, sample.body, sample.headers)

    events, response = stream(sample.host, sample.path, sample.body, sample.headers, range(len(sample.body)))

    assert _timeless(whole[0]) == _timeless(events)
    assert whole[1] == response


def test_an_event_is_timed_by_the_chunk_that_completes_it() -> None:
    body = sse(
        {"choices": [{"index": 0, "delta": {"content": "a"}}]}, {"choices": [{"index": 0, "delta": {"content": "b"}}]}
    )

    events, _ = stream("api.openai.com", "/v1/chat/completions", body, SSE, [10, len(body) - 1])

    assert [1.0, 2.0] == [event.at for event in events]


@pytest.mark.parametrize("sample", [CHAT, MESSAGES, CONVERSE], ids=["chat", "messages", "converse"])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_cut_stream_tells_what_came(sample: Sample, share: float) -> None:
    end = int(len(sample.body) * share)

    events, response = stream(sample.host, sample.path, sample.body[:end], sample.headers)

    told = content(events)
    assert told == sample.content[: len(told)]
    assert response.content_chars == sum(chars for *_, chars in told)
    assert response.status == 200


ERRORS = {
    "anthropic": (
        "api.anthropic.com",
        "/v1/messages",
        sse({"type": "error", "error": {"type": "overloaded_error", "message": "sk-secret"}}, named=True),
        "overloaded_error",
    ),
    "openrouter under 200": (
        "openrouter.ai",
        "/api/v1/chat/completions",
        sse({"choices": [], "error": {"code": 502, "message": "x", "type": "upstream_error"}}),
        "upstream_error",
    ),
    "responses": (
        "api.openai.com",
        "/v1/responses",
        sse({"type": "error", "code": "server_error", "message": "no"}, named=True),
        "server_error",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_inside_a_stream_is_told_by_its_kind_only(name: str) -> None:
    host, path, body, kind = ERRORS[name]

    events, response = stream(host, path, body)

    assert kind == response.error
    assert ["error"] == [event.kind for event in events]
    assert "secret" not in repr(response)


def test_an_exception_frame_is_an_error() -> None:
    from protocol_wire import EVENT_STREAM, frame

    body = frame({"message": "slow down"}, message_type="exception", exception_type="throttlingException")

    _, response = stream(CONVERSE.host, CONVERSE.path, body, EVENT_STREAM)

    assert response.error == "throttlingException"


def test_a_damaged_frame_ends_the_reading_and_is_noted() -> None:
    first_end = CONVERSE.body.index(b"Hallo") + 20
    damaged = bytearray(CONVERSE.body)
    damaged[first_end + 30] ^= 0xFF

    events, response = stream(CONVERSE.host, CONVERSE.path, bytes(damaged), CONVERSE.headers)

    assert len(content(events)) < 3
    assert "damaged" in response.notes[0]


def test_lines_that_are_no_events_tell_nothing() -> None:
    body = b': comment\n\n:\n\nretry: 5\nid: 3\n\nevent: ping\ndata: {"type": "ping"}\n\n'

    events, response = stream("api.anthropic.com", "/v1/messages", body)

    assert [("ping", False)] == [(event.kind, event.content) for event in events]
    assert response.usage is None


def test_an_event_that_is_no_json_does_not_stop_the_reading() -> None:
    body = b"data: {broken\n\ndata: [1]\n\n" + sse({"choices": [{"index": 0, "delta": {"content": "a"}}]})

    events, _ = stream("api.openai.com", "/v1/chat/completions", body)

    assert [("text", 0, None, 1)] == content(events)


def test_a_shape_that_nobody_expects_is_noted_and_passed_over() -> None:
    body = sse({"choices": [{"index": 0, "delta": {"tool_calls": 7, "content": {"a": 1}}, "logprobs": "x"}, 5]})

    events, response = stream("api.openai.com", "/v1/chat/completions", body)

    assert content(events) == []
    assert response.status == 200


def test_server_sent_events_are_seen_under_a_wrong_content_type() -> None:
    events, response = stream(CHAT.host, CHAT.path, CHAT.body, {"content-type": "text/plain"}, [3])

    assert CHAT.content == content(events)
    assert response.finish_reason == "stop"


def test_a_body_that_is_no_stream_is_read_at_its_end() -> None:
    reader = protocol("api.openai.com", "/v1/chat/completions").stream(ResponseHead(200, JSON))
    body = b'{"model": "m", "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}'

    events = reader.feed(body[:9], 0.0) + reader.feed(body[9:], 1.0)

    assert events == []
    assert reader.finish(2.0).content_chars == 2


def test_an_answer_that_is_no_json_tells_nothing() -> None:
    reader = protocol("api.openai.com", "/v1/chat/completions").stream(ResponseHead(200, JSON))
    reader.feed(b"<html>", 0.0)

    response = reader.finish(1.0)

    assert (None, False) == (response.content_chars, response.tools_known)
    assert response.notes == ("the response body is no JSON object",)


def test_an_error_status_reads_the_body_whatever_its_type() -> None:
    reader = protocol("api.anthropic.com", "/v1/messages").stream(ResponseHead(529, SSE))
    reader.feed(b'{"type":"error","error":{"type":"overloaded_error"}}', 0.0)

    assert reader.finish(1.0).error == "overloaded_error"


@examples(60)
@given(body=st.binary(max_size=400), name=st.sampled_from(NAMES))
def test_no_bytes_raise(body: bytes, name: str) -> None:
    sample = SAMPLES[name]

    _, response = stream(sample.host, sample.path, body, sample.headers, [7, 50])

    assert response.status == 200
