"""Prometheus metrics of the proxy. Every label is bounded: what comes after the first values is called `other`."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.registry import Collector

from promptlint_core import __version__
from promptlint_core.prompt import BoundKind
from promptlint_proxy.latency_families import LatencyFamily
from promptlint_proxy.objectives import Objective

if TYPE_CHECKING:
    from collections.abc import Iterable

    from promptlint_proxy.analyst import Measured
    from promptlint_proxy.capture import Pulse
    from promptlint_rules.traffic import Memory

MOST_VALUES = 50
MOST_PAIRS = 100
"""Of provider and model."""
MOST_GROUPS = 200
"""Of provider, model and prompt group: some ten series each."""
OTHER = "other"
HIT_SHARES = ((0.0, "0"), (0.25, "0-25%"), (0.5, "25-50%"), (0.75, "50-75%"), (1.0, "75-100%"))
GROUP = ("provider", "model", "group")
NO_MODEL = "none"


class BoundedLabel:
    """Lets the first values through.

    >>> label = BoundedLabel(1)
    >>> label.of("a"), label.of("b"), label.of("a")
    ('a', 'other', 'a')
    """

    def __init__(self, most: int = MOST_VALUES) -> None:
        self._most = most
        self._known: set[str] = set()

    def of(self, value: str | None) -> str:
        text = value or NO_MODEL
        if text in self._known:
            return text
        if len(self._known) >= self._most:
            return OTHER
        self._known.add(text)
        return text


class BoundedLabels:
    """Bounds whole combinations, not only each label: fifty models in fifty groups would be 2,500 of them.

    >>> labels = BoundedLabels(most_pairs=2, most_groups=2)
    >>> [labels.of("p", "m", "g"), labels.of("p", "m", "h"), labels.of("p", "m", "i"), labels.of("p", "n", "g")]
    [('p', 'm', 'g'), ('p', 'm', 'h'), ('p', 'm', 'other'), ('p', 'n', 'other')]
    >>> labels.of("q", "m", "g")
    ('q', 'other', 'other')
    """

    def __init__(self, most_pairs: int = MOST_PAIRS, most_groups: int = MOST_GROUPS) -> None:
        self._most_pairs, self._most_groups = most_pairs, most_groups
        self._provider, self._model, self._group = (BoundedLabel() for _ in range(3))
        self._pairs: set[tuple[str, str]] = set()
        self._groups: set[tuple[str, str, str]] = set()

    def of(self, provider: str | None, model: str | None, group: str | None) -> tuple[str, str, str]:
        pair = (self._provider.of(provider), self._model.of(model))
        if pair not in self._pairs:
            if len(self._pairs) >= self._most_pairs:
                return (pair[0], OTHER, OTHER)
            self._pairs.add(pair)
        whole = (*pair, self._group.of(group))
        if whole not in self._groups:
            if len(self._groups) >= self._most_groups:
                return (*pair, OTHER)
            self._groups.add(whole)
        return whole


class _Totals(Collector):
    """Counters that are kept elsewhere: the proxy's own, and failures by place."""

    def __init__(self, name: str, documentation: str, label: str) -> None:
        self._name, self._documentation, self._label = name, documentation, label
        self.values: Mapping[str, int] = {}

    def describe(self) -> Iterable[CounterMetricFamily]:
        yield CounterMetricFamily(self._name, self._documentation, labels=[self._label])

    def collect(self) -> Iterable[CounterMetricFamily]:
        family = CounterMetricFamily(self._name, self._documentation, labels=[self._label])
        for value, count in sorted(self.values.items()):
            family.add_metric([value], count)
        yield family


class Metrics:
    """All metrics in a registry of their own."""

    def __init__(self, objectives: Sequence[Objective] = (), pool_bytes: int | None = None) -> None:
        self.registry = CollectorRegistry()
        self._objectives = objectives
        self._labels = BoundedLabels()
        self._api = BoundedLabel()
        self._errors = BoundedLabel()
        self._pool_bytes = pool_bytes
        self._proxy_errors: Tally[str] = Tally()
        self._own_errors: Tally[str] = Tally()
        self._add_request_metrics()
        self._add_latency_metrics()
        self._add_memory_metrics()
        self._add_own_metrics()
        if pool_bytes:
            self.kv_pool.set(pool_bytes)

    def _add_request_metrics(self) -> None:
        self.requests = self._counter(
            "requests", "Requests that asked a model.", ("provider", "api", "model", "status")
        )
        self.errors = self._counter("request_errors", "Requests without a whole, good answer.", ("provider", "error"))
        self.query_tokens = self._counter("query_tokens", "Prompt tokens looked up.", (*GROUP, "source"))
        self.hit_tokens = self._counter(
            "hit_tokens", "Prompt tokens read from the prefix cache; predicted and reported apart.", (*GROUP, "source")
        )
        self.prompt_tokens = self._counter("prompt_tokens", "Prompt tokens as reported, by class.", (*GROUP, "class"))
        self.output_tokens = self._counter("output_tokens", "Output tokens as reported.", GROUP)
        self.verdicts = self._counter(
            "comparisons", "Requests by how they continue the earlier one.", (*GROUP, "verdict")
        )
        self.divergences = self._counter(
            "divergences", "Requests that diverged, by the rule that names why.", ("rule", "group")
        )
        self.tokens_behind = self._counter(
            "tokens_behind_divergence", "Tokens read again for nothing behind a divergence.", ("rule", "group")
        )
        self.findings = self._counter("findings", "Findings of the live rules, new faults only.", ("rule", "severity"))
        self.honoured = self._counter(
            "predicted_hits", "Requests whose predicted hit was honoured, or not.", ("provider", "model", "outcome")
        )
        self.prediction_error = self._counter(
            "prediction_error_tokens", "Predicted minus reported hit tokens.", ("provider", "model", "direction")
        )
        self.unreported = self._counter(
            "unreported_usage", "Answers without usage: their hits are unknown.", ("provider", "model")
        )
        self.unbounded = self._counter("unbounded_requests", "Requests that set no bound on output.", GROUP)
        self.cut_by_bound = self._counter("outputs_at_bound", "Outputs that ended at their bound.", GROUP)

    def _add_latency_metrics(self) -> None:
        self.ttft = self._latency(
            "ttft", "Request sent to first generated content.", ("provider", "model", "hit_share")
        )
        self.group_ttft = self._latency("group_ttft", "Time to first generated content by prompt group.", ("group",))
        self.first_byte = self._latency("first_byte", "Request sent to first byte.", ("provider", "model"))
        self.itl = self._latency("itl", "Gaps between output tokens.", ("provider", "model"))
        self.group_itl = self._latency("group_itl", "Gaps between output tokens by prompt group.", ("group",))
        self.event_gap = self._latency("event_gap", "Gaps between stream events with content.", ("provider", "model"))
        self.e2e = self._latency("e2e", "Request sent to last byte.", ("provider", "model"))
        self.added = self._latency("added_latency", "Time that the proxy itself added.", ("side",))
        self.inside = self._counter(
            "objective_requests", "Requests inside and outside an objective.", ("objective", "group", "inside")
        )

    def _add_memory_metrics(self) -> None:
        self.kv_request = Histogram(
            "promptlint_kv_request_bytes",
            "Projected KV memory of one request.",
            registry=self.registry,
            buckets=[2.0**power for power in range(20, 41, 2)],
        )
        self.kv_in_flight = self._gauge(
            "kv_in_flight_bytes", "Projected KV memory of requests in flight, shared blocks once."
        )
        self.kv_pool = self._gauge("kv_pool_bytes", "Configured KV pool.")
        self.kv_load = self._gauge("kv_pool_load_ratio", "Projected KV memory in flight as a share of the pool.")
        self.overcommitted = self._counter(
            "kv_overcommitted_requests", "Requests that started when the pool would not hold all."
        )

    def _add_own_metrics(self) -> None:
        self.in_flight = self._gauge("requests_in_flight", "Requests between client and upstream.")
        self.queue_depth = self._gauge("queue_depth", "Captures that wait for the analysis.")
        self.queue_bytes = self._gauge("queue_bytes", "Bytes that wait for the analysis.")
        self._dropped = _Totals("promptlint_dropped_analyses", "Captures dropped for a full queue.", "reason")
        self._actions = _Totals("promptlint_actions", "Changes made to requests on order.", "action")
        self._failures = _Totals(
            "promptlint_internal_errors", "Exceptions in the tool itself; clients saw none.", "where"
        )
        for totals in (self._dropped, self._actions, self._failures):
            self.registry.register(totals)
        self._lost_records = _Totals("promptlint_lost_records", "Rows of records that the disk did not take.", "reason")
        self.registry.register(self._lost_records)
        self.waiting_records = self._gauge("waiting_records", "Rows of records that are not written yet.")
        self._gauge("build_info", "Version.", ("version",)).labels(__version__).set(1)

    def _counter(self, name: str, documentation: str, labels: Sequence[str] = ()) -> Counter:
        return Counter(f"promptlint_{name}", documentation, labels, registry=self.registry)

    def _gauge(self, name: str, documentation: str, labels: Sequence[str] = ()) -> Gauge:
        return Gauge(f"promptlint_{name}", documentation, labels, registry=self.registry)

    def _latency(self, name: str, documentation: str, labels: Sequence[str]) -> LatencyFamily:
        family = LatencyFamily(f"promptlint_{name}_seconds", documentation, labels)
        self.registry.register(family)
        return family

    def exposition(self) -> bytes:
        return generate_latest(self.registry)

    def take(self, measured: Measured) -> None:
        """Count one exchange."""
        observation = measured.observation
        request, response = observation.exchange.request, observation.exchange.response
        group = self._labels.of(request.provider, request.model, measured.group)
        provider, model = group[:2]
        status = str(response.status) if response.status is not None else "none"
        self.requests.labels(provider, self._api.of(request.api), model, status).inc()
        if response.error or (response.status or 0) >= 400:
            self.errors.labels(provider, self._errors.of(response.error or f"http_{response.status}")).inc()
        if request.bound.kind in (BoundKind.ABSENT, BoundKind.UNLIMITED) and request.api != "embeddings":
            self.unbounded.labels(*group).inc()
        if response.finish_reason in ("length", "max_tokens", "max_output_tokens", "MAX_TOKENS"):
            self.cut_by_bound.labels(*group).inc()
        self._take_usage(measured, group)
        self._take_comparison(measured, group)
        self._take_latency(measured, provider, model, group[2])

    def _take_usage(self, measured: Measured, group: tuple[str, str, str]) -> None:
        observation = measured.observation
        usage = observation.exchange.response.usage
        prediction = observation.prediction
        seen = observation.seen
        if prediction is not None and prediction.hit_tokens is not None and not seen.failed:
            self.query_tokens.labels(*group, "predicted").inc(prediction.prompt_tokens or seen.prompt_tokens)
            self.hit_tokens.labels(*group, "predicted").inc(prediction.hit_tokens)
        if usage is None:
            if not seen.failed:
                self.unreported.labels(*group[:2]).inc()
            return
        if usage.hit_tokens is not None:
            self.query_tokens.labels(*group, "reported").inc(usage.prompt_tokens or 0)
            self.hit_tokens.labels(*group, "reported").inc(usage.hit_tokens)
        for name, tokens in (
            ("hit", usage.hit_tokens), ("written", usage.written_tokens), ("computed", usage.computed_tokens)
        ):  # fmt: skip
            if tokens:
                self.prompt_tokens.labels(*group, name).inc(tokens)
        if usage.output_tokens:
            self.output_tokens.labels(*group).inc(usage.output_tokens)
        if observation.honoured is not None:
            self.honoured.labels(*group[:2], observation.honoured).inc()
            assert prediction is not None
            difference = (prediction.hit_tokens or 0) - (usage.hit_tokens or 0)
            self.prediction_error.labels(*group[:2], "over" if difference > 0 else "under").inc(abs(difference))

    def _take_comparison(self, measured: Measured, group: tuple[str, str, str]) -> None:
        observation = measured.observation
        pair = measured.told
        verdict = str(pair.comparison.verdict) if pair else "first"
        self.verdicts.labels(*group, verdict).inc()
        if pair is not None and measured.is_fault:
            rule = measured.rule or "none"
            self.divergences.labels(rule, group[2]).inc()
            self.tokens_behind.labels(rule, group[2]).inc(pair.behind_tokens)
        for finding in observation.new_findings:
            self.findings.labels(finding.rule, str(finding.severity)).inc()

    def _take_latency(self, measured: Measured, provider: str, model: str, group: str) -> None:
        latency = measured.latency
        timing = latency.timing
        labels = (provider, model)
        if timing.ttft_s is not None:
            self.ttft.observe((*labels, hit_share(measured)), timing.ttft_s)
            self.group_ttft.observe((group,), timing.ttft_s)
        if timing.first_byte_s is not None:
            self.first_byte.observe(labels, timing.first_byte_s)
        if timing.e2e_s is not None:
            self.e2e.observe(labels, timing.e2e_s)
        total_s = sum(timing.gaps_s)
        self.itl.merge(labels, latency.itl_histogram, total_s)
        self.group_itl.merge((group,), latency.itl_histogram, total_s)
        self.event_gap.merge(labels, latency.event_gap_histogram, total_s)
        for side, delay_s in (
            ("request", measured.finished.request_delay_s), ("response", measured.finished.response_delay_s)
        ):  # fmt: skip
            if delay_s is not None:
                self.added.observe((side,), delay_s)
        for objective in self._objectives:
            inside = objective.is_inside(latency)
            if inside is not None:
                self.inside.labels(objective.name, group, str(inside).lower()).inc()

    def set_memory(self, memory: Memory) -> None:
        """A request has started."""
        if memory.request_bytes is not None:
            self.kv_request.observe(memory.request_bytes)
        in_flight_bytes = memory.in_flight_bytes or 0
        self.set_in_flight_bytes(in_flight_bytes)
        if self._pool_bytes and in_flight_bytes > self._pool_bytes:
            self.overcommitted.inc()

    def set_in_flight_bytes(self, in_flight_bytes: int) -> None:
        self.kv_in_flight.set(in_flight_bytes)
        if self._pool_bytes:
            self.kv_load.set(in_flight_bytes / self._pool_bytes)

    def set_proxy(self, pulse: Pulse) -> None:
        """What the proxy says of itself."""
        self.in_flight.set(pulse.in_flight)
        self.queue_depth.set(pulse.queue_depth)
        self.queue_bytes.set(pulse.queue_bytes)
        self._dropped.values = {"queue_full": pulse.dropped}
        self._actions.values = pulse.actions
        self._proxy_errors = Tally(pulse.errors)
        self._failures.values = self._proxy_errors + self._own_errors

    def set_failures(self, counts: Mapping[str, int]) -> None:
        """Exceptions of the analysis so far."""
        self._own_errors = Tally(counts)
        self._failures.values = self._proxy_errors + self._own_errors

    def set_records(self, lost: int, waiting: int) -> None:
        """Rows that could not be written."""
        self._lost_records.values = {"disk": lost}
        self.waiting_records.set(waiting)


def hit_share(measured: Measured) -> str:
    """Class of the share of the prompt that was read from the cache: as reported, else as predicted, else unknown."""
    usage = measured.observation.exchange.response.usage
    prediction = measured.observation.prediction
    hit = usage.hit_tokens if usage and usage.hit_tokens is not None else prediction.hit_tokens if prediction else None
    prompt_tokens = measured.observation.seen.prompt_tokens
    if hit is None or not prompt_tokens:
        return "unknown"
    share = hit / prompt_tokens
    return next(name for limit, name in HIT_SHARES if share <= limit or limit == 1.0)
