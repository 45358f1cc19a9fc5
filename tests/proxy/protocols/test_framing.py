"""Bytes into events: the splitters by themselves."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protocol_wire import frame
from random_examples import examples

from promptlint_proxy.protocols.framing.event_stream import FrameSplitter
from promptlint_proxy.protocols.framing.json_array import ArraySplitter
from promptlint_proxy.protocols.framing.ndjson import LineSplitter
from promptlint_proxy.protocols.framing.sse import MAX_EVENT_BYTES, ServerSentEvent, SseSplitter


def sse_events(*chunks: bytes) -> list[tuple[bytes, str]]:
    splitter = SseSplitter()
    events: list[ServerSentEvent] = []
    for chunk in chunks:
        events += splitter.feed(chunk)
    events += splitter.finish()
    return [(event.data, event.event) for event in events]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"data: a\n\n", [(b"a", "")]),
        (b"data:a\n\n", [(b"a", "")]),
        (b"data:  a\n\n", [(b" a", "")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [(b"a", ""), (b"b", "")]),
        (b"data: a\r\rdata: b\r\r", [(b"a", ""), (b"b", "")]),
        (b"event: x\ndata: a\n\ndata: b\n\n", [(b"a", "x"), (b"b", "")]),
        (b"data: a\ndata: b\n\n", [(b"a\nb", "")]),
        (b": comment\n\ndata: a\n\n", [(b"a", "")]),
        (b"data: a", [(b"a", "")]),
        (b"data: a\n", [(b"a", "")]),
        (b"event: x\n\ndata: a\n\n", [(b"a", "")]),
        (b"data\n\n", [(b"", "")]),
        (b"id: 1\nretry: 5\n\n", []),
        (b"", []),
    ],
)
def test_server_sent_events(body: bytes, expected: list[tuple[bytes, str]]) -> None:
    assert expected == sse_events(body)
    assert expected == sse_events(*(body[at : at + 1] for at in range(len(body))))
    assert expected == sse_events(*(part for at in range(len(body)) for part in (body[at : at + 1], b"")))


def test_an_event_without_an_end_does_not_grow_without_bound() -> None:
    splitter = SseSplitter()

    for _ in range(MAX_EVENT_BYTES // (1 << 20) + 1):
        assert list(splitter.feed(b"x" * (1 << 20))) == []

    assert splitter.overflowed
    assert [b"a"] == [event.data for event in splitter.feed(b"\ndata: a\n\n")]


@examples(50)
@given(lines=st.lists(st.text(alphabet='ab{}" é', max_size=5), max_size=6), cut=st.integers(0, 40))
def test_lines_are_the_same_wherever_they_are_cut(lines: list[str], cut: int) -> None:
    body = "\n".join(lines).encode()
    splitter = LineSplitter()

    told = [*splitter.feed(body[:cut]), *splitter.feed(body[cut:]), *splitter.finish()]

    assert [line.strip().encode() for line in lines if line.strip()] == told


_VALUES = st.recursive(
    st.sampled_from([None, 1, "a", '"', "\\", "}{", '\\"}', "é\n"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["k", "}", '"', "\\"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@examples(80)
@given(
    objects=st.lists(st.dictionaries(st.sampled_from(["k", "}"]), _VALUES, max_size=2), max_size=4),
    cuts=st.lists(st.integers(0, 200), max_size=6),
    indent=st.sampled_from([None, 2]),
)
def test_objects_of_an_array_are_the_same_wherever_they_are_cut(
    objects: list[dict[str, object]], cuts: list[int], indent: int | None
) -> None:
    body = json.dumps(objects, indent=indent, ensure_ascii=False).encode()
    places = sorted({0, *(cut % (len(body) + 1) for cut in cuts), len(body)})
    splitter = ArraySplitter()

    told: list[bytes] = []
    for start, end in pairwise(places):
        told += splitter.feed(body[start:end])
        told += splitter.feed(b"")

    assert objects == [json.loads(raw) for raw in told]


def test_a_frame_is_read_with_its_headers() -> None:
    body = frame({"a": 1}, event_type="chunk", message_type="event", content_type="application/json")

    (read,) = FrameSplitter().feed(body)

    assert {":event-type": "chunk", ":message-type": "event", ":content-type": "application/json"} == read.headers
    assert {"a": 1} == json.loads(read.payload)


def test_headers_of_all_types_are_passed_over() -> None:
    from zlib import crc32

    values = [
        (0, b""),
        (1, b""),
        (2, b"1"),
        (3, b"12"),
        (4, b"1234"),
        (5, b"12345678"),
        (6, b"\x00\x03abc"),
        (8, b"12345678"),
        (9, b"u" * 16),
    ]
    raw = (
        b"".join(b"\x01" + bytes([97 + kind]) + bytes([kind]) + value for kind, value in values)
        + b"\x01z\x07\x00\x02ok"
    )
    prelude = (16 + len(raw)).to_bytes(4, "big") + len(raw).to_bytes(4, "big")
    message = prelude + crc32(prelude).to_bytes(4, "big") + raw

    (read,) = FrameSplitter().feed(message + crc32(message).to_bytes(4, "big"))

    assert {"z": "ok"} == read.headers


@pytest.mark.parametrize(
    "at", [0, 5, 9, 20, -1], ids=["length", "headers length", "prelude sum", "body", "message sum"]
)
def test_a_damaged_frame_stops_the_splitter(at: int) -> None:
    good = frame({"a": 1}, event_type="chunk")
    damaged = bytearray(frame({"b": 2}, event_type="chunk"))
    damaged[at] ^= 0x40
    splitter = FrameSplitter()

    frames = list(splitter.feed(good + bytes(damaged) + good))

    assert 1 == len(frames)
    assert splitter.damaged
    assert list(splitter.feed(good)) == []
