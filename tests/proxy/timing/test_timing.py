"""First content ends the prefill; gaps are told by token and by event, choice by choice, and never averaged."""

from __future__ import annotations

import zlib
from itertools import pairwise

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from promptlint_core.histogram import bucket_of
from promptlint_proxy.protocols.base import StreamEvent
from promptlint_proxy.simulated.engine import Engine, Reply
from promptlint_proxy.simulated.settings import SimulatedSettings
from promptlint_proxy.stream import Decoder, decode_body
from promptlint_proxy.timing import measure


def content(at: float, tokens: int | None = None, choice: int = 0, chars: int = 4) -> StreamEvent:
    return StreamEvent(at, True, choice, tokens, "text", chars)


def other(at: float, kind: str = "role") -> StreamEvent:
    return StreamEvent(at, False, kind=kind)


def latency(*events: StreamEvent, output_tokens: int | None = None):
    return measure(0.0, events, first_byte_s=0.1, e2e_s=9.0, output_tokens=output_tokens)


def test_first_content_counts_and_the_first_byte_is_apart() -> None:
    told = latency(other(0.1), other(0.15, "ping"), content(0.4, 1), content(0.5, 1))
    assert told.timing.first_byte_s == 0.1
    assert told.timing.ttft_s == 0.4


@pytest.mark.parametrize("kind", ["text", "reasoning", "tool"])
def test_reasoning_and_tool_arguments_are_content(kind: str) -> None:
    assert latency(other(0.1), StreamEvent(0.2, True, 0, 1, kind, 3)).timing.ttft_s == 0.2


def test_without_content_there_is_no_first_token() -> None:
    told = latency(other(0.1), other(0.2, "usage"))
    assert told.timing.ttft_s is None
    assert told.itl_histogram == ()


def test_an_event_with_several_tokens_is_several_gaps() -> None:
    told = latency(content(1.0, 1), content(1.3, 3), content(1.4, 1))
    assert sum(told.itl_histogram) == 4
    assert told.itl_histogram[bucket_of(0.1)] == 4
    assert sum(told.event_gap_histogram) == 2
    assert told.event_gap_histogram[bucket_of(0.3)] == 1


def test_events_of_one_read_are_one_arrival_for_tokens() -> None:
    """Two events that came together say nothing about the gap between them."""
    told = latency(content(1.0, 1), content(1.2, 1), content(1.2, 1))
    assert told.itl_histogram[bucket_of(0.1)] == 2
    assert sum(told.itl_histogram) == 2
    assert sum(told.event_gap_histogram) == 2


def test_choices_are_timed_one_by_one() -> None:
    told = latency(content(1.0, 1, 0), content(1.05, 1, 1), content(1.2, 1, 0), content(1.25, 1, 1))
    assert [round(gap, 6) for gap in told.timing.gaps_s] == [0.2, 0.2]


def test_unknown_tokens_are_shared_out_by_characters() -> None:
    told = latency(content(1.0, chars=4), content(1.2, chars=12), content(1.3, chars=4), output_tokens=10)
    assert told.tokens_estimated
    assert told.timing.event_tokens == (2, 6, 2)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.integers(60, 400))
def test_shared_out_tokens_add_up(chars: list[int], output_tokens: int) -> None:
    events = [content(float(index), chars=count) for index, count in enumerate(chars)]
    told = latency(*events, output_tokens=output_tokens)
    assert abs(sum(told.timing.event_tokens) - output_tokens) <= len(chars)


def feed(reply: Reply, protocol_path: str = "/v1/chat/completions") -> list[StreamEvent]:
    from promptlint_proxy.protocols import find
    from promptlint_proxy.protocols.base import ResponseHead

    protocol = find("POST", "x", protocol_path, {})
    assert protocol is not None
    reader = protocol.stream(ResponseHead(200, {"content-type": "text/event-stream"}))
    return [event for at, part in reply.parts for event in reader.feed(part, at)]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/completions"])
@pytest.mark.parametrize("reasoning", [0, 4])
def test_measured_times_are_those_that_the_simulated_engine_planned(path: str, reasoning: int) -> None:
    """TTFT = overhead + uncached tokens × rate exactly, and every gap as drawn."""
    reasoning = 0 if path == "/v1/completions" else reasoning
    engine = Engine(
        SimulatedSettings(reasoning_tokens=reasoning, empty_first_chunk=True, itl_jitter=0.5, overhead_s=0.2)
    )
    messages = b'"messages":[{"role":"user","content":"hello"}]'
    asked = {"/v1/responses": b'"input":"hello"', "/v1/completions": b'"prompt":"hello"'}.get(path, messages)
    body = b'{"model":"m","stream":true,"max_tokens":20,%b}' % asked
    reply = engine.answer(path, body, 0.0)
    assert reply is not None
    told = latency(*feed(reply, path), output_tokens=20)
    tokens = engine.counters.query_tokens
    assert told.timing.ttft_s == pytest.approx(0.2 + tokens * 20e-6)
    assert len(told.timing.gaps_s) == len(told.timing.event_tokens) - 1
    assert all(0.0025 <= gap <= 0.0075 + 1e-9 for gap in told.timing.gaps_s)


ENCODERS = {
    "gzip": lambda data: zlib.compress(data, wbits=31),
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "identity": lambda data: data,
}


@given(st.binary(max_size=4000), st.sampled_from(sorted(ENCODERS)), st.lists(st.integers(0, 4000), max_size=8))
def test_decoding_does_not_depend_on_the_cuts(data: bytes, encoding: str, cuts: list[int]) -> None:
    encoded = ENCODERS[encoding](data)
    places = sorted({cut % (len(encoded) + 1) for cut in cuts} | {0, len(encoded)})
    decoder = Decoder(encoding)
    decoded = b"".join(decoder.decode(encoded[a:b]) for a, b in pairwise(places))
    assert decoded == data
    assert decoder.note is None


@given(st.binary(min_size=50, max_size=2000), st.sampled_from(sorted(ENCODERS)), st.integers(1, 49))
def test_a_broken_off_body_gives_its_head(data: bytes, encoding: str, missing: int) -> None:
    encoded = ENCODERS[encoding](data)
    assert data.startswith(Decoder(encoding).decode(encoded[: max(0, len(encoded) - missing)]))


@pytest.mark.parametrize(
    ("encoding", "body", "note"),
    [
        ("gzip", b"no gzip at all", "cannot be decoded"),
        ("compress", b"x", "is not known"),
        ("gzip, secret", b"x", "not known"),
    ],
)
def test_what_cannot_be_decoded_is_noted_and_raises_nothing(encoding: str, body: bytes, note: str) -> None:
    decoder = Decoder(encoding)
    assert decoder.decode(body) == b""
    assert note in (decoder.note or "")


def test_a_bomb_stops_at_the_cap() -> None:
    decoder = Decoder("gzip", cap_bytes=1000)
    assert len(decoder.decode(zlib.compress(b"0" * 100_000, wbits=31))) == 1000
    assert decoder.note == "the decoded body is larger than the limit"


def test_members_raw_deflate_and_stacked_encodings_are_read() -> None:
    raw = zlib.compressobj(wbits=-15)
    assert decode_body(ENCODERS["gzip"](b"a") + ENCODERS["gzip"](b"b"), "gzip") == b"ab"
    assert decode_body(raw.compress(b"raw") + raw.flush(), "deflate") == b"raw"
    assert decode_body(brotli.compress(ENCODERS["gzip"](b"both")), "gzip, br") == b"both"
