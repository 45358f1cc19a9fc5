"""Hosted providers: entries are written when an answer begins and live for a time."""

from __future__ import annotations

from collections.abc import Callable

from promptlint_core.prefix_caches import anthropic_markers, hosted_steps, openai_breakpoints
from promptlint_core.prefix_caches.deepseek_units import UnitCache
from promptlint_core.prefix_caches.entries import BYTES_PER_ENTRY
from promptlint_core.prefix_caches.hosted_steps import StepCache, StepRule
from promptlint_proxy.predict.engines import Asked, Outcome
from promptlint_proxy.predict.prediction import PredictorSettings

BLOCK_TOKENS = 64
"""Grain of the block hashes of hosted providers: their steps are multiples of it or unpublished."""


def _scaled(counts: tuple[int, ...], scale: float, unseen_tokens: int = 0) -> tuple[int, ...]:
    """Piece counts in the provider's tokens, unseen ones with the first; rounding never drifts over a long prompt.

    >>> _scaled((1, 1, 1, 1), 1.5), _scaled((1, 1), 1.0, 7)
    ((2, 1, 1, 2), (8, 1))
    """
    scaled, done, seen = [], -unseen_tokens, 0
    for count in counts:
        seen += count
        share = round(seen * scale) - done
        done += share
        scaled.append(share)
    return tuple(scaled)


class StepModel:
    """Providers that cache in steps: OpenAI before GPT-5.6, Azure, Mistral, Gemini and others."""

    def __init__(
        self, rule_for: Callable[[Asked], StepRule | None], missing: str = "this model caches nothing"
    ) -> None:
        self._rule_for = rule_for
        self._missing = missing
        self._cache = StepCache(BLOCK_TOKENS)

    @property
    def kept_bytes(self) -> int:
        """About what this model takes of our own memory."""
        return len(self._cache) * BYTES_PER_ENTRY

    def ask(self, asked: Asked) -> Outcome:
        """Look up the longest prefix."""
        rule = self._rule_for(asked)
        if rule is None:
            return Outcome(0, None, self._missing)
        hit = self._cache.lookup(
            asked.space, asked.hashes, asked.at, rule, scale=asked.scale, unseen_tokens=asked.unseen_tokens
        )
        tokens = round(len(asked.rendered.ids) * asked.scale) + asked.unseen_tokens
        if tokens < rule.minimum_tokens:
            return Outcome(0, None, f"{tokens} tokens, minimum {rule.minimum_tokens}")
        if not hit:
            return Outcome(0, None, "no earlier request with this prefix within the life of its entry")
        why = f"in steps of {rule.step_tokens} from {rule.minimum_tokens} tokens on"
        return Outcome(hit, None, why if rule.published else f"{why}; an estimate, the provider publishes no rule")

    def begin(self, asked: Asked, available_from: float) -> None:
        """Enter the prompt."""
        rule = self._rule_for(asked)
        if rule is not None:
            self._cache.write(asked.space, asked.hashes, asked.at, rule, available_from=available_from)


def known_step_model(provider: str) -> StepModel:
    """The step model of a provider in the table of hosts."""
    rule = hosted_steps.RULES[provider]
    if provider == "mistral":
        return StepModel(lambda asked: rule if asked.request.routing_key else None, "no prompt_cache_key, no cache")
    return StepModel(lambda _asked: rule)


class MarkerModel:
    """Anthropic, and Claude elsewhere."""

    def __init__(self, settings: PredictorSettings, minimum_for: Callable[[str | None], int]) -> None:
        self._cache = anthropic_markers.MarkerCache()
        self._minimum_for = minimum_for
        self._runs_count_once = settings.runs_count_once

    @property
    def kept_bytes(self) -> int:
        """About what this model takes of our own memory."""
        return len(self._cache) * BYTES_PER_ENTRY

    def _prompt(self, asked: Asked) -> anthropic_markers.MarkedPrompt:
        return anthropic_markers.marked_prompt(
            asked.request,
            _scaled(asked.rendered.piece_tokens, asked.scale, asked.unseen_tokens),
            minimum=self._minimum_for(asked.request.model),
            runs_count_once=self._runs_count_once,
        )

    def ask(self, asked: Asked) -> Outcome:
        """Look every marker up."""
        read = self._cache.read(self._prompt(asked), asked.at)
        return Outcome(read.hit_tokens, read.written_tokens, read.reason)

    def begin(self, asked: Asked, available_from: float) -> None:
        """Enter the marked block ends."""
        self._cache.write(self._prompt(asked), asked.at, available_from=available_from)


class BreakpointModel:
    """OpenAI from GPT-5.6 on."""

    def __init__(self) -> None:
        self._cache = openai_breakpoints.BreakpointCache()

    @property
    def kept_bytes(self) -> int:
        """About what this model takes of our own memory."""
        return len(self._cache) * BYTES_PER_ENTRY

    def _prompt(self, asked: Asked) -> openai_breakpoints.BreakpointPrompt:
        counts = _scaled(asked.rendered.piece_tokens, asked.scale, asked.unseen_tokens)
        return openai_breakpoints.breakpoint_prompt(asked.request, counts)

    def ask(self, asked: Asked) -> Outcome:
        """Look the breakpoints up."""
        return Outcome(*self._cache.read(self._prompt(asked), asked.at))

    def begin(self, asked: Asked, available_from: float) -> None:
        """Enter the breakpoints."""
        self._cache.write(self._prompt(asked), asked.at, available_from=available_from)


class UnitModel:
    """DeepSeek."""

    def __init__(self) -> None:
        self._cache = UnitCache()

    @property
    def kept_bytes(self) -> int:
        """About what this model takes of our own memory."""
        return len(self._cache) * BYTES_PER_ENTRY

    def ask(self, asked: Asked) -> Outcome:
        """Look for the longest complete unit."""
        hit = self._cache.read(asked.space, asked.rendered.ids, asked.at)
        hit = round(hit * asked.scale) + asked.unseen_tokens if hit else 0
        return Outcome(hit, None, "the longest complete unit; unit sizes are not published")

    def begin(self, asked: Asked, available_from: float) -> None:
        """Enter the end of the prompt and what it shares with earlier ones."""
        self._cache.write(asked.space, asked.rendered.ids, asked.at, available_from=available_from)
