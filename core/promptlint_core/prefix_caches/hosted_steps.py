"""Hosts that cache automatically in fixed token steps behind a minimum; the table of those known.

Sources: the hosts' prompt-caching pages, state of November 2026. Where a host publishes no step, hits are floored to
`UNPUBLISHED_STEP` and the rule says that it is an estimate.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from promptlint_core.prefix_caches.entries import Entries

UNPUBLISHED_STEP = 16
_MINUTE_S = 60.0
_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class StepRule:
    """How a host's automatic cache counts."""

    minimum_tokens: int
    step_tokens: int
    """A hit beyond the minimum comes in these steps."""
    life_s: float
    """Idle time after which an entry is gone; a hit starts it again."""
    longest_s: float | None = None
    """Longest life whatever the use; None: no such limit."""
    published: bool = True
    """False: minimum, step or life is not published and is an estimate."""

    def hit_tokens(self, common_tokens: int) -> int:
        """What a common prefix gives back: the minimum, then whole steps.

        >>> rule = StepRule(1024, 128, 300)
        >>> [rule.hit_tokens(n) for n in (1023, 1024, 1151, 1152)]
        [0, 1024, 1024, 1152]
        """
        if common_tokens < self.minimum_tokens:
            return 0
        return self.minimum_tokens + (common_tokens - self.minimum_tokens) // self.step_tokens * self.step_tokens


RULES: dict[str, StepRule] = {
    "mistral": StepRule(64, 64, 5 * _MINUTE_S, published=False),
    "xai": StepRule(128, 128, 10 * _MINUTE_S, published=False),
    "groq": StepRule(128, UNPUBLISHED_STEP, 2 * _HOUR_S, published=False),
    "together": StepRule(UNPUBLISHED_STEP, UNPUBLISHED_STEP, 10 * _MINUTE_S, published=False),
    "fireworks": StepRule(UNPUBLISHED_STEP, UNPUBLISHED_STEP, 10 * _MINUTE_S, published=False),
    "moonshot": StepRule(1024, UNPUBLISHED_STEP, 5 * _MINUTE_S, published=False),
    "qwen": StepRule(1024, UNPUBLISHED_STEP, 5 * _MINUTE_S, published=False),
    "zai": StepRule(512, UNPUBLISHED_STEP, 10 * _MINUTE_S, published=False),
    "minimax": StepRule(512, UNPUBLISHED_STEP, 10 * _MINUTE_S, published=False),
}
"""By provider. Mistral needs a `prompt_cache_key`; without one nothing is reported."""


class StepCache:
    """Entries at the block ends of token-hash chains. One hash stands for `block_tokens` tokens."""

    def __init__(self, block_tokens: int) -> None:
        self.block_tokens = block_tokens
        self._entries = Entries()

    def __len__(self) -> int:
        return len(self._entries)

    def lookup(
        self,
        space: Hashable,
        hashes: Sequence[int],
        at: float,
        rule: StepRule,
        *,
        scale: float = 1.0,
        unseen_tokens: int = 0,
    ) -> int:
        """Tokens that can be read back at a time; a hit refreshes what it reads.

        Args:
            space: what separates caches: model, parameters, routing key.
            hashes: chained hashes of the prompt's full blocks.
            at: seconds.
            rule: minimum, step and life.
            scale: the host's tokens per token of the hashed blocks, where another tokenizer counted them.
            unseen_tokens: that the host has ahead of the first block or in it, and that are not in the hashes.
        """
        found = 0
        for block_hash in hashes:
            if self._entries.alive((space, block_hash), at) is None:
                break
            found += 1
        hit = rule.hit_tokens(int(found * self.block_tokens * scale) + unseen_tokens) if found else 0
        if hit:
            for block_hash in hashes[:found]:
                self._entries.refresh((space, block_hash), at, rule.longest_s)
        return hit

    def write(
        self, space: Hashable, hashes: Sequence[int], at: float, rule: StepRule, *, available_from: float
    ) -> None:
        """Enter a prompt whose answer began at `available_from`."""
        for index, block_hash in enumerate(hashes):
            tokens = (index + 1) * self.block_tokens
            self._entries.write((space, block_hash), at, rule.life_s, available_from=available_from, tokens=tokens)
