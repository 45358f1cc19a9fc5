"""Self-hosted engines: the prompt enters the cache when it is scheduled, and what was generated stays in it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from promptlint_core.exchange import Request, Response
from promptlint_core.prefix_caches.block_hashes import cap_at_last_token
from promptlint_core.prefix_caches.llamacpp_slots import LlamaCppSlots
from promptlint_core.prefix_caches.sglang_radix import RadixCache
from promptlint_core.prefix_caches.vllm_blocks import VllmBlocks
from promptlint_proxy.predict.prediction import PredictorSettings
from promptlint_proxy.predict.render import Rendered
from promptlint_proxy.predict.replayed_answers import Answered, ReplayedAnswers

KEPT_TOKENS = 2_000_000
"""What the predictor keeps of an engine whose pool it was not told."""
_BYTES_PER_BLOCK = 450
"""Of one block of vLLM with its hash in our tables; measured."""
_BYTES_PER_NODE = 600
"""Of SGLang's tree."""
_BYTES_PER_ANSWER = 800
_BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """One request on its way through a model."""

    key: Hashable
    request: Request
    rendered: Rendered
    space: str
    """What separates caches: model, salt, settings that the template renders."""
    hashes: tuple[int, ...]
    at: float
    scale: float
    """Reported ÷ estimated prompt tokens of this model so far."""
    unseen_tokens: int = 0
    """Of the head, that the wire does not show; learnt from reported prompts."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a model says of one request."""

    hit_tokens: int | None
    written_tokens: int | None
    reason: str


def _reason(hit_tokens: int, otherwise: str) -> str:
    return otherwise if hit_tokens else "nothing of this prefix is cached"


def _answered(asked: Asked, output_tokens: int, response: Response) -> Answered:
    return Answered(
        key=asked.key,
        space=asked.space,
        prompt=asked.rendered.ids,
        pieces=len(asked.request.pieces),
        prompt_chars=len(asked.request.text),
        generated_tokens=output_tokens,
        reasoned=response.reasoning,
        content_chars=response.content_chars,
        content_tail=response.content_tail,
    )


def _bytes_of(answers: ReplayedAnswers) -> int:
    return len(answers) * _BYTES_PER_ANSWER + answers.kept_tokens * _BYTES_PER_TOKEN


class VllmModel:
    """vLLM, and engines with block reuse like it."""

    def __init__(self, settings: PredictorSettings) -> None:
        self._block_size = settings.block_size
        blocks = 1 + (settings.capacity_tokens or KEPT_TOKENS) // settings.block_size
        self._engine = VllmBlocks(max(2, blocks), settings.block_size, settings.vllm_version)
        self._answers = ReplayedAnswers(settings.block_size)

    @property
    def kept_bytes(self) -> int:
        """About what this model takes of our own memory."""
        return self._engine.pool.known_blocks * _BYTES_PER_BLOCK + _bytes_of(self._answers)

    def ask(self, asked: Asked) -> Outcome:
        """Look up and allocate."""
        tokens = len(asked.rendered.ids)
        replay = self._answers.find(asked.request, asked.rendered, asked.space, asked.hashes)
        if replay is not None:
            answered, computed = replay
            self._engine.recognize(answered.key, asked.hashes[: computed // self._block_size])
        hit = self._engine.start(asked.key, asked.hashes, tokens)
        if hit is None:
            hit = len(self._engine.lookup(asked.hashes, tokens)) * self._block_size
            return Outcome(hit, None, "the pool is full: the request waits or pushes another one out")
        whole = hit == cap_at_last_token(tokens, tokens, self._block_size)
        return Outcome(hit, None, _reason(hit, "all that can be read" if whole else "up to the first missing block"))

    def answer(self, asked: Asked, output_tokens: int | None, response: Response) -> None:
        """Room for what was generated, then everything is freed and can be hit until it is reused."""
        if output_tokens:
            answered = _answered(asked, output_tokens, response)
            if self._engine.grow(asked.key, answered.computed_tokens):
                self._answers.add(answered, asked.hashes)
        self._engine.finish(asked.key)

    def drop(self, asked: Asked) -> None:
        """The request failed or its answer was never seen."""
        self._engine.finish(asked.key)


class SglangModel:
    """SGLang's radix tree."""

    def __init__(self, settings: PredictorSettings) -> None:
        self._tree = RadixCache(settings.capacity_tokens or KEPT_TOKENS, settings.page_size)
        self._answers = ReplayedAnswers(settings.block_size)

    @property
    def kept_bytes(self) -> int:
        """About what this model takes of our own memory."""
        tree = self._tree.total_tokens * _BYTES_PER_TOKEN + self._tree.nodes * _BYTES_PER_NODE
        return tree + _bytes_of(self._answers)

    def ask(self, asked: Asked) -> Outcome:
        """Match all but the last token, then enter the prompt."""
        ids = asked.rendered.ids
        replay = self._answers.find(asked.request, asked.rendered, asked.space, asked.hashes)
        if replay is not None:
            self._tree.insert(ids[: replay[1]], asked.space)
        hit = self._tree.match(ids[:-1], asked.space)
        self._tree.insert(ids, asked.space)
        return Outcome(hit, None, _reason(hit, "up to the first page that is not in the tree"))

    def answer(self, asked: Asked, output_tokens: int | None, response: Response) -> None:
        """Remember how much was generated behind this prompt."""
        if output_tokens:
            answered = _answered(asked, output_tokens, response)
            self._answers.add(answered, asked.hashes)

    def drop(self, asked: Asked) -> None:
        """Nothing is held."""


class LlamaCppModel:
    """llama.cpp's slots, and Ollama's runner."""

    def __init__(self, settings: PredictorSettings) -> None:
        self._slots = LlamaCppSlots(settings.slots, saved_tokens=settings.capacity_tokens or KEPT_TOKENS)
        self._answers = ReplayedAnswers(settings.block_size)

    @property
    def kept_bytes(self) -> int:
        """About what this model takes of our own memory."""
        return self._slots.kept_tokens * _BYTES_PER_TOKEN + _bytes_of(self._answers)

    def ask(self, asked: Asked) -> Outcome:
        """Give the prompt a slot."""
        replay = self._answers.find(asked.request, asked.rendered, asked.space, asked.hashes)
        if replay is not None:
            answered, computed = replay
            self._slots.recognize(answered.prompt, asked.rendered.ids[len(answered.prompt) : computed])
        hit = self._slots.start(asked.key, asked.rendered.ids)
        if hit is None:
            return Outcome(None, None, "every slot is busy: which one frees first is not known")
        return Outcome(hit, None, _reason(hit, "the common prefix with the slot it gets"))

    def answer(self, asked: Asked, output_tokens: int | None, response: Response) -> None:
        """The slot keeps prompt and answer."""
        self._slots.finish(asked.key)
        if output_tokens:
            answered = _answered(asked, output_tokens, response)
            self._answers.add(answered, asked.hashes)

    def drop(self, asked: Asked) -> None:
        """The slot is idle again."""
        self._slots.finish(asked.key)
