"""OpenTelemetry export with the conventions for generative AI: one client span an exchange, and the token and latency
histograms. Where it goes is told by the usual OTEL_ environment variables. Needs the extra `otel`.

Names: semantic conventions for generative AI (`gen_ai.*`, state of 1.37); ours are `promptlint.*`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import SpanKind, Status, StatusCode

from promptlint_core import __version__

if TYPE_CHECKING:
    from promptlint_proxy.analyst import Measured

OPERATIONS = {
    "chat": "chat",
    "messages": "chat",
    "responses": "chat",
    "converse": "chat",
    "ollama_chat": "chat",
    "completions": "text_completion",
    "generate_content": "generate_content",
    "embeddings": "embeddings",
}
NANOSECONDS = 1_000_000_000

Value = str | int | float | bool


class OtelExporter:
    """Turns measured exchanges into spans and metrics; sends them in the background."""

    def __init__(self, spans: SpanExporter | None = None, reader: MetricReader | None = None) -> None:
        resource = Resource.create({"service.name": "promptlint-proxy", "service.version": __version__})
        self._traces = TracerProvider(resource=resource)
        self._traces.add_span_processor(BatchSpanProcessor(spans or OTLPSpanExporter()))
        self._tracer = self._traces.get_tracer("promptlint_proxy", __version__)
        self._metrics = MeterProvider(
            [reader or PeriodicExportingMetricReader(OTLPMetricExporter())], resource=resource
        )
        meter = self._metrics.get_meter("promptlint_proxy", __version__)
        self._tokens = meter.create_histogram("gen_ai.client.token.usage", "{token}", "Tokens used, by type.")
        self._duration = meter.create_histogram("gen_ai.client.operation.duration", "s", "Request to last byte.")
        self._first_token = meter.create_histogram(
            "gen_ai.server.time_to_first_token", "s", "Request to first generated content."
        )
        self._hits = meter.create_counter("promptlint.hit_tokens", "{token}", "Tokens read from the prefix cache.")

    def take(self, measured: Measured) -> None:
        """Export one exchange."""
        timing = measured.latency.timing
        labels = metric_attributes(measured)
        start_ns = int(timing.started_at * NANOSECONDS)
        span = self._tracer.start_span(
            f"{labels['gen_ai.operation.name']} {labels.get('gen_ai.request.model', '')}".strip(),
            kind=SpanKind.CLIENT,
            attributes=labels | span_attributes(measured),
            start_time=start_ns,
        )
        if timing.ttft_s is not None:
            first_ns = start_ns + int(timing.ttft_s * NANOSECONDS)
            span.add_event("promptlint.first_content", timestamp=first_ns)
        response = measured.observation.exchange.response
        if response.error or (response.status or 0) >= 400:
            span.set_status(Status(StatusCode.ERROR))
        span.end(start_ns + int((timing.e2e_s or 0.0) * NANOSECONDS))
        self._take_metrics(measured, labels)

    def close(self) -> None:
        """Send what is left."""
        self._traces.shutdown()
        self._metrics.shutdown()

    def _take_metrics(self, measured: Measured, labels: dict[str, Value]) -> None:
        timing = measured.latency.timing
        usage = measured.observation.exchange.response.usage
        prediction = measured.observation.prediction
        if timing.e2e_s is not None:
            self._duration.record(timing.e2e_s, labels)
        if timing.ttft_s is not None:
            self._first_token.record(timing.ttft_s, labels)
        if usage is not None:
            for kind, tokens in (("input", usage.prompt_tokens), ("output", usage.output_tokens)):
                if tokens is not None:
                    self._tokens.record(tokens, labels | {"gen_ai.token.type": kind})
            if usage.hit_tokens is not None:
                self._hits.add(usage.hit_tokens, labels | {"promptlint.source": "reported"})
        if prediction is not None and prediction.hit_tokens is not None:
            self._hits.add(prediction.hit_tokens, labels | {"promptlint.source": "predicted"})


def metric_attributes(measured: Measured) -> dict[str, Value]:
    """The attributes of low cardinality."""
    request = measured.observation.exchange.request
    response = measured.observation.exchange.response
    return _known(
        {
            "gen_ai.operation.name": OPERATIONS.get(request.api, request.api),
            "gen_ai.provider.name": request.provider,
            "gen_ai.request.model": request.model,
            "gen_ai.response.model": response.model,
            "error.type": response.error,
        }
    )


def span_attributes(measured: Measured) -> dict[str, Value]:
    """What is told of one exchange: counts and places, no text of prompt or answer."""
    observation = measured.observation
    request, response = observation.exchange.request, observation.exchange.response
    usage, prediction, told = response.usage, observation.prediction, measured.told
    return _known(
        {
            "server.address": request.host,
            "http.response.status_code": response.status,
            "gen_ai.request.max_tokens": request.bound.tokens,
            "gen_ai.request.choice.count": request.n if request.n > 1 else None,
            "gen_ai.response.finish_reasons": response.finish_reason,
            "gen_ai.usage.input_tokens": usage.prompt_tokens if usage else None,
            "gen_ai.usage.output_tokens": usage.output_tokens if usage else None,
            "gen_ai.usage.cache_read.input_tokens": usage.hit_tokens if usage else None,
            "gen_ai.usage.cache_creation.input_tokens": usage.written_tokens if usage else None,
            "promptlint.group": measured.group,
            "promptlint.predicted_hit_tokens": prediction.hit_tokens if prediction else None,
            "promptlint.verdict": str(told.comparison.verdict) if told else "first",
            "promptlint.divergence.path": told.path or None if told else None,
            "promptlint.divergence.rule": measured.rule,
            "promptlint.ttft_s": measured.latency.timing.ttft_s,
        }
    )


def _known(attributes: dict[str, Value | None]) -> dict[str, Value]:
    return {name: value for name, value in attributes.items() if value is not None}
