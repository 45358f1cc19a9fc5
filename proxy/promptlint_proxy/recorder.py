"""Writes measured exchanges, findings and groups to the records, and seals full live stores."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from promptlint_core.errors import PromptlintError
from promptlint_core.exchange import PieceKind
from promptlint_core.histogram import packed
from promptlint_core.prompt import BoundKind, Part
from promptlint_proxy.compare.policy import policy_of
from promptlint_proxy.records.live import LiveStore, Row, new_sidecar_id
from promptlint_proxy.records.passages import SeenPassages
from promptlint_proxy.records.sealer import Sealer

if TYPE_CHECKING:
    from promptlint_proxy.analysis import Analysis
    from promptlint_proxy.analyst import Measured
    from promptlint_proxy.calibration import TokenCounter
    from promptlint_proxy.settings import ProxySettings

logger = logging.getLogger(__name__)

SEAL_ROWS = 20_000
SEAL_S = 900.0
GROUPS_S = 60.0
MOST_KNOWN = 5000
TEXT_CHARS = 1_000_000


class Recorder:
    """One live store at a time. Not for several threads."""

    def __init__(self, settings: ProxySettings, key: bytes, clock: Callable[[], float] = time.monotonic) -> None:
        assert settings.store is not None
        self._folder: Path = settings.store
        self._settings = settings
        self._key = key
        self._clock = clock
        self._sequence = 0
        self._ids: OrderedDict[int, str] = OrderedDict()
        self._passages = SeenPassages()
        self._groups_at_s = clock()
        self.sidecar = new_sidecar_id()
        self._lost_before = 0
        self._is_failing = False
        try:
            self._live = LiveStore(self._folder, self.sidecar, clock=clock)
        except (OSError, sqlite3.Error) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise PromptlintError(f"the store {self._folder} cannot be written: {reason}") from None
        self._sealer = Sealer(self._folder, clock)
        self._sealer.seal_abandoned(self._live.path)

    @property
    def lost(self) -> int:
        """Rows that could not be written and were given up."""
        return self._lost_before + self._live.lost

    @property
    def waiting(self) -> int:
        """Rows that are not written yet."""
        return self._live.waiting

    def take(self, measured: Measured, counter: TokenCounter) -> None:
        """Write one exchange with its findings."""
        observation = measured.observation
        self._ids[observation.exchange.index] = measured.started.id
        if len(self._ids) > MOST_KNOWN:
            self._ids.popitem(last=False)
        self._add("exchanges", self._exchange_row(measured, counter))
        for finding in observation.findings:
            self._add(
                "findings",
                {
                    "exchange_id": measured.started.id,
                    "started_at": _microseconds(measured.started.started_at),
                    "prompt_group": finding.group or measured.group,
                    "rule": finding.rule,
                    "severity": str(finding.severity),
                    "path": finding.path,
                    "message": finding.message,
                    "tokens_behind": finding.tokens_behind,
                },
            )

    def tick(self, analysis: Analysis) -> None:
        """Commit what is due, write groups, seal a full store."""
        self._try(self._live.commit_if_due)
        now_s = self._clock()
        if now_s - self._groups_at_s >= GROUPS_S:
            self._groups_at_s = now_s
            self._write_groups(analysis)
        self._sealer.retry_if_due()
        if self._is_failing:
            return
        is_full = self._live.rows >= SEAL_ROWS or (self._live.rows and now_s - self._live.opened_at_s >= SEAL_S)
        if is_full or not self._live.path.exists():
            self._try(self._rotate)

    def close(self, analysis: Analysis) -> None:
        """Write everything down and seal it."""
        try:
            self._write_groups(analysis)
        finally:
            self._try(self._live.close)
            self._sealer.seal(self._live.path)
            self._sealer.close()
            if self._is_failing:
                logger.error("records could not be written at the end: %d rows are lost", self.lost)

    def _rotate(self) -> None:
        full = self._live
        self._live = LiveStore(self._folder, self.sidecar, self._sequence + 1, self._clock)
        self._sequence += 1
        try:
            full.close()
        finally:
            self._lost_before += full.lost
        self._sealer.seal(full.path)

    def _add(self, table: str, row: Row) -> None:
        self._try(lambda: self._live.add(table, row))

    def _try(self, write: Callable[[], None]) -> None:
        """Write; a disk that takes nothing is said once, and once more when it does again."""
        try:
            write()
        except (sqlite3.Error, OSError) as error:
            if not self._is_failing:
                self._is_failing = True
                logger.error("records cannot be written (%s); the traffic goes on, and they are tried again", error)  # noqa: TRY400
            return
        if self._is_failing and not self._live.waiting:
            self._is_failing = False
            logger.warning("records are written again; %d rows were lost", self.lost)

    def _write_groups(self, analysis: Analysis) -> None:
        now = _microseconds(time.time())
        for view in analysis.groups():
            self._add(
                "groups",
                {
                    "prompt_group": view.group,
                    "updated_at": now,
                    "provider": view.provider,
                    "model": view.model,
                    "strip": view.strip_json,
                    "sketch": view.sketch,
                },
            )

    def _exchange_row(self, measured: Measured, counter: TokenCounter) -> dict[str, object]:
        observation, started = measured.observation, measured.started
        seen, request, response = observation.seen, observation.exchange.request, observation.exchange.response
        usage, prediction = response.usage, observation.prediction
        labels = dict(started.labels)
        parameters = dict(request.parameters)
        bound = request.bound
        row: dict[str, object] = {
            "exchange_id": started.id,
            "sidecar": self.sidecar,
            "started_at": _microseconds(started.started_at),
            "environment": labels.get("environment") or self._settings.environment,
            "team": labels.get("team") or self._settings.team or started.caller,
            "route": measured.route,
            "provider": request.provider,
            "api": request.api,
            "model": request.model,
            "served_model": response.model,
            "served_by": response.served_by,
            "service_tier": (parameters.get("service_tier") or "").strip('"') or None,
            "prompt_group": measured.group,
            "line": seen.line,
            "turn": seen.turn,
            "status": response.status,
            "error": response.error,
            "finish_reason": response.finish_reason,
            "stream": request.stream,
            "retry_of": self._ids.get(seen.retry_of) if seen.retry_of is not None else None,
            "prompt_tokens": seen.prompt_tokens,
            "prompt_tokens_source": "reported" if seen.reported else "estimated",
            "predicted_hit_tokens": prediction.hit_tokens if prediction else None,
            "output_bound": bound.tokens if bound.kind is BoundKind.LIMITED else None,
            "kv_bytes": measured.memory.request_bytes if measured.memory else None,
            "kv_in_flight_bytes": measured.memory.in_flight_bytes if measured.memory else None,
            "kv_pool_bytes": measured.memory.pool_bytes if measured.memory else None,
            "block_size": prediction.block_size or None if prediction else None,
            "block_hashes": prediction.block_hashes or None if prediction else None,
        }
        row |= _part_tokens(measured, counter)
        row |= _retrieved_columns(measured, counter, self._passages)
        row |= _usage_columns(measured)
        row |= _comparison_columns(measured)
        row |= _latency_columns(measured)
        if self._settings.record_text:
            row |= _text_columns(measured)
        if usage is not None and usage.written_by_life:
            short = sum(tokens for life_s, tokens in usage.written_by_life if life_s < 3600)
            row |= {
                "written_5m_tokens": short,
                "written_1h_tokens": sum(tokens for _, tokens in usage.written_by_life) - short,
            }
        return row


def _microseconds(seconds: float) -> int:
    return int(seconds * 1_000_000)


def _part_tokens(measured: Measured, counter: TokenCounter) -> dict[str, object]:
    """Parts of the prompt, scaled so that they add up to it."""
    seen = measured.observation.seen
    counts = dict.fromkeys(Part, 0)
    for piece in seen.request.pieces:
        counts[piece.part] += counter.count_text(piece.text)
    total = sum(counts.values())
    if not total:
        return {}
    return {f"{part}_tokens": round(seen.prompt_tokens * count / total) for part, count in counts.items()}


def _retrieved_columns(measured: Measured, counter: TokenCounter, passages: SeenPassages) -> dict[str, object]:
    """What is recognised as retrieved, in tokens scaled like the parts of the prompt; null where nothing is."""
    seen = measured.observation.seen
    retrieved, count = 0.0, 0
    for piece in seen.request.pieces:
        if piece.kind is not PieceKind.TEXT or piece.role in ("assistant", "model"):
            continue
        found = passages.of(piece.text)
        if found.count:
            count += found.count
            retrieved += counter.count_text(piece.text) * found.chars / len(piece.text)
    total = sum(counter.count_text(piece.text) for piece in seen.request.pieces) if count else 0
    if not total:
        return {}
    return {"retrieved_tokens": round(seen.prompt_tokens * retrieved / total), "retrieved_passages": count}


def _usage_columns(measured: Measured) -> dict[str, object]:
    usage = measured.observation.exchange.response.usage
    if usage is None:
        return {}
    return {
        "reported_hit_tokens": usage.hit_tokens,
        "written_tokens": usage.written_tokens,
        "computed_tokens": usage.computed_tokens,
        "output_tokens": usage.output_tokens,
        "output_tokens_source": "reported" if usage.output_tokens is not None else None,
        "reasoning_tokens": usage.reasoning_tokens,
    }


def _comparison_columns(measured: Measured) -> dict[str, object]:
    pair = measured.told
    if pair is None:
        return {"verdict": "first"}
    divergence = pair.comparison.divergence
    policy = policy_of(measured.observation.seen.request)
    best = min(pair.later.prompt_tokens - 1, pair.shared_tokens + pair.behind_tokens)
    return {
        "verdict": str(pair.comparison.verdict),
        "divergence_path": divergence.path if divergence else None,
        "divergence_char": divergence.char_offset if divergence else None,
        "divergence_origin": str(pair.kind) if pair.kind else None,
        "divergence_rule": measured.rule,
        "tokens_behind": pair.behind_tokens if divergence else None,
        "best_hit_tokens": max(0, best),
        "idle_s": pair.gap_s,
        "expired": pair.append_only and policy.life_s is not None and pair.gap_s > policy.life_s,
    }


def _latency_columns(measured: Measured) -> dict[str, object]:
    timing = measured.latency.timing
    return {
        "first_byte_s": timing.first_byte_s,
        "ttft_s": timing.ttft_s,
        "e2e_s": timing.e2e_s,
        "itl_histogram": packed(measured.latency.itl_histogram) or None,
    }


def _text_columns(measured: Measured) -> dict[str, object]:
    """Only on order (`record_text`)."""
    return {
        "prompt_text": measured.observation.exchange.request.text[:TEXT_CHARS],
        "output_text": measured.output_text[:TEXT_CHARS] if measured.output_text is not None else None,
    }
