"""Recordings of every format: what is read of them, and that what cannot be read is told."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from mitmproxy import http
from mitmproxy.flow import Error
from mitmproxy.io import FlowWriter
from mitmproxy.test import tflow, tutils

from promptlint_core.errors import PromptlintError
from promptlint_core.exchange import Exchange
from promptlint_core.prompt import BoundKind
from promptlint_proxy.replay.block_traces import is_block_trace
from promptlint_proxy.replay.readers.formats import find_format, read_recording
from promptlint_proxy.replay.readers.har import read_har
from promptlint_proxy.replay.readers.json_lines import read_line
from promptlint_proxy.replay.readers.json_records import as_seconds
from promptlint_proxy.replay.readers.mitmproxy_flows import read_flows
from promptlint_proxy.replay.recorded import RecordedExchange, Unreadable, to_exchange

DATA = Path(__file__).parents[2] / "data" / "replay"
EIGHT = 1788940800.0  # 2026-09-09T08:00:00Z


def load(path: Path, told: str | None = None) -> tuple[list[RecordedExchange], list[Unreadable], list[Exchange]]:
    entries = list(read_recording(path, told))
    recorded = [entry for entry in entries if isinstance(entry, RecordedExchange)]
    exchanges = [to_exchange(entry, index) for index, entry in enumerate(recorded)]
    assert None not in exchanges
    return recorded, [entry for entry in entries if isinstance(entry, Unreadable)], [e for e in exchanges if e]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("debugger.har", "har"),
        ("batch.jsonl", "openai-batch"),
        ("litellm.jsonl", "litellm"),
        ("langfuse.jsonl", "langfuse"),
        ("langfuse-trace.json", "langfuse"),
        ("vllm.log", "vllm-log"),
    ],
)
def test_the_format_is_seen(name: str, expected: str) -> None:
    path = DATA / name

    assert expected == find_format(path, path.read_bytes())


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (b'{"data": [{"traceId": "t", "type": "SPAN", "input": null}], "meta": {}}', "langfuse"),
        (b'{"id": "t", "observations": [{"type": "SPAN"}]}', "langfuse"),
        (b'{"data": [{"call_type": "acompletion", "startTime": 1}]}', "litellm"),
        (b'{"data": [], "t": 1, "request": {}}', "jsonl"),
        (b'{"data": [{"a": 1}]}', "jsonl"),
    ],
)
def test_pages_of_an_api_are_seen(start: bytes, expected: str) -> None:
    assert expected == find_format(Path("export.json"), start)


def test_har() -> None:
    recorded, unreadable, exchanges = load(DATA / "debugger.har")

    chat, messages = exchanges
    assert (EIGHT + 0.25, 0.41, 1.6005) == (chat.timing.started_at, chat.timing.first_byte_s, chat.timing.e2e_s)
    assert ("openai", "chat", 300) == (chat.request.provider, chat.request.api, chat.request.bound.tokens)
    assert chat.request.path == "/v1/chat/completions"
    assert chat.response.usage is not None
    assert (1024, "stop", 200) == (chat.response.usage.hit_tokens, chat.response.finish_reason, chat.response.status)
    assert (EIGHT + 7, None, None) == (messages.timing.started_at, messages.timing.first_byte_s, messages.timing.e2e_s)
    assert messages.response.usage is not None
    assert (12, 9, 2) == (
        messages.response.usage.prompt_tokens,
        messages.response.usage.hit_tokens,
        messages.response.usage.output_tokens,
    )
    assert [3, 4] == [int(entry.place.rpartition("[")[2][:-1]) for entry in unreadable]
    assert recorded[1].host == "api.anthropic.com"
    assert "pw" not in repr(recorded)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"log": {}}', '{"log": 5}'])
def test_what_is_no_har_is_a_clear_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.har"
    path.write_text(text)

    with pytest.raises(PromptlintError, match="no HAR file"):
        list(read_har(path))


def _flow(path: str, body: dict[str, object], answer: bytes | None, at: float) -> http.HTTPFlow:
    request = tutils.treq(
        method=b"POST",
        host="api.openai.com",
        path=path.encode(),
        content=json.dumps(body).encode(),
        headers=http.Headers(host="api.openai.com", content_type="application/json"),
        timestamp_start=at,
    )
    response = tutils.tresp(
        content=answer or b"",
        headers=http.Headers(content_type="application/json"),
        timestamp_start=at + 0.5,
        timestamp_end=at + 2,
    )
    flow = tflow.tflow(req=request, resp=response if answer is not None else False)
    if answer is None:
        flow.error = Error("connection lost")
    return flow


def test_mitmproxy_flows(tmp_path: Path) -> None:
    path = tmp_path / "traffic"
    body = {"model": "gpt-5.4", "messages": [{"role": "user", "content": "Hi"}]}
    packed = _flow("/v1/chat/completions", body, b'{"choices": [{"message": {"content": "Hello"}}]}', EIGHT)
    assert packed.response is not None
    packed.response.encode("gzip")
    with path.open("wb") as file:
        writer = FlowWriter(file)
        writer.add(packed)
        writer.add(tflow.tflow(req=tutils.treq(method=b"GET")))
        writer.add(_flow("/v1/chat/completions", body, None, EIGHT + 9))
        file.write(b"7:cut")

    recorded, unreadable, exchanges = load(path)

    first, second = exchanges
    assert (EIGHT, 0.5, 2.0) == (first.timing.started_at, first.timing.first_byte_s, first.timing.e2e_s)
    assert (5, 200) == (first.response.content_chars, first.response.status)
    assert ("unreachable", None) == (second.response.error, second.response.status)
    assert "cannot be read further" in unreadable[0].sentence
    assert recorded[0].place.endswith("#flow 0")


def test_a_flow_file_that_holds_no_flows_is_said(tmp_path: Path) -> None:
    """The frame of a value is right, so mitmproxy takes the value for a flow."""
    path = tmp_path / "traffic.flows"
    path.write_bytes(b"5:hello,")

    [unreadable] = read_flows(path)

    assert isinstance(unreadable, Unreadable)
    assert "cannot be read further: no flow" in unreadable.sentence


def test_openai_batch() -> None:
    recorded, unreadable, exchanges = load(DATA / "batch.jsonl")

    assert [0.0, 1.0, 2.0] == [entry.at for entry in recorded]
    assert ["chat", "responses", "chat"] == [exchange.request.api for exchange in exchanges]
    assert ["stop", "completed", None] == [exchange.response.finish_reason for exchange in exchanges]
    assert [None, None, "batch_expired"] == [exchange.response.error for exchange in exchanges]
    usage = exchanges[1].response.usage
    assert usage is not None
    assert (30, 0) == (usage.prompt_tokens, usage.hit_tokens)
    assert ["batch.jsonl:8", "batch.jsonl:7"] == [Path(entry.place).name for entry in unreadable]
    assert "input file" in unreadable[1].sentence


def test_litellm() -> None:
    recorded, unreadable, exchanges = load(DATA / "litellm.jsonl")

    claude, failed, local = exchanges
    assert ("anthropic", "chat", "claude-opus-5", True) == (
        claude.request.provider,
        claude.request.api,
        claude.request.model,
        claude.request.stream,
    )
    assert (1, ("find",), 300) == (len(claude.request.markers), claude.request.tool_names, claude.request.bound.tokens)
    assert claude.response.usage is not None
    assert (100, 60, 30, 10) == (
        claude.response.usage.prompt_tokens,
        claude.response.usage.hit_tokens,
        claude.response.usage.written_tokens,
        claude.response.usage.computed_tokens,
    )
    assert (0.75, 2.5) == (claude.timing.ttft_s, claude.timing.e2e_s)
    assert ("responses", "RateLimitError", None, None) == (
        failed.request.api,
        failed.response.error,
        failed.response.status,
        failed.timing.ttft_s,
    )
    assert ("vllm", 7, EIGHT + 20) == (local.request.provider, local.request.bound.tokens, local.timing.started_at)
    assert local.response.usage is not None
    assert (10, None) == (local.response.usage.prompt_tokens, local.response.usage.hit_tokens)
    assert "was not stored" in unreadable[0].sentence
    assert "sk-1" not in repr(recorded)


def test_a_call_that_litellm_answered_itself_asked_no_model(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    call = {
        "call_type": "acompletion",
        "startTime": EIGHT,
        "messages": [{"role": "user", "content": "Hi"}],
        "model": "m",
    }
    path.write_text(
        "".join(json.dumps({**call, "cache_hit": hit}) + "\n" for hit in (True, "True", False, None, "False"))
    )

    recorded, unreadable, _ = load(path)

    assert (3, []) == (len(recorded), unreadable)


def test_langfuse() -> None:
    _, unreadable, exchanges = load(DATA / "langfuse.jsonl")

    claude, chat, text = exchanges
    assert ["messages", "chat", "completions"] == [exchange.request.api for exchange in exchanges]
    assert ["anthropic", "openai", "openai"] == [exchange.request.provider for exchange in exchanges]
    assert claude.response.usage is not None
    assert (1203, 1000, 200, 3, 9) == (
        claude.response.usage.prompt_tokens,
        claude.response.usage.hit_tokens,
        claude.response.usage.written_tokens,
        claude.response.usage.computed_tokens,
        claude.response.usage.output_tokens,
    )
    assert chat.response.usage is not None
    assert (1200, 1024, 176, 8) == (
        chat.response.usage.prompt_tokens,
        chat.response.usage.hit_tokens,
        chat.response.usage.computed_tokens,
        chat.response.usage.output_tokens,
    )
    assert (200, 300) == (claude.request.bound.tokens, chat.request.bound.tokens)
    assert (pytest.approx(0.4), 2.0, 3) == (chat.timing.ttft_s, chat.timing.e2e_s, chat.response.content_chars)
    assert text.response.error == "error"
    assert ["`input` holds no messages and no text: the prompt was not exported"] == [e.sentence for e in unreadable]


def test_a_langfuse_trace_holds_its_observations() -> None:
    recorded, unreadable, exchanges = load(DATA / "langfuse-trace.json")

    assert ([], 1) == (unreadable, len(exchanges))
    assert recorded[0].place.endswith("#2")


def test_vllm_log(tmp_path: Path) -> None:
    path = tmp_path / "vllm.log"
    path.write_bytes((DATA / "vllm.log").read_bytes())
    os.utime(path, (EIGHT + 60, EIGHT + 60))

    _, unreadable, exchanges = load(path)

    plain, chat, ids = exchanges
    assert 'It\'s "late", max_tokens=9\nRule 1.' == plain.request.text
    assert (EIGHT, 2.0, 2, 300) == (
        plain.timing.started_at,
        plain.timing.e2e_s,
        plain.request.n,
        plain.request.bound.tokens,
    )
    assert plain.response.usage is not None
    assert (3, 2, "length") == (
        plain.response.usage.prompt_tokens,
        plain.response.usage.output_tokens,
        plain.response.finish_reason,
    )
    assert "<|im_start|>system\nYou're brief." == chat.request.text
    assert chat.response.usage is not None
    assert ("Hello", 3, "stop", 2.0) == (
        chat.response.content_tail,
        chat.response.usage.output_tokens,
        chat.response.finish_reason,
        chat.timing.e2e_s,
    )
    assert BoundKind.UNLIMITED is chat.request.bound.kind
    assert "4 5 " == ids.request.text
    assert all(exchange.request.provider == "vllm" for exchange in exchanges)
    assert ["vllm.log:10"] == [Path(entry.place).name for entry in unreadable]


def test_a_log_without_requests_tells_what_to_turn_on(tmp_path: Path) -> None:
    path = tmp_path / "engine.log"
    path.write_text("INFO 09-09 08:00:00 [core.py:1] vllm started\n")

    recorded, unreadable, _ = load(path)

    assert recorded == []
    assert "--enable-log-requests" in unreadable[0].sentence


@pytest.mark.parametrize("form", ["litellm", "langfuse", "openai-batch"])
@pytest.mark.parametrize("text", ['{"a": 1}\n[1]\n{broken\n', '[{"a": 1}, 5]', "5"])
def test_odd_records_are_told_and_the_rest_goes_on(tmp_path: Path, form: str, text: str) -> None:
    path = tmp_path / "export.json"
    path.write_text(text)

    recorded, unreadable, _ = load(path, form)

    assert recorded == []
    assert unreadable
    assert all(entry.place.startswith(str(path)) and entry.sentence for entry in unreadable)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (EIGHT, EIGHT),
        (int(EIGHT * 1000), EIGHT),
        ("2026-09-09T08:00:00Z", EIGHT),
        ("2026-09-09T10:00:00+02:00", EIGHT),
        ("2026-09-09 08:00:00", EIGHT),
        ("today", None),
        (None, None),
        (True, None),
    ],
)
def test_times_are_read_as_exports_write_them(value: object, expected: float | None) -> None:
    assert expected == as_seconds(value)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        pytest.param(b"[" * 50_000 + b"]" * 50_000, "nested too deeply", id="nested without end"),
        pytest.param('{"path": "é"}'.encode("latin-1"), "no UTF-8", id="another encoding"),
        pytest.param(b'{"t": 1e400, "path": "/v1/messages", "request": {}}', "no year", id="infinite time"),
        pytest.param(b'{"t": NaN, "path": "/v1/messages", "request": {}}', "no year", id="no number"),
        pytest.param(b'{"t": 1790000000123, "path": "/v1/messages", "request": {}}', "no year", id="milliseconds"),
    ],
)
def test_a_line_that_cannot_be_read_says_why(line: bytes, told: str) -> None:
    read = read_line(line, "log:1")

    assert isinstance(read, Unreadable)
    assert told in read.sentence


def test_a_deeply_nested_first_line_is_no_block_trace(tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_text("[" * 50_000 + "]" * 50_000 + "\n")

    assert not is_block_trace(path)
