"""Fit the efficiency of a deployment to a measured run: simulate, compare request by request, move the figures.

Only what was measured of the first requests is read; the defaults pull, so that what the run does not show stays
plausible. The search is a deterministic Nelder-Mead over the logarithms of the figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from promptlint_core.errors import PromptlintError
from promptlint_report.simulate.deployment import Deployment
from promptlint_report.simulate.run import simulate
from promptlint_report.simulate.step_time import Efficiency, default_efficiency
from promptlint_report.simulate.workload import Measured, Workload

FIRST_SHARE = 0.2
_DENSE = ("compute", "bandwidth", "kv_bandwidth", "overhead_s", "per_request_s", "mixed_layer_s")
_EXPERTS = ("expert_compute",)
_TOGETHER = ("link", "exchange_s")
_PULL = 0.02
"""Weight of one squared e-fold away from a default, against mean squared relative errors."""
_SCATTER = 0.1
_COMPARED = (("ttft_s", 0.05, 0.1), ("tpot_s", 1e-4, 1.0), ("e2e_s", 1e-3, 1.0))
"""Latency, the smallest value that errors are taken relative to, and its weight: a time to first token shows one or
two steps, the other two show hundreds (and end-to-end holds the queue as well)."""
_TOLERANCE = 0.002


@dataclass(frozen=True, slots=True)
class Fit:
    """What a calibration found."""

    efficiency: Efficiency
    requests: int
    """Measured requests that were read."""
    error_before: float
    """Root mean square relative error over these requests with the defaults (see `root_mean_square_error`)."""
    error_after: float
    runs: int


def calibrate(
    workload: Workload, deployment: Deployment, *, share: float = FIRST_SHARE, runs: int = 90, in_engine: bool = True
) -> Fit:
    """Fit to the first `share` of the measured requests.

    Args:
        workload: with `measured`; arrivals and lengths of all its jobs are used, timings of the first ones only.
        deployment: as it was when measured.
        share: of the requests, in order of arrival.
        runs: simulations at most.
        in_engine: timings count from when the engine saw a request (engine logs), not from its arrival (client).

    Raises:
        PromptlintError: nothing was measured.
    """
    count = max(1, round(share * len(workload.jobs)))
    measured = workload.measured[:count]
    if not any(item.e2e_s or item.tpot_s for item in measured):
        raise PromptlintError("the workload holds no measured times to calibrate with")
    start = deployment.efficiency or default_efficiency(deployment.gpu)
    names = _DENSE + (_EXPERTS if deployment.cost().experts else ())
    names += _TOGETHER if deployment.tp > 1 or deployment.dp > 1 else ()
    defaults = [getattr(start, name) for name in names]

    def efficiency(logs: Sequence[float]) -> Efficiency:
        values = {name: value * math.exp(log) for name, value, log in zip(names, defaults, logs, strict=True)}
        return replace(start, **values)

    def run(logs: Sequence[float]) -> Sequence[Measured]:
        outcome = simulate(workload, deployment.with_options(efficiency=efficiency(logs)), until_finished=count)
        return (outcome.per_job_in_engine if in_engine else outcome.per_job)[:count]

    def loss(logs: Sequence[float]) -> float:
        return misfit(run(logs), measured) + _PULL * sum(log * log for log in logs) / len(logs)

    zero = [0.0] * len(names)
    before = root_mean_square_error(run(zero), measured)
    best, used = nelder_mead(loss, zero, step=0.15, runs=runs, tolerance=_TOLERANCE)
    after = root_mean_square_error(run(best), measured)
    return Fit(efficiency(best), count, before, after, used + 2)


def misfit(simulated: Sequence[Measured], measured: Sequence[Measured]) -> float:
    """Weighted mean over TTFT, TPOT and end-to-end of squared bias + a share of the mean squared relative error.

    Which request lands in which step is chance on both sides, so single requests scatter; their mean does not.
    """
    total = weights = 0.0
    for name, smallest, weight in _COMPARED:
        errors = [_error(getattr(a, name), b, smallest) for a, b in _pairs(simulated, measured, name)]
        if errors:
            bias = sum(errors) / len(errors)
            scatter = sum(error * error for error in errors) / len(errors)
            total += weight * (bias * bias + _SCATTER * scatter)
            weights += weight
    return total / weights if weights else 0.0


def root_mean_square_error(simulated: Sequence[Measured], measured: Sequence[Measured]) -> float:
    """Over TTFT, TPOT and end-to-end of all requests, each relative to the larger of the two values."""
    errors = [
        _error(getattr(a, name), b, smallest)
        for name, smallest, _ in _COMPARED
        for a, b in _pairs(simulated, measured, name)
    ]
    return math.sqrt(sum(error * error for error in errors) / len(errors)) if errors else 0.0


def _pairs(simulated: Sequence[Measured], measured: Sequence[Measured], name: str) -> Iterator[tuple[Measured, float]]:
    for ours, theirs in zip(simulated, measured, strict=False):
        value: float | None = getattr(theirs, name)
        if value is not None:
            yield ours, value


def _error(ours: float | None, theirs: float, smallest: float) -> float:
    return -1.0 if ours is None else (ours - theirs) / max(ours, theirs, smallest)


def nelder_mead(
    function: Callable[[Sequence[float]], float],
    start: Sequence[float],
    *,
    step: float,
    runs: int,
    tolerance: float = 0,
) -> tuple[list[float], int]:
    """Minimise without derivatives until the values differ by a share of `tolerance`; returns point and evaluations.

    >>> best, _ = nelder_mead(lambda p: (p[0] - 1) ** 2 + (p[1] + 2) ** 2, [0.0, 0.0], step=0.5, runs=200)
    >>> [round(x, 3) for x in best]
    [1.0, -2.0]
    """
    points = [list(start)] + [[x + step * (i == j) for j, x in enumerate(start)] for i in range(len(start))]
    simplex = sorted((function(point), point) for point in points)
    used = len(points)
    while used < runs and simplex[-1][0] - simplex[0][0] > tolerance * simplex[0][0]:
        worst = simplex[-1][1]
        centre = [sum(point[j] for _, point in simplex[:-1]) / len(start) for j in range(len(start))]

        reflected = _beyond(function, centre, worst, 1.0)
        used += 1
        if reflected[0] < simplex[0][0]:
            expanded = _beyond(function, centre, worst, 2.0)
            used += 1
            simplex[-1] = min(expanded, reflected)
        elif reflected[0] < simplex[-2][0]:
            simplex[-1] = reflected
        else:
            factor = 0.5 if reflected[0] < simplex[-1][0] else -0.5
            contracted = _beyond(function, centre, worst, factor)
            used += 1
            if contracted[0] < simplex[-1][0]:
                simplex[-1] = contracted
            else:
                low = simplex[0][1]
                shrunk = [[(a + b) / 2 for a, b in zip(point, low, strict=True)] for _, point in simplex[1:]]
                simplex = [simplex[0], *((function(point), point) for point in shrunk)]
                used += len(shrunk)
        simplex.sort(key=lambda entry: entry[0])
    return simplex[0][1], used


def _beyond(
    function: Callable[[Sequence[float]], float], centre: Sequence[float], worst: Sequence[float], factor: float
) -> tuple[float, list[float]]:
    """The point that lies `factor` times as far behind the centre as the worst one lies before it, with its value."""
    point = [c + factor * (c - w) for c, w in zip(centre, worst, strict=True)]
    return function(point), point
