"""What the fixes would give: hits, tokens and money before and after, by engine and by capacity of its pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from promptlint_core.exchange import Exchange, Usage
from promptlint_proxy.predict import Prediction, Predictor, PredictorSettings
from promptlint_proxy.predict.choice import POOLED, cache_kind
from promptlint_proxy.replay.price import COST_DIGITS, Price
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
    result: ReplayResult,
    capacities: Sequence[int | None] = (None,),
    settings: PredictorSettings | None = None,
    price: Price | None = None,
) -> tuple[BeforeAfter, ...]:
    """Predict the recorded and the rewritten requests on each engine and each capacity.

    Capacities are tokens of the pool; hosted caches have none and are run once. Where the settings name the engine,
    it alone is run, under "as recorded".
    """
    base = settings or PredictorSettings()
    engines = ENGINES if base.engine is None else (AS_RECORDED,)
    recorded = [observation.exchange for observation in result.observations]
    fixed = rewrite(result.observations)
    rows = []
    for engine in engines:
        known = base if engine == AS_RECORDED else replace(base, engine=engine)
        for capacity in capacities if _has_pool(recorded, known) else (None,):
            told = replace(known, capacity_tokens=capacity)
            paid = price if engine == AS_RECORDED else None
            rows.append(BeforeAfter(engine, capacity, _run(recorded, told, paid), _run(fixed, told, paid)))
    return tuple(rows)


def _has_pool(exchanges: Sequence[Exchange], settings: PredictorSettings) -> bool:
    return any(cache_kind(exchange.request, settings) in POOLED for exchange in exchanges)


def _run(exchanges: Sequence[Exchange], settings: PredictorSettings, price: Price | None) -> Outcome:
    predictor = Predictor(settings)
    prompt_tokens = hit_tokens = 0
    cost = None if price is None else 0.0
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
        if cost is not None and price is not None:
            own = price.cost_usd(exchange, _input_of(prediction))
            cost = None if own is None else cost + own
    return Outcome(prompt_tokens, hit_tokens, cost)


def _input_of(prediction: Prediction) -> Usage:
    return Usage(prediction.prompt_tokens, prediction.hit_tokens or 0, prediction.written_tokens, output_tokens=0)


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
        "cost_usd": None if outcome.cost_usd is None else round(outcome.cost_usd, COST_DIGITS),
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
