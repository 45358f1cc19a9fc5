"""A replay as JSON: the contract that tools rely on. Unknown is null, never 0."""

from __future__ import annotations

from typing import Any

from promptlint_core.prompt import BoundKind
from promptlint_proxy.analysis import Observation
from promptlint_proxy.replay.price import COST_DIGITS, Price
from promptlint_proxy.replay.run import ReplayResult
from promptlint_rules.base import Severity, WireFinding
from promptlint_rules.traffic import Memory, Pair

VERSION = 1
_SHARE_DIGITS = 4


def render_json(result: ReplayResult, least: Severity = Severity.WARNING, price: Price | None = None) -> dict[str, Any]:
    """The whole report; findings below `least` are left out. Without `price` no cost is told."""
    memory = result.memory or (None,) * len(result.observations)
    costs = costs_usd(result, price)
    return {
        "version": VERSION,
        "exchanges": [
            _exchange(observation, held, cost)
            for observation, held, cost in zip(result.observations, memory, costs, strict=True)
        ],
        "comparisons": [_comparison(pair, rule) for pair, rule in result.pairs],
        "findings": [render_finding(f) for f in result.findings if f.severity.rank <= least.rank],
        "unreadable": [{"place": entry.place, "sentence": entry.sentence} for entry in result.unreadable],
        "totals": totals(result, price),
    }


def _exchange(observation: Observation, memory: Memory | None, cost_usd: float | None) -> dict[str, Any]:
    seen, prediction = observation.seen, observation.prediction
    request, response, timing = seen.request, seen.response, seen.exchange.timing
    usage = response.usage
    bound = request.bound
    return {
        "index": seen.index,
        "t": seen.at,
        "provider": request.provider,
        "api": request.api,
        "model": request.model,
        "served_model": response.model,
        "served_by": response.served_by,
        "group": seen.group,
        "line_of": seen.line,
        "turn": seen.turn,
        "retry_of": seen.retry_of,
        "status": response.status,
        "error": response.error,
        "prompt_tokens": seen.prompt_tokens,
        "prompt_tokens_source": "reported" if seen.reported else "estimated",
        "predicted_hit_tokens": prediction.hit_tokens if prediction else None,
        "predicted_reason": prediction.reason if prediction else None,
        "reported_hit_tokens": usage.hit_tokens if usage else None,
        "reported_computed_tokens": usage.computed_tokens if usage else None,
        "reported_written_tokens": usage.written_tokens if usage else None,
        "hit_verdict": observation.honoured,
        "vendor_diagnosis": response.diagnosis,
        "output_tokens": usage.output_tokens if usage else None,
        "output_bound": bound.tokens if bound.kind is BoundKind.LIMITED else None,
        "kv_bytes": memory.request_bytes if memory else None,
        "ttft_s": timing.ttft_s,
        "itl_s": _gaps(timing.gaps_s),
        "cost_usd": None if cost_usd is None else round(cost_usd, COST_DIGITS),
    }


def _gaps(gaps_s: tuple[float, ...]) -> dict[str, float] | None:
    if not gaps_s:
        return None
    ordered = sorted(gaps_s)
    return {f"p{share}": ordered[min(len(ordered) - 1, len(ordered) * share // 100)] for share in (50, 95, 99)}


def _comparison(pair: Pair, rule: str | None) -> dict[str, Any]:
    comparison = pair.comparison
    divergence = comparison.divergence
    share = comparison.reusable_prefix_share
    return {
        "earlier": comparison.earlier,
        "later": comparison.later,
        "relation": str(pair.relation),
        "verdict": str(comparison.verdict),
        "divergence": None
        if divergence is None
        else {
            "segment": str(divergence.part),
            "path": divergence.path,
            "char_offset": divergence.char_offset,
            "earlier": divergence.earlier,
            "later": divergence.later,
            "path_in_earlier": divergence.path_in_earlier,
        },
        "kind": str(pair.kind) if pair.kind else None,
        "shared_prefix_share": round(comparison.shared_prefix_share, _SHARE_DIGITS),
        "reusable_prefix_share": None if share is None else round(share, _SHARE_DIGITS),
        "tokens_behind": comparison.tokens_behind,
        "rule": rule,
    }


def render_finding(finding: WireFinding) -> dict[str, Any]:
    """One fault; the same shape in replays, in `/findings` and in the log."""
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": str(finding.severity),
        "confidence": str(finding.confidence),
        "exchanges": list(finding.exchanges),
        "group": finding.group,
        "path": finding.path,
        "message": finding.message,
        "tokens_behind": finding.tokens_behind,
        "detail": finding.detail,
    }


def costs_usd(result: ReplayResult, price: Price | None) -> list[float | None]:
    """What each exchange cost by its reported usage; None where usage or price is unknown."""
    usages = [observation.exchange.response.usage for observation in result.observations]
    return [
        price.cost_usd(observation.exchange, usage) if price is not None and usage is not None else None
        for observation, usage in zip(result.observations, usages, strict=True)
    ]


def totals(result: ReplayResult, price: Price | None = None) -> dict[str, Any]:
    """Sums; a rate counts only exchanges for which both of its figures are known."""
    observations = result.observations
    predicted = [(o.prediction.hit_tokens, o.seen.prompt_tokens) for o in observations
                 if o.prediction and o.prediction.hit_tokens is not None and not o.seen.failed]  # fmt: skip
    reported = [(o.seen.hit_tokens, o.seen.prompt_tokens) for o in observations if o.seen.hit_tokens is not None]
    written = [o.seen.written_tokens for o in observations if o.seen.written_tokens is not None]
    outputs = [o.seen.output_tokens for o in observations if o.seen.output_tokens is not None]
    verdicts = [o.honoured for o in observations if o.honoured is not None]
    costs = [cost for cost in costs_usd(result, price) if cost is not None]
    held = [memory.in_flight_bytes for memory in result.memory if memory.in_flight_bytes is not None]
    return {
        "exchanges": len(observations),
        "groups": len({o.seen.group for o in observations}),
        "lines": len({o.seen.line for o in observations}),
        "retries": sum(o.seen.retry_of is not None for o in observations),
        "prompt_tokens": sum(o.seen.prompt_tokens for o in observations),
        "prompt_tokens_estimated": sum(not o.seen.reported for o in observations),
        "tokens_source": result.tokens_source or None,
        "predicted_hit_tokens": sum(hit for hit, _ in predicted) if predicted else None,
        "predicted_hit_rate": _rate(predicted),
        "reported_hit_tokens": sum(hit for hit, _ in reported) if reported else None,
        "reported_hit_rate": _rate(reported),
        "reported_written_tokens": sum(written) if written else None,
        "output_tokens": sum(outputs) if outputs else None,
        "hits_not_honoured": sum(verdict == "not-honoured" for verdict in verdicts) if verdicts else None,
        "kv_in_flight_bytes_max": max(held, default=None),
        "kv_pool_bytes": next((memory.pool_bytes for memory in result.memory), None),
        "cost_usd": round(sum(costs), COST_DIGITS) if costs else None,
        "exchanges_priced": len(costs) if price is not None else None,
        "price_sources": list(price.sources) if price is not None else [],
        "findings": len(result.findings),
    }


def _rate(pairs: list[tuple[int, int]]) -> float | None:
    whole = sum(tokens for _, tokens in pairs)
    return round(sum(hit for hit, _ in pairs) / whole, _SHARE_DIGITS) if whole else None
