"""Actions are off by default, do what was ordered and nothing else, and leave signed requests alone."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proxy_harness import body_of, post, proxy, streamed

from promptlint_proxy.actions import StreamFilter, apply
from promptlint_proxy.settings import ActionSettings
from promptlint_proxy.simulated.wire import HttpReply

CHAT = "/v1/chat/completions"
ALL = ActionSettings(cap_output_tokens=500, ask_usage=True, sort_tools=True, add_markers=True)
USAGE = b'data: {"id":"1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}\n\n'
CONTENT = b'data: {"id":"1","choices":[{"index":0,"delta":{"content":"hi"}}],"usage":null}\n\n'
DONE = b"data: [DONE]\n\n"


def changed(settings: ActionSettings, path: str, document: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    outcome = apply(settings, path, json.dumps(document).encode(), {})
    return outcome.done, json.loads(outcome.body) if outcome.body is not None else document


def tool(name: str, **extra: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}, **extra}


@pytest.mark.parametrize(
    ("path", "document", "field"),
    [
        (CHAT, {}, "max_completion_tokens"),
        (CHAT, {"max_tokens": None}, "max_tokens"),
        (CHAT, {"max_tokens": -1}, "max_tokens"),
        ("/v1/completions", {"prompt": "x"}, "max_tokens"),
        ("/v1/responses", {"input": "x"}, "max_output_tokens"),
    ],
)
def test_a_missing_bound_is_set(path: str, document: dict[str, Any], field: str) -> None:
    done, after = changed(ActionSettings(cap_output_tokens=500), path, document)
    assert done == ("cap_output_tokens",)
    assert after == document | {field: 500}


@pytest.mark.parametrize(
    ("path", "document"),
    [
        (CHAT, {"max_tokens": 5}),
        (CHAT, {"max_completion_tokens": 9000}),
        ("/v1/messages", {"max_tokens": 5, "cache_control": {"type": "ephemeral"}}),
        ("/v1/embeddings", {"input": "x"}),
        ("/v1/messages/count_tokens", {"messages": []}),
        ("/model/x/converse", {"messages": []}),
    ],
)
def test_requests_that_need_nothing_keep_every_byte(path: str, document: dict[str, Any]) -> None:
    assert apply(ALL, path, json.dumps(document).encode(), {}).body is None


def test_an_unbounded_request_is_refused_with_the_field_to_set() -> None:
    outcome = apply(ActionSettings(refuse_unbounded=True), "/v1/responses", b'{"input":"x"}', {})
    assert outcome.done == ("refuse_unbounded",)
    assert "max_output_tokens" in (outcome.refusal or "")


@pytest.mark.parametrize(
    ("options", "asked"),
    [({}, True), ({"stream_options": {}}, True), ({"stream_options": {"include_usage": False}}, False)],
)
def test_usage_is_asked_for_where_the_client_does_not_say(options: dict[str, Any], asked: bool) -> None:
    done, after = changed(ActionSettings(ask_usage=True), CHAT, {"stream": True, **options})
    assert (done == ("ask_usage",)) is asked
    assert after["stream_options"]["include_usage"] is asked


def test_usage_is_not_asked_for_without_a_stream() -> None:
    assert changed(ActionSettings(ask_usage=True), CHAT, {"messages": []})[0] == ()


def test_tools_are_sorted_by_name_unless_one_carries_a_marker() -> None:
    done, after = changed(ActionSettings(sort_tools=True), CHAT, {"tools": [tool("b"), tool("a")]})
    assert done == ("sort_tools",)
    assert [entry["function"]["name"] for entry in after["tools"]] == ["a", "b"]
    assert changed(ActionSettings(sort_tools=True), CHAT, {"tools": [tool("a"), tool("b")]})[0] == ()
    marked = {"tools": [{"name": "b"}, {"name": "a", "cache_control": {"type": "ephemeral"}}]}
    assert changed(ActionSettings(sort_tools=True), "/v1/messages", marked)[0] == ()


def test_markers_stand_at_the_head_s_end_and_on_the_last_block() -> None:
    document = {"max_tokens": 5, "system": "rules", "messages": [{"role": "user", "content": "hi"}]}
    done, after = changed(ActionSettings(add_markers=True), "/v1/messages", document)
    assert done == ("add_markers",)
    assert after["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert after["messages"][-1]["content"][-1] == {
        "type": "text", "text": "hi", "cache_control": {"type": "ephemeral"},
    }  # fmt: skip


@pytest.mark.parametrize(
    "blocks", [[{"type": "thinking", "thinking": "x"}], [{"type": "text", "text": ""}], [], "", None, [1]]
)
def test_blocks_that_must_not_be_marked_are_not(blocks: Any) -> None:
    document = {"messages": [{"role": "user", "content": blocks}]}
    assert changed(ActionSettings(add_markers=True), "/v1/messages", document) == ((), document)


@pytest.mark.parametrize("body", [b"", b"[]", b"no json", b"\xff", b"null"])
def test_bodies_that_are_no_json_object_stay(body: bytes) -> None:
    assert apply(ALL, CHAT, body, {}).body is None


@given(st.lists(st.integers(0, 400), max_size=10))
def test_the_usage_chunk_is_taken_out_however_the_stream_is_cut(cuts: list[int]) -> None:
    stream = CONTENT + b": ping\n\n" + USAGE + DONE
    places = sorted({cut % (len(stream) + 1) for cut in cuts} | {0, len(stream)})
    taken_out = StreamFilter()
    passed = b"".join(taken_out.feed(stream[a:b]) for a, b in pairwise(places)) + taken_out.end()
    assert passed == CONTENT + b": ping\n\n" + DONE


@given(st.binary(max_size=500), st.lists(st.integers(0, 500), max_size=6))
def test_any_other_stream_passes_unchanged(stream: bytes, cuts: list[int]) -> None:
    places = sorted({cut % (len(stream) + 1) for cut in cuts} | {0, len(stream)})
    taken_out = StreamFilter()
    passed = b"".join(taken_out.feed(stream[a:b]) for a, b in pairwise(places)) + taken_out.end()
    assert passed == stream


@pytest.mark.parametrize(
    "parts",
    [
        [CONTENT, USAGE + DONE],
        [CONTENT, USAGE, DONE],
        [CONTENT[:9], CONTENT[9:] + USAGE[:20], USAGE[20:], DONE[:4], DONE[4:]],
        [CONTENT + DONE + USAGE],
    ],
    ids=["with the end", "by itself", "cut anywhere", "last of all"],
)
def test_through_the_proxy_the_client_sees_no_extra_chunk_and_the_analysis_does(parts: list[bytes]) -> None:
    def respond(request: Any) -> HttpReply:
        assert json.loads(request.body)["stream_options"] == {"include_usage": True}
        assert request.headers["accept-encoding"] == "identity"
        return HttpReply(200, [("content-type", "text/event-stream")], streamed(parts))

    async def scenario() -> None:
        async with proxy(respond, actions=ActionSettings(ask_usage=True)) as running:
            answer = await running.exchange(post(CHAT, b'{"stream":true}', [("accept-encoding", "gzip")]))
            assert body_of(answer) == CONTENT + DONE
            started, finished = await running.captured()
            assert USAGE in b"".join(chunk for _, chunk in finished[0].chunks)
            assert started[0].actions == ("ask_usage",)
            assert running.sidecar.addon.counters.actions == {"ask_usage": 1}

    asyncio.run(scenario())


def test_a_signed_request_is_never_edited() -> None:
    signature = [("authorization", "AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host, Signature=y")]

    async def scenario() -> None:
        async with proxy(lambda request: HttpReply(200, [], b"{}"), actions=ALL) as running:
            await running.exchange(post(CHAT, b'{"stream":true}', signature))
            assert running.requests[0].body == b'{"stream":true}'
            started, _ = await running.captured()
            assert started[0].signed
            assert started[0].actions == ()

    asyncio.run(scenario())


def test_a_refusal_is_an_answer_in_the_api_s_shape() -> None:
    async def scenario() -> None:
        async with proxy(
            lambda request: HttpReply(200, [], b""), actions=ActionSettings(refuse_unbounded=True)
        ) as running:
            answer = await running.exchange(post(CHAT, b"{}"))
            assert answer.startswith(b"HTTP/1.1 400")
            assert "max_completion_tokens" in json.loads(body_of(answer))["error"]["message"]
            assert not running.requests

    asyncio.run(scenario())


def test_half_an_emoji_is_sent_on_as_the_escape_it_came_as() -> None:
    body = b'{"messages":[{"role":"user","content":"\\ud83d and \xc3\xa9"}]}'
    changed_body = apply(ActionSettings(cap_output_tokens=9), CHAT, body, {}).body

    assert changed_body is not None
    assert json.loads(changed_body.decode("utf-8")) == json.loads(body) | {"max_completion_tokens": 9}


def test_a_number_beyond_all_bounds_leaves_the_request_as_it_came() -> None:
    assert apply(ActionSettings(cap_output_tokens=9), CHAT, b'{"temperature":1e999}', {}).body is None
