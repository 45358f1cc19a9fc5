"""Takes captures and tells what they show: records, metrics, findings. One object, called by one thread at a time."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from promptlint_core import tokens
from promptlint_core.exchange import Verdict
from promptlint_core.prefix_caches.block_hashes import chain
from promptlint_proxy import capture
from promptlint_proxy.analysis import Analysis, AnalysisSettings, Observation
from promptlint_proxy.findings_log import FindingsLog
from promptlint_proxy.health import MetricsServer, Status
from promptlint_proxy.kv_in_flight import KvInFlight, kv_in_flight
from promptlint_proxy.metrics import Metrics
from promptlint_proxy.objectives import parse_objectives
from promptlint_proxy.overview import Overview
from promptlint_proxy.predict.prediction import PredictorSettings
from promptlint_proxy.predict.render import PieceEncoder, render_pieces
from promptlint_proxy.reading import ReadRequest, cleaned, provider_of, read_answer_text, read_finished, read_started
from promptlint_proxy.recorder import Recorder
from promptlint_proxy.records.keys import hash_key
from promptlint_proxy.settings import ProxySettings, parse_address
from promptlint_proxy.start_order import StartOrder
from promptlint_proxy.timing import Latency
from promptlint_rules.traffic import Memory, Pair, Relation

if TYPE_CHECKING:
    from promptlint_proxy.otel import OtelExporter

logger = logging.getLogger(__name__)

MAX_OPEN = 50_000
READER_TURN_S = 0.001


@dataclass(slots=True)
class Measured:
    """One exchange with all that is known of it: what metrics, records and exports are made from."""

    observation: Observation
    latency: Latency
    started: capture.Started
    finished: capture.Finished
    memory: Memory | None
    group: str
    route: str
    told: Pair | None
    """The comparison that counts: with the request it continues, else with the nearest of other lines."""
    rule: str | None
    """That names the fault of that comparison."""
    output_text: str | None = None
    """Kept only where text is recorded."""

    @property
    def is_fault(self) -> bool:
        """The request diverged where it should not have: requests that differ in their newest text only are fine."""
        told = self.told
        return (
            told is not None and told.comparison.verdict is Verdict.DIVERGED and bool(self.rule or told.behind_tokens)
        )


@dataclass(slots=True)
class _Waiting:
    started: capture.Started
    read: ReadRequest
    memory: Memory | None
    finished: capture.Finished | None = None


@dataclass(slots=True)
class Failures:
    """Exceptions in our own code, by place: they never stop the analysis."""

    counts: Counter[str] = field(default_factory=Counter)
    said: set[str] = field(default_factory=set)

    def add(self, where: str, error: Exception) -> None:
        kind = f"{where}:{type(error).__name__}"
        self.counts[kind] += 1
        if kind not in self.said:
            # One line a kind; the message of an exception may hold text of a prompt.
            self.said.add(kind)
            logger.error("analysis failed in %s (%s); the traffic goes on", where, type(error).__name__)


class Analyst:
    """Everything behind the queue."""

    def __init__(self, settings: ProxySettings) -> None:
        key = hash_key(settings)
        self._settings = settings
        self._lock = threading.RLock()
        self._readers = 0
        self._providers = provider_of(settings.provider)
        self._memory: KvInFlight | None = kv_in_flight(settings)
        self._encoder = PieceEncoder(tokens.encode)
        self._key = key
        self._index = 0
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()
        self._order: StartOrder[_Waiting] = StartOrder()
        self.failures = Failures()
        self.analysis = Analysis(
            AnalysisSettings(
                hash_key=key,
                budget_chars=settings.compared_chars,
                predictor=predictor_settings(settings, key),
            )
        )
        objectives = parse_objectives(settings.slo)
        self.metrics = Metrics(objectives, pool_bytes=self._memory.pool_bytes if self._memory else None)
        self.overview = Overview(objectives)
        self.findings_log = FindingsLog()
        self.recorder = Recorder(settings, key) if settings.store is not None else None
        self.status = Status()
        self._exporter = _exporter(settings)
        self._server: MetricsServer | None = None

    def start(self) -> str:
        """Open the metrics port; returns its address, empty when it is off. Raises PromptlintError."""
        if self._settings.metrics_listen == "off":
            return ""
        host, port = parse_address(self._settings.metrics_listen, "--metrics-listen")
        self._server = MetricsServer(host, port, self)
        return self._server.start()

    def take(self, message: capture.Message) -> None:
        """One message of the hot path."""
        if self._readers:
            time.sleep(READER_TURN_S)
        with self._lock:
            try:
                self._take(message)
            except Exception as error:
                self.failures.add(type(message).__name__.lower(), error)

    def hear(self, pulse: capture.Pulse) -> None:
        """The proxy is alive. Takes no lock: it must not wait for an analysis that lags behind."""
        self.status.beat(pulse)
        self.metrics.set_proxy(pulse)

    @contextmanager
    def figures(self) -> Iterator[None]:
        """For readers of figures: an analysis that is never idle lets them in between two messages."""
        self._readers += 1
        try:
            with self._lock:
                yield
        finally:
            self._readers -= 1

    def tick(self) -> None:
        """Twice a second: what waited goes on, records are committed."""
        with self._lock:
            try:
                for waiting in self._order.release(time.monotonic()):
                    self._observe(waiting)
                if self.recorder is not None:
                    self.recorder.tick(self.analysis)
                    self.metrics.set_records(self.recorder.lost, self.recorder.waiting)
                self.metrics.set_failures(self.failures.counts)
            except Exception as error:
                self.failures.add("tick", error)

    def close(self) -> None:
        with self._lock:
            for waiting in self._order.drain():
                try:
                    self._observe(waiting)
                except Exception as error:
                    self.failures.add("close", error)
            self._close_outputs()
        if self._server is not None:
            self._server.close()

    def _close_outputs(self) -> None:
        recorder, self.recorder = self.recorder, None
        exporter, self._exporter = self._exporter, None
        try:
            if recorder is not None:
                recorder.close(self.analysis)
        except Exception as error:
            self.failures.add("records", error)
        if exporter is not None:
            exporter.close()

    def _take(self, message: capture.Message) -> None:
        match message:
            case capture.Started():
                self._start(message)
            case capture.Finished():
                self._finish(message)
            case capture.Gone():
                self._forget(message.id)

    def _start(self, started: capture.Started) -> None:
        started = cleaned(started)
        read = read_started(started, self._providers)
        if read is None:
            return
        memory: Memory | None = None
        if self._memory is not None:
            rendered = render_pieces(read.request, self._encoder, tokens.encoding_for(read.request.model))
            hashes = chain(rendered.ids, self._memory.block_size, key=self._key)
            memory = self._memory.start(started.id, hashes, len(rendered.ids), read.request)
            self.metrics.set_memory(memory)
        self._waiting[started.id] = _Waiting(started, read, memory)
        self._order.start(started.id)
        if len(self._waiting) > MAX_OPEN:
            self._forget(next(iter(self._waiting)))

    def _finish(self, finished: capture.Finished) -> None:
        waiting = self._waiting.pop(finished.id, None)
        if waiting is None:
            return
        self._release_memory(finished.id)
        waiting.finished = finished
        for ready in self._order.finish(finished.id, waiting, time.monotonic()):
            self._observe(ready)

    def _forget(self, key: str) -> None:
        self._waiting.pop(key, None)
        self._order.forget(key)
        self._release_memory(key)

    def _release_memory(self, key: str) -> None:
        if self._memory is not None:
            self._memory.finish(key)
            self.metrics.set_in_flight_bytes(self._memory.in_flight_bytes)

    def _observe(self, waiting: _Waiting) -> None:
        finished = waiting.finished
        assert finished is not None
        exchange, latency = read_finished(self._index, waiting.started, waiting.read, finished)
        self._index += 1
        observation = self.analysis.observe(exchange, waiting.memory)
        told = _told(observation)
        measured = Measured(
            observation,
            latency,
            waiting.started,
            finished,
            waiting.memory,
            group=observation.seen.group,
            route=dict(waiting.started.labels).get("route") or f"{waiting.started.upstream}{waiting.started.path}",
            told=told,
            rule=observation.rule_of.get((told.earlier.index, told.later.index)) if told else None,
            output_text=read_answer_text(finished) if self._settings.record_text else None,
        )
        self.metrics.take(measured)
        self.overview.take(measured)
        self.findings_log.take(observation.new_findings)
        if self.recorder is not None:
            self.recorder.take(measured, self.analysis.tokens)
        if self._exporter is not None:
            self._exporter.take(measured)


def _told(observation: Observation) -> Pair | None:
    continued = [pair for pair in observation.pairs if pair.relation in (Relation.LINE, Relation.RETRY)]
    return max(continued or observation.pairs, key=lambda pair: pair.shared_tokens, default=None)


def predictor_settings(settings: ProxySettings, key: bytes) -> PredictorSettings:
    settings_of_engine = PredictorSettings(
        engine=provider_of(settings.provider).get(""),
        capacity_tokens=settings.capacity_tokens,
        tokenizer=settings.tokenizer,
        chat_template=settings.chat_template,
        hash_key=key,
    )
    if settings.block_size is None:
        return settings_of_engine
    return replace(settings_of_engine, block_size=settings.block_size)


def _exporter(settings: ProxySettings) -> OtelExporter | None:
    if not settings.otel:
        return None
    from promptlint_proxy.otel import OtelExporter  # noqa: PLC0415 - only with the extra `otel`

    return OtelExporter()
