"""A generated load: Poisson arrivals, log-normal lengths, a prefix that all prompts share. Same seed, same load."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from promptlint_core.errors import PromptlintError
from promptlint_report.simulate.workload import Job, Workload


@dataclass(frozen=True, slots=True)
class Load:
    """What to generate."""

    requests: int
    rate_per_s: float
    prompt_tokens: int
    """Mean."""
    output_tokens: int
    """Mean."""
    shared_prefix_tokens: int = 0
    """Leading tokens that all prompts have in common; part of the prompt."""
    spread: float = 0.5
    """Standard deviation of lengths ÷ their mean; 0: all alike."""
    seed: int = 0


def generated(load: Load, block_size: int = 16) -> Workload:
    """The workload of a load.

    Raises:
        PromptlintError: a rate or length that is no positive number, or a prefix longer than the prompt.
    """
    if load.rate_per_s <= 0 or load.prompt_tokens < 1 or load.output_tokens < 1 or load.requests < 1:
        raise PromptlintError("a generated load needs a positive rate, request count, prompt and output length")
    if load.shared_prefix_tokens >= load.prompt_tokens:
        raise PromptlintError("the shared prefix must be shorter than the mean prompt")
    random_ = random.Random(load.seed)  # noqa: S311 - a load, not a secret
    jobs = []
    at_s = 0.0
    own_mean = load.prompt_tokens - load.shared_prefix_tokens
    shared = tuple(("shared", index) for index in range(load.shared_prefix_tokens // block_size))
    for number in range(load.requests):
        prompt = load.shared_prefix_tokens + _length(random_, own_mean, load.spread)
        output = _length(random_, load.output_tokens, load.spread)
        jobs.append(Job(number, at_s, prompt, output, shared))
        at_s += random_.expovariate(load.rate_per_s)
    name = f"{load.requests:,} generated requests, {load.rate_per_s:g} a second"
    return Workload(name, tuple(jobs), block_size, has_hashes=bool(shared))


def _length(random_: random.Random, mean: int, spread: float) -> int:
    if spread <= 0:
        return mean
    sigma = math.sqrt(math.log(1 + spread * spread))
    return max(1, round(random_.lognormvariate(math.log(mean) - sigma * sigma / 2, sigma)))
