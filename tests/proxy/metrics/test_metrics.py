"""Metrics have bounded labels and the names that dashboard and alerts ask for; the parts around them keep their word."""

from __future__ import annotations

import io
import json
import re
import threading
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from promptlint_cli.commands.proxy import settings_of
from promptlint_core.errors import PromptlintError
from promptlint_core.exchange import Piece, PieceKind, Request, Timing
from promptlint_core.histogram import histogram_of
from promptlint_core.prompt import Bound, BoundKind, Part
from promptlint_proxy.capture import Finished, Gone, Pulse, Started
from promptlint_proxy.findings_log import FindingsLog
from promptlint_proxy.health import SILENT_S, Status
from promptlint_proxy.kv_in_flight import KvInFlight, kv_in_flight
from promptlint_proxy.latency_families import LatencyFamily
from promptlint_proxy.metrics import BoundedLabel, Metrics
from promptlint_proxy.objectives import parse_objectives
from promptlint_proxy.routes import parse_routes, parse_upstream
from promptlint_proxy.settings import ProxySettings, parse_address, parse_bytes, read_settings
from promptlint_proxy.start_order import StartOrder
from promptlint_proxy.timing import Latency
from promptlint_proxy.worker import Worker
from promptlint_rules.base import Severity, WireFinding

DEPLOYMENT = Path(__file__).parents[3] / "examples" / "deployment"
SUFFIXES = ("", "_total", "_bucket", "_sum", "_count")


def exposed() -> set[str]:
    return {f"{family.name}{suffix}" for family in Metrics(pool_bytes=1).registry.collect() for suffix in SUFFIXES} | {
        f"{family.name}{suffix}" for family in _described() for suffix in SUFFIXES
    }


def _described() -> list[Any]:
    collectors = Metrics().registry._collector_to_names
    return [family for collector in collectors for family in collector.describe()]


@pytest.mark.parametrize("name", ["grafana-dashboard.json", "prometheus-alerts.yaml"])
def test_every_metric_that_is_asked_for_exists(name: str) -> None:
    asked = set(re.findall(r"promptlint_[a-z0-9_]+", (DEPLOYMENT / name).read_text()))
    assert len(asked) >= 8
    assert asked - exposed() == set()


def test_the_deployment_files_are_well_formed() -> None:
    dashboard = json.loads((DEPLOYMENT / "grafana-dashboard.json").read_text())
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    alerts = yaml.safe_load((DEPLOYMENT / "prometheus-alerts.yaml").read_text())["groups"][0]["rules"]
    assert all({"alert", "expr", "annotations"} <= rule.keys() for rule in alerts)
    for name in ("docker-compose.yaml", "kubernetes-sidecar.yaml", "prometheus.yaml"):
        assert yaml.safe_load((DEPLOYMENT / name).read_text())
    settings = read_settings(DEPLOYMENT / "promptlint.toml")
    assert parse_routes(settings.upstream).find("", "/local/v1") is not None
    assert settings.actions.ask_usage


def test_labels_are_bounded() -> None:
    label = BoundedLabel(2)
    assert [label.of(value) for value in ("a", "b", "c", "a", None)] == ["a", "b", "other", "a", "other"]


def test_merged_latencies_are_exposed_as_a_histogram() -> None:
    family = LatencyFamily("x_seconds", "", ["model"])
    family.merge(("m",), histogram_of([0.01, 0.01, 2.0]), 2.02)
    family.observe(("m",), 0.2)
    samples = {(s.name, s.labels.get("le")): s.value for s in next(iter(family.collect())).samples}
    assert samples["x_seconds_bucket", "+Inf"] == samples["x_seconds_count", None] == 4
    assert samples["x_seconds_sum", None] == pytest.approx(2.22)
    assert samples["x_seconds_bucket", "0.015"] == 2
    assert samples["x_seconds_bucket", "1.0"] == 3


def test_an_objective_is_judged_by_the_request_s_own_gaps() -> None:
    ttft, itl = parse_objectives(["ttft=200ms", "itl=0.05s"])
    fast = Latency(Timing(0.0, ttft_s=0.1), tuple(histogram_of([0.01] * 100)))
    slow = Latency(Timing(0.0, ttft_s=0.3), tuple(histogram_of([0.01] * 90 + [0.2] * 10)))
    unknown = Latency(Timing(0.0))
    assert [ttft.is_inside(told) for told in (fast, slow, unknown)] == [True, False, None]
    assert [itl.is_inside(told) for told in (fast, slow, unknown)] == [True, False, None]


@pytest.mark.parametrize("spec", ["ttft", "tpot=1ms", "itl=fast", "ttft=200", ""])
def test_an_objective_that_cannot_be_read_is_a_sentence(spec: str) -> None:
    with pytest.raises(PromptlintError, match="write ttft=200ms"):
        parse_objectives([spec])


def finding(number: int) -> WireFinding:
    return WireFinding(f"KV{number}", "clock-first", Severity.ERROR, "a clock value changes", (0, 1), "system")


def test_findings_are_logged_at_a_bounded_rate() -> None:
    now, out = [0.0], io.StringIO()
    log = FindingsLog(out, lines_per_minute=2, clock=lambda: now[0], wall=lambda: 5.0)
    log.take(finding(number) for number in range(5))
    now[0] = 61.0
    log.take([finding(9)])
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["rule"] for line in lines] == ["KV0", "KV1", "KV9"]
    assert lines[-1]["suppressed_before"] == 3
    assert lines[0] | {"at": 5.0} == lines[0]


def test_a_starting_silent_or_draining_proxy_is_not_healthy() -> None:
    now = [0.0]
    status = Status(clock=lambda: now[0])
    assert status.health() == (503, {**status.health()[1], "status": "starting"})
    status.beat(Pulse(in_flight=3))
    assert status.health()[0] == 200
    now[0] = SILENT_S + 1
    assert status.health() == (503, {**status.health()[1], "status": "silent", "in_flight": 3})
    status.beat(Pulse(draining=True))
    assert status.health()[1]["status"] == "draining"


def test_exchanges_go_on_in_the_order_of_their_start() -> None:
    order: StartOrder[str] = StartOrder(max_wait_s=5.0)
    for key in "abcd":
        order.start(key)
    assert order.finish("b", "B", 0.0) == []
    assert order.finish("a", "A", 1.0) == ["A", "B"]
    assert order.finish("d", "D", 2.0) == []
    assert order.release(6.9) == []
    assert order.release(7.0) == ["D"]
    assert order.finish("c", "C", 9.0) == ["C"]
    order.start("e")
    order.start("f")
    order.finish("f", "F", 9.0)
    order.forget("e")
    assert order.release(9.0) == ["F"]
    order.start("g")
    order.start("h")
    order.finish("h", "H", 9.0)
    assert order.drain() == ["H"]


def request(bound: Bound, api: str = "chat") -> Request:
    return Request("vllm", api, "m", (Piece("system", "x", PieceKind.TEXT, Part.SYSTEM),), bound=bound)


@pytest.mark.parametrize(
    "asked",
    [
        request(Bound(BoundKind.ABSENT), "embeddings"),
        request(Bound(BoundKind.ABSENT), "unknown"),
        Request("vllm", "chat", "m", ()),
    ],
    ids=["embeddings", "unknown", "unreadable"],
)
def test_what_shows_no_prompt_holds_no_memory(asked: Request) -> None:
    memory = kv_in_flight(ProxySettings(kv_model="Llama-3.1-8B", kv_pool_bytes=2**30))
    assert memory is not None
    told = memory.start("a", [], 0, asked)
    assert told.request_bytes is None
    assert memory.in_flight_bytes == 0


def test_shared_blocks_in_flight_count_once() -> None:
    settings = ProxySettings(kv_model="Llama-3.1-8B", kv_pool_bytes=2**30)
    memory = kv_in_flight(settings)
    assert memory is not None
    block = 16 * 131_072
    bounded = request(Bound(BoundKind.LIMITED, 65))
    first = memory.start("a", [1, 2, 3, 4], 64, bounded)
    assert first.request_bytes == first.in_flight_bytes == 8 * block
    second = memory.start("b", [1, 2, 3, 9], 64, bounded)
    assert second.request_bytes == 8 * block
    assert second.in_flight_bytes == (16 - 3) * block
    memory.finish("a")
    assert memory.in_flight_bytes == 8 * block
    memory.finish("b")
    memory.finish("b")
    assert memory.in_flight_bytes == 0
    unbounded = memory.start("c", [], 64, request(Bound(BoundKind.ABSENT)))
    assert unbounded.request_bytes == 131_072 // 16 * block
    assert isinstance(memory, KvInFlight)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"gpu": "H100"}, "need the model"),
        ({"kv_model": "no-such-model"}, "no-such-model"),
    ],
)
def test_a_kv_model_that_is_not_known_is_a_sentence(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PromptlintError, match=sentence):
        kv_in_flight(ProxySettings(**values))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[proxy]\nupstreams = "x"', "did you mean upstream"),
        ("[proxy]\nlisten = 8080", "must be a string"),
        ("[proxy]\nrecord-text = 'yes'", "true or false"),
        ("[proxy]\nblock-size = 'x'", "whole number"),
        ("[proxy.actions]\ncap-output-token = 5", "did you mean cap-output-tokens"),
        ("[proxy", "is no TOML"),
        ("proxy = 5", "must be a table"),
    ],
)
def test_a_wrong_configuration_is_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "promptlint.toml"
    path.write_text(text)
    with pytest.raises(PromptlintError, match=sentence):
        read_settings(path)


def test_options_win_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(
        '[tool.promptlint.proxy]\nlisten = "127.0.0.1:1"\nkv-pool-bytes = "2GiB"\nstore = "s"\n'
        "[tool.promptlint.proxy.actions]\nsort-tools = true\n"
    )
    base = read_settings(path)
    assert base.store == tmp_path / "s"
    assert base.kv_pool_bytes == 2 * 2**30
    told = settings_of(base, {"listen": "127.0.0.1:2", "cap_output": 9, "upstream": (), "sort_tools": False})
    assert (told.listen, told.actions.cap_output_tokens, told.actions.sort_tools) == ("127.0.0.1:2", 9, True)
    assert tomllib.loads(path.read_text())


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("api.openai.com", "begins with http"),
        ("https://user:pass@host", "keys go into"),
        ("https://host/?key=1", "keys go into"),
        ("ftp://host", "begins with http"),
        ("https://host:99999", "port"),
    ],
)
def test_an_upstream_that_cannot_be_used_is_a_sentence_without_its_secrets(spec: str, sentence: str) -> None:
    with pytest.raises(PromptlintError, match=sentence) as caught:
        parse_upstream(spec)
    assert "pass" not in str(caught.value)
    assert "key=1" not in str(caught.value)


def test_two_upstreams_for_the_same_requests_are_refused() -> None:
    with pytest.raises(PromptlintError, match="two upstreams for all paths"):
        parse_routes(["http://a", "http://b"])
    routes = parse_routes(["/a=http://a", "/a/b=http://b"])
    assert [routes.find("", path) for path in ("/a/x", "/a/b/x", "/ab", "/a?x")] == [
        routes.upstreams[0], routes.upstreams[1], None, routes.upstreams[0],
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["8080", "x:y", "127.0.0.1:", "127.0.0.1:99999"])
def test_an_address_that_cannot_be_read_is_a_sentence(text: str) -> None:
    with pytest.raises(PromptlintError, match="HOST:PORT"):
        parse_address(text, "--listen")


@pytest.mark.parametrize(("text", "expected"), [("40GB", 40 * 10**9), ("40GiB", 40 * 2**30), ("1.5k", 1536), ("9", 9)])
def test_sizes_are_read(text: str, expected: int) -> None:
    assert parse_bytes(text) == expected


def started(key: str) -> Started:
    return Started(key, 0.0, "POST", "x", "/", (), b"")


def test_a_full_queue_drops_and_counts_and_small_messages_still_pass() -> None:
    taken: list[Any] = []
    worker = Worker(taken.extend, max_messages=2, max_bytes=100)
    assert worker.offer(started("a"), 60)
    assert not worker.offer(started("b"), 60)
    assert worker.offer(Finished("a"), 10)
    assert not worker.offer(started("c"), 1)
    assert worker.offer(Gone("a"), always=True)
    assert (worker.dropped, worker.depth, worker.queued_bytes) == (2, 3, 70)
    worker.start()
    worker.close()
    assert [message.id for message in taken] == ["a", "a", "a"]
    assert (worker.depth, worker.queued_bytes) == (0, 0)
    assert not worker.offer(started("d"), 1)


def test_a_sink_that_fails_ends_nothing() -> None:
    taken: list[Any] = []
    first = threading.Event()

    def sink(messages: Any) -> None:
        if not first.is_set():
            first.set()
            raise BrokenPipeError
        taken.extend(messages)

    worker = Worker(sink)
    worker.offer(started("a"), 10)
    worker.start()
    assert first.wait(5)
    worker.offer(started("b"), 10)
    worker.close()
    assert [message.id for message in taken] == ["b"]
    assert (worker.failed, worker.dropped) == (1, 1)
