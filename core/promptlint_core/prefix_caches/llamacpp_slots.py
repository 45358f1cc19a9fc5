"""llama.cpp's server: slots that each keep one prompt; a request reuses the common prefix with the slot it gets.

Rules of `server.cpp` of 2026: the idle slot that shares the largest part of the prompt, above the similarity
threshold, else the one used longest ago; a slot about to lose most of its prompt saves it in the RAM cache
(`--cache-ram`), from which a better prefix is loaded back. Models with full attention; windows and recurrent states
also need a checkpoint and may reuse less.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from promptlint_core.prefix_caches.block_hashes import common_prefix

SLOT_PROMPT_SIMILARITY = 0.1
KEEP_AT_LEAST = 0.5
"""A slot that would keep less than this share of its prompt is saved before it is reused."""
LOAD_AT_LEAST = 0.25
"""A saved prompt is loaded only when at least this share of it is reused."""
_MOST_SAVED = 1_000
"""Saved prompts that are kept: each request is compared with all of them."""


@dataclass(slots=True)
class _Slot:
    tokens: array[int] = field(default_factory=lambda: array("I"))
    last_used: int = 0
    request: Hashable | None = None


class LlamaCppSlots:
    """The slots of one server."""

    def __init__(
        self, slots: int = 1, *, similarity: float = SLOT_PROMPT_SIMILARITY, saved_tokens: int | None = None
    ) -> None:
        """`saved_tokens` is what the RAM cache holds; None: unlimited, 0: switched off."""
        self._slots = [_Slot() for _ in range(slots)]
        self._similarity = similarity
        self._saved_tokens = saved_tokens
        self._saved: list[array[int]] = []
        self._uses = 0

    def start(self, request: Hashable, tokens: Sequence[int]) -> int | None:
        """Give the prompt a slot; returns the tokens it need not compute, None when every slot is busy.

        A prompt that is wholly there still computes its last token.
        """
        prompt = array("I", tokens)
        slot, save = self._choose(prompt)
        if slot is None:
            return None
        if save and self._saved_tokens != 0 and slot.tokens:
            self._save(slot.tokens)
            slot.tokens = self._load(slot.tokens, prompt)
        hit = max(0, min(common_prefix(slot.tokens, prompt), len(prompt) - 1))
        self._uses += 1
        slot.tokens, slot.request, slot.last_used = prompt, request, self._uses
        return hit

    def _choose(self, prompt: array[int]) -> tuple[_Slot | None, bool]:
        idle = [slot for slot in self._slots if slot.request is None]
        best, best_share, shared = None, 0.0, 0
        for slot in idle:
            common = common_prefix(slot.tokens, prompt)
            share = common / max(1, len(prompt))
            if share > best_share and share > self._similarity:
                best, best_share, shared = slot, share, common
        if best is not None:
            return best, shared / len(best.tokens) < KEEP_AT_LEAST
        return min(idle, key=lambda slot: slot.last_used, default=None), True

    def _save(self, tokens: array[int]) -> None:
        if any(common_prefix(saved, tokens) == len(tokens) for saved in self._saved):
            return
        self._saved = [saved for saved in self._saved if common_prefix(saved, tokens) < len(saved)]
        self._saved.append(tokens)
        del self._saved[:-_MOST_SAVED]
        while (
            self._saved_tokens is not None and len(self._saved) > 1 and sum(map(len, self._saved)) > self._saved_tokens
        ):
            del self._saved[0]

    @property
    def kept_tokens(self) -> int:
        """Tokens in slots and saved prompts."""
        return sum(len(slot.tokens) for slot in self._slots) + sum(map(len, self._saved))

    def _load(self, kept: array[int], prompt: array[int]) -> array[int]:
        """The saved prompt that keeps and covers more than what the slot holds; an empty slot where none does."""
        common = common_prefix(kept, prompt)
        best, keep, cover = None, common / len(kept), common / max(1, len(prompt))
        for saved in self._saved:
            common = common_prefix(saved, prompt)
            saved_keep, saved_cover = common / len(saved), common / max(1, len(prompt))
            if saved_keep >= LOAD_AT_LEAST and saved_keep > keep and saved_cover > cover:
                best, keep, cover = saved, saved_keep, saved_cover
        if best is None:
            return kept
        self._saved.remove(best)
        return best

    def recognize(self, prompt: array[int], generated: Sequence[int]) -> None:
        """Tokens generated behind a prompt have become known (by their replay): slots and saved prompts have them."""
        whole = prompt + array("I", generated)
        for slot in self._slots:
            if slot.request is None and slot.tokens == prompt:
                slot.tokens = whole
        self._saved = [whole if saved == prompt else saved for saved in self._saved]

    def finish(self, request: Hashable, generated: Sequence[int] = ()) -> None:
        """The request is answered: its slot keeps the prompt and all generated tokens but the last."""
        for slot in self._slots:
            if slot.request == request:
                slot.request = None
                slot.tokens.extend(generated[:-1])
