"""The prefix cache of the simulated upstream: vLLM's block pool, or a hosted one with minimum, steps and markers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from promptlint_core.exchange import Request, Usage
from promptlint_core.prefix_caches.anthropic_markers import MarkerCache, marked_prompt
from promptlint_core.prefix_caches.block_hashes import chain
from promptlint_core.prefix_caches.hosted_steps import StepCache, StepRule
from promptlint_core.prefix_caches.vllm_blocks import VllmBlocks
from promptlint_proxy.predict.render import Rendered
from promptlint_proxy.simulated.settings import SimulatedSettings

HASH_TOKENS = 16
"""The hosted cache's steps and minimum are multiples of it."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """What the cache gives back of one prompt."""

    usage: Usage
    """Without the output."""
    key: str
    """Names the request until `finish`."""


class UpstreamCache:
    """One cache for all APIs of the server."""

    def __init__(self, settings: SimulatedSettings) -> None:
        self._settings = settings
        self._marked = MarkerCache()
        self._steps = StepCache(HASH_TOKENS)
        self._rule = StepRule(settings.minimum_tokens, settings.step_tokens, settings.life_s)
        self._prompt_hashes: dict[str, int] = {}
        self._extra_keys: dict[str, list[str]] = {}
        self.blocks = VllmBlocks(settings.blocks, settings.block_size)

    def lookup(self, key: str, request: Request, rendered: Rendered, at_s: float, first_byte_s: float) -> Lookup | None:
        """Look a prompt up and enter it; None when the pool has no room until another request finishes."""
        tokens = len(rendered.ids)
        if not self._settings.prefix_caching:
            return Lookup(_usage(tokens, 0), key)
        if not self._settings.hosted:
            return self._in_blocks(key, request, rendered)
        if request.api == "messages":
            return self._at_markers(key, request, rendered, at_s, first_byte_s)
        space = (request.model, request.routing_key)
        hashes = chain(rendered.ids, HASH_TOKENS)
        hit = self._steps.lookup(space, hashes, at_s, self._rule)
        self._steps.write(space, hashes, at_s, self._rule, available_from=at_s + first_byte_s)
        return Lookup(_usage(tokens, hit), key)

    def _in_blocks(self, key: str, request: Request, rendered: Rendered) -> Lookup | None:
        # A served model name that is not the base model's is an adapter, which has a cache of its own.
        extra = [request.model or "", request.salt or ""]
        hashes = chain(rendered.ids, self._settings.block_size, extra_keys=extra)
        hit = self.blocks.start(key, hashes, len(rendered.ids))
        if hit is not None:
            self._prompt_hashes[key] = len(hashes)
            self._extra_keys[key] = extra
        return None if hit is None else Lookup(_usage(len(rendered.ids), hit), key)

    def _at_markers(self, key: str, request: Request, rendered: Rendered, at_s: float, first_byte_s: float) -> Lookup:
        prompt = marked_prompt(request, rendered.piece_tokens, minimum=self._settings.minimum_tokens)
        found = self._marked.read(prompt, at_s)
        self._marked.write(prompt, at_s, available_from=at_s + first_byte_s)
        life_s = max((marker.life_s for marker in request.markers), default=300)
        tokens = len(rendered.ids)
        usage = Usage(
            prompt_tokens=tokens,
            hit_tokens=found.hit_tokens,
            written_tokens=found.written_tokens,
            computed_tokens=tokens - found.hit_tokens - found.written_tokens,
            written_by_life=((life_s, found.written_tokens),) if found.written_tokens else (),
        )
        return Lookup(usage, key)

    def keep_generated(self, key: str, ids: Sequence[int]) -> None:
        """Enter what was computed behind a prompt; `ids` are those of the prompt and of the generated tokens but the
        last, which is never computed. A hosted cache keeps prompts alone.
        """
        before = self._prompt_hashes.get(key)
        if before is None:
            return
        size = self._settings.block_size
        hashes = chain(ids, size, extra_keys=self._extra_keys[key])
        self.blocks.grow(key, len(ids), hashes[before:])

    def finish(self, key: str) -> None:
        """The request's blocks can be reused."""
        self._prompt_hashes.pop(key, None)
        self._extra_keys.pop(key, None)
        self.blocks.finish(key)


def _usage(tokens: int, hit: int) -> Usage:
    return Usage(prompt_tokens=tokens, hit_tokens=hit, written_tokens=0, computed_tokens=tokens - hit)
