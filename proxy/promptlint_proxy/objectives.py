"""Latency objectives: which share of requests stays inside, per group; prefill and decode have their own."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from promptlint_core.errors import PromptlintError
from promptlint_core.histogram import quantile_s
from promptlint_proxy.timing import Latency

ITL_QUANTILE = 0.95
"""A request is inside its inter-token objective when this share of its gaps is."""

_SPEC = re.compile(r"(ttft|itl)=(\d+(?:\.\d+)?)(ms|s)")


@dataclass(frozen=True, slots=True)
class Objective:
    kind: str
    """`ttft` or `itl`."""
    limit_s: float

    @property
    def name(self) -> str:
        """As it is written: `ttft=200ms`."""
        return f"{self.kind}={self.limit_s * 1000:g}ms"

    def is_inside(self, latency: Latency) -> bool | None:
        """None where the exchange does not show it: no stream, no gap.

        ITL: the 95th percentile of the gaps between the tokens of this one request, never their mean.
        """
        if self.kind == "ttft":
            ttft_s = latency.timing.ttft_s
            return None if ttft_s is None else ttft_s <= self.limit_s
        gap_s = quantile_s(latency.itl_histogram, ITL_QUANTILE)
        return None if gap_s is None else gap_s <= self.limit_s


def parse_objectives(specs: Iterable[str]) -> tuple[Objective, ...]:
    """`ttft=200ms`, `itl=50ms`, `ttft=1.5s`. Raises PromptlintError for anything else.

    >>> [objective.name for objective in parse_objectives(["ttft=0.2s"])]
    ['ttft=200ms']
    """
    objectives = []
    for spec in specs:
        found = _SPEC.fullmatch(spec.strip().lower().replace(" ", ""))
        if not found:
            raise PromptlintError(f"--slo {spec!r}: write ttft=200ms or itl=50ms")
        kind, number, unit = found.groups()
        objectives.append(Objective(kind, float(number) / (1000 if unit == "ms" else 1)))
    return tuple(objectives)
