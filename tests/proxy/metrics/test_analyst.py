"""The analysis takes captures in any order and of any quality, and its own tables stay bounded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from promptlint_proxy import analyst as analyst_module
from promptlint_proxy import metrics, overview, recorder
from promptlint_proxy.analyst import Analyst
from promptlint_proxy.capture import ChunkLog, Finished, Gone, Started
from promptlint_proxy.records import passages
from promptlint_proxy.records.read import view
from promptlint_proxy.settings import ProxySettings
from promptlint_rules.size.passages import Passages

CHAT = "/v1/chat/completions"
ANSWER = json.dumps(
    {
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "an answer"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 90, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 64}},
    }
).encode()


def started(number: int, system: str = "You are a helper.", **fields: Any) -> Started:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": f"question {number}"}]
    body = json.dumps({"model": f"m{number}", "messages": messages, "max_tokens": 9}).encode()
    return Started(str(number), 1_790_000_000.0 + number, "POST", "127.0.0.1:8000", CHAT, (), body, **fields)


def finished(number: int, body: bytes = ANSWER, **fields: Any) -> Finished:
    headers = (("content-type", "application/json"),)
    return Finished(str(number), 200, headers, [(0.1, body)], first_byte_s=0.1, e2e_s=0.2, **fields)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def analyst(store: Path) -> Iterator[Analyst]:
    made = Analyst(ProxySettings(store=store, metrics_listen="off", kv_model="Llama-3.1-8B", upstream=("http://a",)))
    yield made
    made.close()


def rows(analyst: Analyst, store: Path) -> list[dict[str, Any]]:
    analyst.close()
    return view(store).table("exchanges").to_pylist()


def test_exchanges_are_analysed_in_the_order_of_their_start(analyst: Analyst, store: Path) -> None:
    for number in (1, 2, 3):
        analyst.take(started(number))
    for number in (3, 2, 1):
        analyst.take(finished(number))
    assert [row["exchange_id"] for row in rows(analyst, store)] == ["1", "2", "3"]


def test_what_never_ends_or_never_began_leaves_nothing_behind(analyst: Analyst, store: Path) -> None:
    analyst.take(finished(9))
    analyst.take(started(1))
    analyst.take(Gone("1"))
    analyst.take(started(2))
    analyst.take(finished(2))
    assert analyst._waiting == {}
    assert analyst._memory is not None
    assert analyst._memory.in_flight_bytes == 0
    assert [row["exchange_id"] for row in rows(analyst, store)] == ["2"]


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe", b"[1]", b'{"messages": 5}', b'{"model": {}}', b'{"messages":[{"content":[[]]}]}']
)
def test_bodies_that_cannot_be_read_are_recorded_without_a_prompt(body: bytes, analyst: Analyst, store: Path) -> None:
    request = started(1)
    request.body = body
    analyst.take(request)
    analyst.take(finished(1, b"no json"))
    assert not analyst.failures.counts
    told = rows(analyst, store)
    assert [row["status"] for row in told] == [200]
    assert told[0]["output_tokens"] is None


def test_a_failure_of_the_analysis_is_counted_and_the_next_goes_on(
    analyst: Analyst, store: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: object) -> None:
        raise ValueError("text of a prompt")

    with monkeypatch.context() as patch:
        patch.setattr(analyst.analysis, "observe", broken)
        for number in (1, 2):
            analyst.take(started(number))
            analyst.take(finished(number))
    analyst.take(started(3))
    analyst.take(finished(3))
    assert analyst.failures.counts == {"finished:ValueError": 2}
    assert "text of a prompt" not in caplog.text
    assert len(caplog.records) == 1
    assert [row["exchange_id"] for row in rows(analyst, store)] == ["3"]


@pytest.mark.parametrize(("error", "status"), [("unreachable", None), ("cut", 200), ("client_closed", 200)])
def test_errors_are_recorded_with_what_is_known(error: str, status: int | None, analyst: Analyst, store: Path) -> None:
    analyst.take(started(1))
    analyst.take(Finished("1", status, (), [], error=error, e2e_s=0.2))
    told = rows(analyst, store)[0]
    assert (told["error"], told["status"]) == (error, status)
    assert told["reported_hit_tokens"] is None
    assert told["predicted_hit_tokens"] is not None


def test_labels_name_team_environment_and_route(analyst: Analyst, store: Path) -> None:
    analyst.take(started(1, labels=(("team", "search"), ("environment", "test"), ("route", "triage")), caller="k"))
    analyst.take(started(2, caller="k", upstream="local"))
    analyst.take(finished(1))
    analyst.take(finished(2))
    told = [(row["team"], row["environment"], row["route"]) for row in rows(analyst, store)]
    assert told == [("search", "test", "triage"), ("k", None, f"local{CHAT}")]


@pytest.mark.parametrize("recorded", [False, True])
def test_text_is_recorded_only_on_order(recorded: bool, store: Path) -> None:
    made = Analyst(ProxySettings(store=store, metrics_listen="off", record_text=recorded))
    made.take(started(1, "You are a very special helper."))
    made.take(finished(1))
    told = rows(made, store)[0]
    assert ("special" in (told["prompt_text"] or "")) is recorded
    assert ("an answer" in (told["output_text"] or "")) is recorded


def test_every_table_of_ours_is_bounded(analyst: Analyst, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy runs for months: models, groups and requests that never end must not add up."""
    monkeypatch.setattr(analyst_module, "MAX_OPEN", 20)
    monkeypatch.setattr(overview, "MOST_GROUPS", 10)
    monkeypatch.setattr(recorder, "MOST_KNOWN", 15)
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
    for number in range(120):
        system = " ".join(f"{words[(number * 7 + index) % 12]}{number}" for index in range(60))
        analyst.take(started(number, system))
        if number % 2:
            analyst.take(finished(number))
    assert not analyst.failures.counts
    assert len(analyst._waiting) <= 20
    assert len(analyst.overview._groups) <= 10
    assert analyst.recorder is not None
    assert len(analyst.recorder._ids) <= 15
    analyst.close()
    models = {
        line.split('model="')[1].split('"')[0]
        for line in analyst.metrics.exposition().decode().splitlines()
        if 'model="' in line
    }
    assert len(models) <= metrics.MOST_VALUES + 1
    assert metrics.OTHER in models


def test_a_body_of_any_length_keeps_its_head_and_its_tail() -> None:
    log = ChunkLog(1000)
    for number in range(400):
        log.add(float(number), bytes([number % 256]) * 1000)
    taken = log.taken()
    assert taken[0] == (0.0, b"\0" * 1000)
    assert taken[-1][0] == 399.0
    assert sum(len(chunk) for _, chunk in taken) + log.skipped_bytes == 400_000
    assert log.kept_bytes <= 1000 + 66_000


PARAGRAPHS = [f"The {word} depot opens at eight and closes at noon on all days of the week." for word in "abcdefgh"]
NUMBERED = "\n".join(f"[{n}] {text}" for n, text in enumerate(PARAGRAPHS, start=1))
RETRIEVED: dict[str, tuple[str, int | None]] = {
    "numbered passages": (f"Answer from the passages.\n{NUMBERED}\nQuestion: when?", 8),
    "fenced passages": ("\n".join(f"<document>{text}</document>" for text in PARAGRAPHS[:3]) + "\nWhen?", 3),
    "one block": (f"<context>\n{' '.join(PARAGRAPHS)}\n</context>\nQuestion: when?", 1),
    "plain rules": (f"Follow the rules. {' '.join(PARAGRAPHS)}", None),
    "one citation": (f"See [1] for more. {' '.join(PARAGRAPHS)}", None),
    "a year and a version": (f"In [2024] we wrote release [3]. {' '.join(PARAGRAPHS)}", None),
}


@pytest.mark.parametrize("name", RETRIEVED)
def test_retrieved_passages_are_recorded(name: str, analyst: Analyst, store: Path) -> None:
    text, count = RETRIEVED[name]
    analyst.take(started(1, text))
    analyst.take(finished(1))
    (row,) = rows(analyst, store)
    assert row["retrieved_passages"] == count
    if count is None:
        assert row["retrieved_tokens"] is None
    else:
        # The whole prompt is reported as 90 tokens; all but question and instruction is retrieved.
        assert 60 < row["retrieved_tokens"] < 90


def test_the_passages_of_a_text_are_looked_for_once_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def look(text: str) -> Passages:
        looked.append(text)
        return Passages(2, 9)

    monkeypatch.setattr(passages, "passages_in", look)
    seen = passages.SeenPassages(most=3)
    texts = [NUMBERED + str(number) for number in range(9)]
    for text in (texts[0], *texts, texts[-1]):
        assert seen.of(text) == Passages(2, 9)
    assert looked == texts
    assert len(seen) == 3
    assert seen.of("short") == Passages()


HALF = "\\ud83d"
"""Half of an emoji, as JSON has it: what a client sends that cuts a text by its code units."""


def test_half_an_emoji_anywhere_is_analysed_recorded_and_told(analyst: Analyst, store: Path) -> None:
    texts = (f"It is 10:00:0{n}. {HALF} " + "Be kind. " * 90 for n in range(2))
    for number, text in enumerate(texts):
        request = started(number, labels=(("team", "d\udce9sk"),))
        messages = f'[{{"role": "system", "content": "{text}"}}, {{"role": "user", "content": "{HALF}"}}]'
        request.body = f'{{"model": "m{HALF}", "max_tokens": 9, "messages": {messages}}}'.encode()
        request.path = "/caf\udce9" + CHAT
        request.headers = (("x-session-id", "\udce9"),)
        analyst.take(request)
        analyst.take(finished(number, ANSWER.replace(b"an answer", HALF.encode())))
    assert not analyst.failures.counts
    assert b"m\xef\xbf\xbd" in analyst.metrics.exposition()
    assert {finding.rule for finding in analyst.analysis.findings()} >= {"KV101"}
    assert [row["team"] for row in rows(analyst, store)] == ["d\ufffdsk"] * 2
