"""Replays as a whole: the JSON contract, bad input, rewriting, and a live engine beside the prediction."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from replay_command import run, told
from wire_cases import ANTHROPIC, OPENAI, assistant, block, chat, claude, claude_usage, rules, system, tool, usage, user

from promptlint_cli.commands.replay import command
from promptlint_core.errors import PromptlintError
from promptlint_proxy.replay.before_after import compare_fixes
from promptlint_proxy.replay.json_output import render_json
from promptlint_proxy.replay.readers.json_lines import read_line
from promptlint_proxy.replay.recorded import Unreadable
from promptlint_proxy.replay.rewrite import rewrite
from promptlint_proxy.replay.run import read_all, replay

R = rules()


@pytest.fixture
def record(tmp_path: Path) -> Any:
    def write(lines: list[dict[str, Any] | str], name: str = "traffic.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
        return path

    return write


CLOCKED = [
    chat(9.0 * n, [system(f"It is 10:00:0{n}. {R}"), user(f"Q{n}")], OPENAI, usage=usage(1500)) for n in range(3)
]


def test_json_has_the_fields_of_the_contract(record: Any) -> None:
    report = told(record(CLOCKED), "--isolated")

    assert 1 == report["version"]
    exchange = {
        "index", "t", "provider", "api", "model", "group", "line_of", "prompt_tokens", "prompt_tokens_source",
        "predicted_hit_tokens", "reported_hit_tokens", "reported_computed_tokens", "reported_written_tokens",
        "output_tokens", "output_bound", "kv_bytes", "ttft_s", "itl_s", "cost_usd",
    }  # fmt: skip
    assert exchange <= report["exchanges"][0].keys()
    comparison = {
        "earlier", "later", "verdict", "divergence", "shared_prefix_share", "reusable_prefix_share", "tokens_behind",
        "rule",
    }  # fmt: skip
    assert comparison <= report["comparisons"][0].keys()
    assert "KV101" == report["comparisons"][0]["rule"]
    assert [0, 1, 2] == report["findings"][0]["exchanges"]
    assert {"prompt_tokens", "predicted_hit_rate", "reported_hit_rate"} <= report["totals"].keys()


def test_absent_usage_is_null_and_its_prompt_an_estimate(record: Any) -> None:
    report = told(record([chat(0, [system(R), user("Hi")], OPENAI)]))

    exchange = report["exchanges"][0]
    assert (None, None, None) == tuple(
        exchange[name] for name in ("reported_hit_tokens", "reported_written_tokens", "output_tokens")
    )
    assert "estimated" == exchange["prompt_tokens_source"]
    assert report["totals"]["reported_hit_rate"] is None


def test_told_pairs_and_all_pairs_show_the_same_faults(record: Any) -> None:
    path = record(CLOCKED)
    few, all_of_them = told(path), told(path, "--pairs", "all")

    assert few["findings"] == all_of_them["findings"]
    assert [(0, 1), (0, 2), (1, 2)] == sorted((c["earlier"], c["later"]) for c in all_of_them["comparisons"])


def test_all_pairs_of_a_long_file_are_refused_with_a_sentence(record: Any) -> None:
    path = record([chat(n, [user(f"Hi {n}")], OPENAI) for n in range(51)])

    error = run(path, "--pairs", "all").exception
    assert isinstance(error, PromptlintError)
    assert "51" in str(error)


def test_exit_status_follows_the_findings(record: Any) -> None:
    assert 1 == run(record(CLOCKED)).return_value
    assert 0 == run(record([chat(0, [user("Hi")], OPENAI)])).return_value


def test_a_later_time_comes_later_whatever_its_line(record: Any) -> None:
    report = told(record([CLOCKED[2], CLOCKED[0], CLOCKED[1]]))

    assert [(1, 2), (2, 0)] == sorted((c["earlier"], c["later"]) for c in report["comparisons"])


BAD_LINES = {
    "no JSON": ("{", "no JSON"),
    "a list": ("[1]", "array"),
    "no request": ('{"t": 0}', "`request` is missing"),
    "request is a string": ('{"t": 0, "request": "x"}', "string"),
    "no time": ('{"request": {}}', "`t` is missing"),
    "time is a boolean": ('{"t": true, "request": {}}', "`t` is missing or no number"),
    "deep nesting": ("[" * 100_000, "JSON"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_told_with_its_place_and_the_rest_goes_on(name: str, record: Any) -> None:
    bad, sentence = BAD_LINES[name]
    path = record([CLOCKED[0], bad, CLOCKED[1]])

    result = run(path, "--output-format", "json", "--format", "jsonl")
    report = json.loads(result.stdout)
    assert f"{path}:2" in result.stderr
    assert sentence in result.stderr
    assert 2 == len(report["exchanges"])
    assert ["KV901"] == [f["rule"] for f in report["findings"] if f["path"].endswith(":2")]
    assert 1 == result.return_value


@pytest.mark.parametrize("field", ["headers", "usage", "response", "path"])
@pytest.mark.parametrize("value", [None, 3, "x", [], [1], {"a": [1]}])
def test_odd_values_in_known_fields_never_stop_a_replay(field: str, value: Any, record: Any) -> None:
    line = {**CLOCKED[0], field: value}

    assert 1 == len(told(record([line]))["exchanges"]) or field == "path"


def test_files_that_cannot_be_read_are_a_sentence(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n")
    for path, word in ((tmp_path / "none.jsonl", "cannot be read"), (empty, "empty"), (tmp_path, "cannot be read")):
        error = run(path).exception
        assert isinstance(error, PromptlintError)
        assert word in str(error)


def test_a_line_that_holds_no_request_is_unreadable_not_an_exception() -> None:
    assert isinstance(read_line(b"\xff\xfe", "f:1"), Unreadable)


def test_text_tells_rows_faults_and_totals(record: Any) -> None:
    text = run(record(CLOCKED)).stdout

    assert "diverged from 0" in text
    assert "error: KV101 clock-first" in text
    assert "hit rate: predicted 0.0%, reported 0.0%" in text
    assert "tokens counted with tiktoken" in text


def test_secrets_of_a_recording_reach_no_output(record: Any) -> None:
    line = {**CLOCKED[0], "path": "/v1/chat/completions?key=SECRET-1"}
    line["headers"] = {"host": OPENAI, "authorization": "Bearer SECRET-2", "cookie": "SECRET-3"}
    path = record([line])

    for result in (run(path), run(path, "--output-format", "json")):
        assert "SECRET" not in result.output


def test_a_hit_that_the_provider_did_not_honour_is_a_verdict_of_its_own(record: Any) -> None:
    lines = [chat(9.0 * n, [system(R), user(f"Q{n}")], OPENAI, usage=usage(1500, 0)) for n in range(2)]

    report = told(record(lines))
    assert "not-honoured" == report["exchanges"][1]["hit_verdict"]
    assert 1 == report["totals"]["hits_not_honoured"]
    assert "not honoured" in run(record(lines)).stdout


def result_of(lines: list[dict[str, Any]], path: Path) -> Any:
    path.write_text("\n".join(json.dumps(line) for line in lines))
    exchanges, _unreadable, _ = read_all([path])
    return replay(exchanges)


def test_rewriting_moves_what_changes_behind_and_keeps_every_character(tmp_path: Path) -> None:
    result = result_of(CLOCKED, tmp_path / "t.jsonl")

    for before, after in zip(result.observations, rewrite(result.observations), strict=True):
        assert after.request.pieces[1].text.startswith("Rule 1.")
        assert sorted(before.exchange.request.text) == sorted(after.request.text.replace("\n", "", 1))


def test_rewriting_sorts_tools_and_keys(tmp_path: Path) -> None:
    lines = [
        chat(n, [system(R), user("hi")], OPENAI, tools=[tool(x, schema=s) for x in names])
        for n, (names, s) in enumerate(((("b", "a"), {"x": 1, "y": 2}), (("a", "b"), {"y": 2, "x": 1})))
    ]
    first, second = rewrite(result_of(lines, tmp_path / "t.jsonl").observations)

    assert first.request.pieces == second.request.pieces or [p.text for p in first.request.pieces] == [
        p.text for p in second.request.pieces
    ]


@pytest.mark.parametrize(
    ("lines", "engine"),
    [
        (CLOCKED, "as recorded"),
        (CLOCKED, "vllm"),
        (CLOCKED, "sglang"),
        (
            [claude(9.0 * n, [block(f"It is 10:00:0{n}. {R}", marked=True)], [user(f"Q{n}")]) for n in range(3)],
            "as recorded",
        ),
    ],
    ids=["OpenAI", "vLLM", "SGLang", "Anthropic"],
)
def test_the_fixes_give_hits(lines: list[dict[str, Any]], engine: str, tmp_path: Path) -> None:
    rows = compare_fixes(result_of(lines, tmp_path / "t.jsonl"))
    row = next(row for row in rows if row.engine == engine)

    assert row.before.hit_rate < 0.05
    assert row.after.hit_rate > 0.5


def test_a_small_pool_keeps_nothing(tmp_path: Path) -> None:
    rows = compare_fixes(result_of(CLOCKED, tmp_path / "t.jsonl"), (500, None))

    by_capacity = {row.capacity_tokens: row.after.hit_tokens for row in rows if row.engine == "vllm"}
    assert by_capacity[500] == 0
    assert (by_capacity[None] or 0) > 0


def test_requests_that_are_right_lose_nothing_by_rewriting(tmp_path: Path) -> None:
    history = [user("A?"), assistant("B, at length and in detail."), user("C?")]
    lines = [chat(0, [system(R), history[0]]), chat(9, [system(R), *history])]
    row = next(r for r in compare_fixes(result_of(lines, tmp_path / "t.jsonl")) if r.engine == "vllm")

    assert row.after.hit_tokens >= row.before.hit_tokens


@pytest.fixture
def engine() -> Iterator[str]:
    """An engine on loopback that reports what its block cache of 16 tokens gives back."""
    seen: list[str] = []

    class Engine(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            text = json.dumps(body["messages"])
            hit = 1024 if text in seen else 0
            seen.append(text)
            answer = {
                "object": "chat.completion",
                "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
                "usage": {
                    "prompt_tokens": 1040,
                    "completion_tokens": 1,
                    "prompt_tokens_details": {"cached_tokens": hit},
                },
            }
            raw = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_validating_tells_predicted_beside_reported(record: Any, engine: str) -> None:
    path = record([chat(0, [system(R), user("Hi")]), chat(1, [system(R), user("Hi")])])

    report = told(path, "--validate", engine, "--provider", "vllm", "--model", "m")
    first, second = report["requests"]
    assert (0, 0) == (first["predicted_hit_tokens"], first["reported_hit_tokens"])
    assert 1024 == second["reported_hit_tokens"]
    assert second["predicted_hit_tokens"] > 0
    assert 2 == report["compared"]


def test_an_engine_that_is_not_there_is_a_sentence(record: Any) -> None:
    error = run(record(CLOCKED), "--validate", "http://127.0.0.1:9").exception

    assert isinstance(error, PromptlintError)
    assert "cannot be reached" in str(error)


def test_usage_of_messages_adds_up_to_the_whole_prompt(tmp_path: Path) -> None:
    line = claude(0, [block(R, marked=True)], [user("Hi")], usage=claude_usage(4, 900, 100, 7))
    report = render_json(result_of([line], tmp_path / "t.jsonl"))

    exchange = report["exchanges"][0]
    names = ("prompt_tokens", "reported_hit_tokens", "reported_written_tokens", "reported_computed_tokens")
    assert (1004, 100, 900, 4) == tuple(exchange[name] for name in names)
    assert ANTHROPIC == line["headers"]["host"]


def test_control_characters_of_the_traffic_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(chat(0, [user("Hi")], model="m\x1b[31mred\x07")) + "\n")

    result = CliRunner().invoke(command, [str(path), "--isolated"])

    assert "m\\x1b[31mred\\x07" in result.output
    assert "\x1b" not in result.output
