"""Figures by prompt group for people: what `promptlint top` shows and /overview serves. Memory is bounded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptlint_core.histogram import bucket_of, merge, quantile_s
from promptlint_proxy.objectives import Objective

if TYPE_CHECKING:
    from promptlint_proxy.analyst import Measured

MOST_GROUPS = 200
MOST_DIVERGENCES = 200
QUANTILES = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))


@dataclass(slots=True)
class GroupFigures:
    """Running sums of one group."""

    provider: str
    model: str
    route: str
    requests: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    predicted_hit_tokens: int = 0
    predicted_of_tokens: int = 0
    reported_hit_tokens: int = 0
    reported_of_tokens: int = 0
    output_tokens: int = 0
    unbounded: int = 0
    diverged: int = 0
    ttft: list[int] = field(default_factory=list)
    itl: list[int] = field(default_factory=list)
    inside: dict[str, list[int]] = field(default_factory=dict)
    """By objective: [requests inside, requests judged]."""


@dataclass(slots=True)
class DivergenceFigures:
    rule: str | None
    group: str
    path: str
    count: int = 0
    tokens_behind: int = 0


class Overview:
    """Collects, per group and per place of divergence."""

    def __init__(self, objectives: Sequence[Objective] = ()) -> None:
        self._objectives = objectives
        self._groups: OrderedDict[str, GroupFigures] = OrderedDict()
        self._routes: OrderedDict[str, GroupFigures] = OrderedDict()
        self._divergences: OrderedDict[tuple[str | None, str, str], DivergenceFigures] = OrderedDict()

    def take(self, measured: Measured) -> None:
        self._count(self._groups, measured.group, measured)
        self._count(self._routes, measured.route, measured)
        pair = measured.told
        if pair is not None and measured.is_fault:
            self._diverge(measured, pair.path, pair.behind_tokens)

    def _count(self, table: OrderedDict[str, GroupFigures], name: str, measured: Measured) -> None:
        figures = table.get(name)
        if figures is None:
            request = measured.observation.seen.request
            figures = table[name] = GroupFigures(request.provider, request.model or "", measured.route)
            if len(table) > MOST_GROUPS:
                table.popitem(last=False)
        table.move_to_end(name)
        _count(figures, measured)
        for objective in self._objectives:
            inside = objective.is_inside(measured.latency)
            if inside is not None:
                judged = figures.inside.setdefault(objective.name, [0, 0])
                judged[0] += inside
                judged[1] += 1

    def document(self, health: dict[str, object]) -> dict[str, object]:
        """JSON: groups and routes by requests, divergences by tokens read again."""
        groups, routes = (
            sorted(table.items(), key=lambda item: -item[1].requests) for table in (self._groups, self._routes)
        )
        worst = sorted(self._divergences.values(), key=lambda figures: -figures.tokens_behind)
        return {
            "version": 1,
            "health": health,
            "groups": [_group_document(name, figures) for name, figures in groups],
            "routes": [_group_document(None, figures) for _, figures in routes],
            "divergences": [
                {
                    "rule": figures.rule,
                    "group": figures.group,
                    "path": figures.path,
                    "count": figures.count,
                    "tokens_behind": figures.tokens_behind,
                }
                for figures in worst[:50]
            ],
        }

    def _diverge(self, measured: Measured, path: str, tokens_behind: int) -> None:
        key = (measured.rule, measured.group, path)
        figures = self._divergences.get(key)
        if figures is None:
            figures = self._divergences[key] = DivergenceFigures(measured.rule, measured.group, path)
            if len(self._divergences) > MOST_DIVERGENCES:
                least = min(self._divergences, key=lambda other: self._divergences[other].tokens_behind)
                del self._divergences[least]
        figures.count += 1
        figures.tokens_behind += tokens_behind


def _count(figures: GroupFigures, measured: Measured) -> None:
    observation = measured.observation
    seen, prediction = observation.seen, observation.prediction
    usage = seen.response.usage
    figures.requests += 1
    figures.failed += seen.failed
    figures.prompt_tokens += seen.prompt_tokens
    figures.unbounded += str(seen.request.bound.kind) in ("absent", "unlimited")
    if prediction is not None and prediction.hit_tokens is not None and not seen.failed:
        figures.predicted_hit_tokens += prediction.hit_tokens
        figures.predicted_of_tokens += prediction.prompt_tokens or seen.prompt_tokens
    if usage is not None and usage.hit_tokens is not None:
        figures.reported_hit_tokens += usage.hit_tokens
        figures.reported_of_tokens += usage.prompt_tokens or 0
    figures.diverged += measured.is_fault
    figures.output_tokens += (usage.output_tokens if usage else None) or 0
    timing = measured.latency.timing
    if timing.ttft_s is not None:
        bucket = bucket_of(timing.ttft_s)
        figures.ttft = merge([figures.ttft, [0] * bucket + [1]])
    figures.itl = merge([figures.itl, measured.latency.itl_histogram])


def _group_document(name: str | None, figures: GroupFigures) -> dict[str, object]:
    return {
        "group": name,
        "provider": figures.provider,
        "model": figures.model,
        "route": figures.route,
        "requests": figures.requests,
        "failed": figures.failed,
        "prompt_tokens": figures.prompt_tokens,
        "output_tokens": figures.output_tokens,
        "predicted_hit_rate": _share(figures.predicted_hit_tokens, figures.predicted_of_tokens),
        "reported_hit_rate": _share(figures.reported_hit_tokens, figures.reported_of_tokens),
        "unbounded": figures.unbounded,
        "diverged": figures.diverged,
        "ttft_s": _quantiles(figures.ttft),
        "itl_s": _quantiles(figures.itl),
        "objectives": {name: _share(inside, judged) for name, (inside, judged) in figures.inside.items()},
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _quantiles(histogram: Sequence[int]) -> dict[str, float] | None:
    told = {name: quantile_s(histogram, q) for name, q in QUANTILES}
    return {name: round(value, 6) for name, value in told.items() if value is not None} or None
