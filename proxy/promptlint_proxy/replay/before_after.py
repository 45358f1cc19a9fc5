"""What the fixes would give: hits, tokens and money before and after, by engine and by capacity of its pool."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from promptlint_core.exchange import Exchange
from promptlint_proxy.predict import Predictor, PredictorSettings
from promptlint_proxy.replay.rewrite import rewrite
from promptlint_proxy.replay.run import ReplayResult

AS_RECORDED = "as recorded"
ENGINES = (AS_RECORDED, "vllm", "sglang")
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Outcome:
    """Predicted figures of one run of the traffic."""

    prompt_tokens: int
    hit_tokens: int
    cost_usd: float | None
    """Input alone, output is the same; None: no prices installed, or none known for a model."""

    @property
    def hit_rate(self) -> float:
        return self.hit_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    engine: str
    capacity_tokens: int | None
    """None: no limit."""
    before: Outcome
    after: Outcome


def compare_fixes(
    result: ReplayResult, capacities: Sequence[int | None] = (None,), settings: PredictorSettings | None = None
) -> tuple[BeforeAfter, ...]:
    """Predict the recorded and the rewritten requests on each engine and each capacity.

    Capacities are tokens of the pool; hosted caches have none and are run once.
    """
    base = settings or PredictorSettings()
    recorded = [observation.exchange for observation in result.observations]
    fixed = rewrite(result.observations)
    rows = []
    for engine in ENGINES:
        for capacity in capacities if engine != AS_RECORDED else (base.capacity_tokens,):
            told = replace(base, engine=base.engine if engine == AS_RECORDED else engine, capacity_tokens=capacity)
            priced = engine == AS_RECORDED
            rows.append(
                BeforeAfter(engine, capacity, _run(recorded, told, priced=priced), _run(fixed, told, priced=priced))
            )
    return tuple(rows)


def _run(exchanges: Sequence[Exchange], settings: PredictorSettings, *, priced: bool) -> Outcome:
    predictor = Predictor(settings)
    prompt_tokens = hit_tokens = 0
    cost: float | None = 0.0 if priced and importlib.util.find_spec("genai_prices") else None
    for exchange in sorted(exchanges, key=lambda e: (e.timing.started_at, e.index)):
        at = exchange.timing.started_at
        prediction = predictor.predict(exchange.request, at)
        begun_s = exchange.timing.first_byte_s or exchange.timing.ttft_s or 0.0
        predictor.answered(exchange.request, exchange.response, at + begun_s)
        status = exchange.response.status
        if prediction.prompt_tokens is None or (status is not None and status >= 400):
            continue
        prompt_tokens += prediction.prompt_tokens
        hit_tokens += prediction.hit_tokens or 0
        if cost is not None:
            own = _cost_usd(exchange, prediction.prompt_tokens, prediction.hit_tokens or 0, prediction.written_tokens)
            cost = None if own is None else cost + own
    return Outcome(prompt_tokens, hit_tokens, cost)


def _cost_usd(exchange: Exchange, prompt_tokens: int, hit_tokens: int, written_tokens: int | None) -> float | None:
    from genai_prices import Usage, calc_price  # noqa: PLC0415 - an extra

    usage = Usage(
        input_tokens=prompt_tokens,
        cache_read_tokens=hit_tokens,
        cache_write_tokens=written_tokens or 0,
        output_tokens=0,
    )
    try:
        return float(calc_price(usage, exchange.request.model or "").total_price)
    except LookupError:
        return None


def render_rows(rows: Sequence[BeforeAfter]) -> list[dict[str, Any]]:
    """The rows as JSON."""
    return [
        {
            "engine": row.engine,
            "capacity_tokens": row.capacity_tokens,
            "before": _outcome(row.before),
            "after": _outcome(row.after),
        }
        for row in rows
    ]


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "prompt_tokens": outcome.prompt_tokens,
        "hit_tokens": outcome.hit_tokens,
        "hit_rate": round(outcome.hit_rate, _DIGITS),
        "cost_usd": None if outcome.cost_usd is None else round(outcome.cost_usd, 6),
    }


def render_text(rows: Sequence[BeforeAfter]) -> str:
    """The rows as a table: volatile text behind, tools and keys sorted, one marker placed."""
    lines = [
        "with the fixes (predicted):",
        f"{'engine':<12}  {'capacity':>10}  {'hit rate':>17}  {'computed tokens':>23}  cost",
    ]
    for row in rows:
        capacity = "no limit" if row.capacity_tokens is None else f"{row.capacity_tokens:,}"
        rates = f"{row.before.hit_rate:.1%} → {row.after.hit_rate:.1%}"
        computed = [o.prompt_tokens - o.hit_tokens for o in (row.before, row.after)]
        cost = "–"
        if row.before.cost_usd is not None and row.after.cost_usd is not None:
            cost = f"${row.before.cost_usd:.4f} → ${row.after.cost_usd:.4f}"
        tokens = f"{computed[0]:,} → {computed[1]:,}"
        lines.append(f"{row.engine:<12}  {capacity:>10}  {rates:>17}  {tokens:>23}  {cost}")
    return "\n".join(lines)
