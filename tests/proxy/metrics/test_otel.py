"""What is exported follows the conventions for generative AI and holds no text."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from promptlint_proxy.analyst import Analyst
from promptlint_proxy.capture import Finished, Started
from promptlint_proxy.otel import OtelExporter
from promptlint_proxy.settings import ProxySettings

REQUEST = b'{"model":"m","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"a secret question"}]}'
EVENTS = [
    (0.2, b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'),
    (0.5, b'data: {"choices":[{"index":0,"delta":{"content":"an answer"}}]}\n\n'),
    (0.6, b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'),
    (0.6, b'data: {"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":64}}}\n\n'),
]  # fmt: skip


@pytest.fixture
def exported() -> tuple[Any, dict[str, Any]]:
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    analyst = Analyst(ProxySettings(metrics_listen="off"))
    exporter = analyst._exporter = OtelExporter(spans, reader)
    analyst.take(Started("1", 1_790_000_000.0, "POST", "127.0.0.1:8000", "/v1/chat/completions", (), REQUEST))
    headers = (("content-type", "text/event-stream"),)
    analyst.take(Finished("1", 200, headers, EVENTS, first_byte_s=0.2, e2e_s=0.6))
    exporter._traces.force_flush()
    data = reader.get_metrics_data()
    metrics = {m.name: m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics}
    span = spans.get_finished_spans()[0]
    analyst.close()
    return span, metrics


def test_a_span_has_the_times_of_the_exchange(exported: tuple[Any, dict[str, Any]]) -> None:
    span, _ = exported
    assert span.name == "chat m"
    assert span.end_time - span.start_time == 600_000_000
    assert span.events[0].timestamp - span.start_time == 500_000_000


def test_attributes_and_metrics_have_the_conventions_names(exported: tuple[Any, dict[str, Any]]) -> None:
    span, metrics = exported
    assert span.attributes["gen_ai.operation.name"] == "chat"
    assert span.attributes["gen_ai.provider.name"] == "vllm"
    assert span.attributes["gen_ai.usage.input_tokens"] == 90
    assert span.attributes["gen_ai.usage.cache_read.input_tokens"] == 64
    assert span.attributes["promptlint.verdict"] == "first"
    assert metrics["gen_ai.client.operation.duration"].data.data_points[0].sum == pytest.approx(0.6)
    assert metrics["gen_ai.server.time_to_first_token"].data.data_points[0].sum == pytest.approx(0.5)
    assert {point.attributes["gen_ai.token.type"] for point in metrics["gen_ai.client.token.usage"].data.data_points} == {
        "input", "output",
    }  # fmt: skip


def test_no_text_is_exported(exported: tuple[Any, dict[str, Any]]) -> None:
    span, metrics = exported
    told = span.to_json() + repr(metrics)
    assert "secret question" not in told
    assert "an answer" not in told
