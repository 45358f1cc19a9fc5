"""Every byte passes on at once and unchanged; what fails in the proxy never reaches the client."""

from __future__ import annotations

import asyncio
import json
import zlib
from itertools import pairwise
from typing import Any

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from proxy_harness import body_of, exchange, post, proxy, streamed
from random_examples import examples

from promptlint_proxy import capture
from promptlint_proxy.addon import PromptlintAddon
from promptlint_proxy.simulated.wire import HttpReply, HttpRequest

CHAT = "/v1/chat/completions"
EVENTS = b"".join(b'data: {"choices":[{"delta":{"content":"w%d"}}]}\n\n' % n for n in range(30)) + b"data: [DONE]\n\n"
REQUEST = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]}).encode()
ENCODERS = {
    "identity": lambda data: data,
    "gzip": lambda data: zlib.compress(data, wbits=31),
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


def run(coroutine: Any) -> Any:
    return asyncio.run(coroutine)


def chunks_at(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(places)]


def stream_reply(parts: list[bytes], encoding: str = "identity", *, cut: bool = False) -> HttpReply:
    headers = [("content-type", "text/event-stream")]
    if encoding != "identity":
        headers.append(("content-encoding", encoding))
    return HttpReply(200, headers, streamed(parts), cut=cut)


@examples(25)
@given(
    encoding=st.sampled_from(sorted(ENCODERS)),
    cuts=st.lists(st.integers(0, 5000), max_size=12),
    keep=st.one_of(st.none(), st.integers(1, 3000)),
)
def test_bytes_to_the_client_are_those_of_the_upstream(encoding: str, cuts: list[int], keep: int | None) -> None:
    """Whatever the encoding, however it is cut into chunks, and also when the stream breaks off."""
    data = ENCODERS[encoding](EVENTS)
    data = data[:keep] if keep is not None else data
    parts = chunks_at(data, cuts)

    async def scenario() -> None:
        async with proxy(lambda request: stream_reply(parts, encoding, cut=keep is not None)) as running:
            answer = await running.exchange(post(CHAT, REQUEST))
            direct = await exchange(running.upstream_port, post(CHAT, REQUEST))
            _, finished = await running.captured()
            if keep is None:
                assert body_of(answer) == data
            else:
                # A reset may overtake bytes on either hop; what arrives is a true head of what was sent.
                assert data.startswith(body_of(answer))
                assert data.startswith(body_of(direct))
            assert b"".join(chunk for _, chunk in finished[0].chunks) == body_of(answer) or keep is not None
            assert running.requests[0].body == REQUEST

    run(scenario())


def test_events_go_on_before_the_stream_ends() -> None:
    """Held back, all events would come at the end."""

    async def scenario() -> None:
        gate = asyncio.Event()

        async def parts() -> Any:
            yield b"data: first\n\n"
            await gate.wait()
            yield b"data: last\n\n"

        reply = HttpReply(200, [("content-type", "text/event-stream")], parts())
        async with proxy(lambda request: reply) as running:
            reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
            writer.write(post(CHAT, REQUEST))
            assert b"first" in await asyncio.wait_for(reader.readuntil(b"first\n\n"), 5)
            gate.set()
            assert b"last" in await asyncio.wait_for(reader.read(-1), 5)
            writer.close()

    run(scenario())


def test_a_cut_stream_is_finished_as_cut() -> None:
    async def scenario() -> None:
        async with proxy(lambda request: stream_reply([EVENTS[:100], EVENTS[100:300]], cut=True)) as running:
            await running.exchange(post(CHAT, REQUEST))
            _, finished = await running.captured()
            assert finished[0].error == "cut"
            assert finished[0].status == 200
            assert running.sidecar.addon.counters.in_flight == 0

    run(scenario())


@pytest.mark.parametrize("hook", ["_start", "_answer", "_route"])
def test_an_exception_of_ours_never_reaches_the_client(hook: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr(PromptlintAddon, hook, broken)

    async def scenario() -> None:
        async with proxy(lambda request: stream_reply([EVENTS])) as running:
            answer = await running.exchange(post(CHAT, REQUEST))
            assert body_of(answer) == EVENTS
            assert sum(running.sidecar.addon.counters.errors.values()) >= 1

    run(scenario())


def test_an_exception_while_a_chunk_is_kept_loses_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise MemoryError

    monkeypatch.setattr(capture.ChunkLog, "add", broken)

    async def scenario() -> None:
        async with proxy(lambda request: stream_reply([EVENTS])) as running:
            assert body_of(await running.exchange(post(CHAT, REQUEST))) == EVENTS

    run(scenario())


def test_a_full_queue_drops_the_analysis_and_never_the_answer() -> None:
    async def scenario() -> None:
        async with proxy(lambda request: stream_reply([EVENTS]), queue_messages=0) as running:
            assert body_of(await running.exchange(post(CHAT, REQUEST))) == EVENTS
            assert running.sidecar.worker.dropped == 1

    run(scenario())


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (CHAT, {"error": {"type": "server_error"}}),
        ("/v1/messages", {"type": "error", "error": {"type": "api_error"}}),
        ("/v1beta/models/g:generateContent", {"error": {"code": 502}}),
    ],
)
def test_an_upstream_that_is_down_is_told_in_the_api_s_own_shape(path: str, expected: dict[str, Any]) -> None:
    async def scenario() -> None:
        async with proxy(lambda request: stream_reply([]), upstream=("http://127.0.0.1:9",)) as running:
            answer = await running.exchange(post(path, REQUEST))
            assert answer.startswith(b"HTTP/1.1 502")
            assert b"content-type: application/json" in answer.lower()
            document = json.loads(body_of(answer))
            for key, value in expected.items():
                assert document[key] == value or value.items() <= document[key].items()
            _, finished = await running.captured()
            assert finished[0].error == "unreachable"
            assert finished[0].status is None

    run(scenario())


@pytest.mark.parametrize(
    ("specs", "asked", "path", "expected_path"),
    [
        (("http://127.0.0.1:{port}/base",), "x", "/v1/models?a=1", "/base/v1/models"),
        (("/one=http://127.0.0.1:{port}", "/two=http://127.0.0.1:{port}/v9"), "x", "/two/v1/chat", "/v9/v1/chat"),
        (("llm.local=http://127.0.0.1:{port}/l", "http://127.0.0.1:{port}/d"), "LLM.local:80", "/v1/x", "/l/v1/x"),
        (("llm.local=http://127.0.0.1:{port}/l", "http://127.0.0.1:{port}/d"), "other", "/v1/x", "/d/v1/x"),
    ],
)
def test_requests_find_their_upstream(specs: tuple[str, ...], asked: str, path: str, expected_path: str) -> None:
    async def scenario() -> None:
        async with proxy(lambda request: HttpReply(200, [], b"{}"), upstream=specs) as running:
            raw = f"GET {path} HTTP/1.1\r\nhost: {asked}\r\nconnection: close\r\n\r\n".encode()
            assert (await running.exchange(raw)).startswith(b"HTTP/1.1 200")
            assert running.requests[0].path == expected_path
            assert running.requests[0].headers["host"] == f"127.0.0.1:{running.upstream_port}"

    run(scenario())


def test_a_path_without_an_upstream_is_told() -> None:
    async def scenario() -> None:
        async with proxy(
            lambda request: HttpReply(200, [], b""), upstream=("/one=http://127.0.0.1:{port}",)
        ) as running:
            answer = await running.exchange(post("/elsewhere", b"{}"))
            assert answer.startswith(b"HTTP/1.1 404")
            assert "no upstream" in json.loads(body_of(answer))["error"]["message"]
            assert not running.requests

    run(scenario())


def test_secrets_are_never_handed_over() -> None:
    secrets = {
        "authorization": "Bearer sk-planted-1",
        "x-api-key": "sk-planted-2",
        "cookie": "session=planted-3",
        "x-goog-api-key": "planted-4",
        "x-amz-security-token": "planted-5",
        "x-custom": "planted-6",
    }

    def respond(request: HttpRequest) -> HttpReply:
        assert request.headers["authorization"] == "Bearer sk-planted-1"
        return HttpReply(200, [("set-cookie", "planted-7"), ("content-type", "application/json")], b"{}")

    async def scenario() -> None:
        async with proxy(respond) as running:
            await running.exchange(post(f"{CHAT}?key=planted-8", REQUEST, secrets.items()))
            started, finished = await running.captured()
            assert "planted" not in repr((started, finished))
            assert started[0].path == CHAT
            assert started[0].caller

    run(scenario())


def test_labels_are_taken_and_not_sent_on() -> None:
    async def scenario() -> None:
        async with proxy(lambda request: HttpReply(200, [], b"{}")) as running:
            await running.exchange(post(CHAT, REQUEST, [("X-Promptlint-Team", "search"), ("x-other", "1")]))
            started, _ = await running.captured()
            assert (("team", "search"),) == started[0].labels
            assert "x-promptlint-team" not in running.requests[0].headers
            assert running.requests[0].headers["x-other"] == "1"

    run(scenario())


def test_a_body_beyond_the_cap_passes_whole_and_is_kept_in_part() -> None:
    big = b'{"model":"m","messages":[{"role":"user","content":"' + b"x" * 300_000 + b'"}]}'
    answer_body = b"y" * 400_000

    async def scenario() -> None:
        async with proxy(lambda request: HttpReply(200, [], streamed([answer_body])), cap_bytes=50_000) as running:
            answer = await running.exchange(post(CHAT, big))
            assert body_of(answer) == answer_body
            assert running.requests[0].body == big
            started, finished = await running.captured()
            assert started[0].truncated
            assert len(started[0].body) == 50_000
            kept = sum(len(chunk) for _, chunk in finished[0].chunks)
            assert kept + finished[0].skipped_bytes == len(answer_body)
            assert kept <= 50_000 + 2 * capture.TAIL_BYTES

    run(scenario())


def test_open_streams_end_before_the_proxy_does() -> None:
    async def scenario() -> None:
        gate = asyncio.Event()

        async def parts() -> Any:
            yield b"data: first\n\n"
            await gate.wait()
            yield b"data: last\n\n"

        reply = HttpReply(200, [("content-type", "text/event-stream")], parts())
        async with proxy(lambda request: reply) as running:
            reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
            writer.write(post(CHAT, REQUEST))
            await asyncio.wait_for(reader.readuntil(b"first\n\n"), 5)
            running.sidecar.stop()
            await asyncio.sleep(0.02)
            with pytest.raises(OSError, match="Connect"):
                await asyncio.open_connection("127.0.0.1", running.port)
            gate.set()
            assert b"last" in await asyncio.wait_for(reader.read(-1), 5)
            writer.close()
            await asyncio.wait_for(running.sidecar.should_exit.wait(), 5)

    run(scenario())
