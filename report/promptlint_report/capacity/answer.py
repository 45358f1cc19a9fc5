"""From a question to numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from promptlint_core.errors import PromptlintError
from promptlint_core.gpu_share import utilization_warning
from promptlint_core.kv import (
    Geometry,
    Pool,
    gpu_of,
    kv_bytes,
    kv_bytes_per_token,
    marginal_bytes_per_token,
    parse_cache_dtype,
    pool,
    state_bytes,
)
from promptlint_report.capacity.question import Question

_CURVE = (0.50, 0.60, 0.70, 0.80, 0.85, 0.90, 0.92, 0.95, 0.97, 0.98)
_DEFAULT_BLOCK = 16


@dataclass(frozen=True, slots=True)
class LastBlock:
    """What paging wastes at the end of one request."""

    block_size: int
    blocks: int
    unused_slots: int
    unused_bytes: int


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The same GPU under another condition."""

    name: str
    tokens: int
    max_concurrency: float
    requests: int | None
    """Requests of the asked shape at once; None when no shape was given."""


@dataclass(frozen=True, slots=True)
class Step:
    """One point of the curve over gpu_memory_utilization."""

    utilization: float
    kv_pool_bytes: int
    tokens: int
    max_concurrency: float
    warning: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    question: Question
    geometry: Geometry
    kv_bytes: int
    kv_bytes_per_token: int
    marginal_bytes_per_token: int
    """Beyond the longest window."""
    state_bytes: int
    weights_bytes: int | None
    last_block: LastBlock
    pool: Pool | None
    requests_alone: int | None
    """Requests of the asked shape at once when each holds its whole prompt."""
    requests_sharing: int | None
    """The same when the shared prefix is stored once."""
    what_ifs: tuple[WhatIf, ...] = ()
    curve: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()


def answer(question: Question) -> Answer:
    """Sizes of one model and, with a GPU, what fits on it.

    Raises:
        PromptlintError: an option that no engine could follow (unknown dtype or GPU, a prefix longer than the prompt).
    """
    _check(question)
    geometry = question.geometry.with_draft() if question.speculative_tokens else question.geometry
    states = state_bytes(
        geometry,
        batch=question.batch,
        tp=question.tp,
        pp=question.pp,
        speculative_tokens=question.speculative_tokens,
    )
    weights = question.weights_bytes if question.weights_bytes is not None else geometry.weights_bytes
    notes = [*geometry.notes]
    found, missing = _pool(question, geometry)
    if missing:
        notes.append(missing)
    if geometry.has_cross_attention and question.encoder_tokens is None and geometry.encoder_tokens is None:
        notes.append("cross attention is left out: it depends on the length of the encoder's input")
    if geometry.max_tokens and question.tokens > geometry.max_tokens:
        notes.append(f"{question.tokens:,} tokens are more than the model's context of {geometry.max_tokens:,}")
    return Answer(
        question=question,
        geometry=geometry,
        kv_bytes=_kv_bytes(question, geometry, question.block_size, question.batch),
        kv_bytes_per_token=kv_bytes_per_token(geometry, kv_dtype=question.kv_dtype, tp=question.tp, pp=question.pp),
        marginal_bytes_per_token=marginal_bytes_per_token(
            geometry, kv_dtype=question.kv_dtype, tp=question.tp, pp=question.pp
        ),
        state_bytes=states,
        weights_bytes=weights,
        last_block=_last_block(question, geometry),
        pool=found,
        requests_alone=_requests(found, question, shared=0),
        requests_sharing=_requests(found, question, shared=question.shared_prefix_tokens),
        what_ifs=_what_ifs(question, geometry) if found else (),
        curve=_curve(question, geometry) if found and question.engine != "llamacpp" else (),
        notes=tuple(notes),
    )


def _check(question: Question) -> None:
    parse_cache_dtype(question.kv_dtype)
    if question.gpu is not None:
        gpu_of(question.gpu)
    if question.shared_prefix_tokens > (question.prompt_tokens or 0):
        raise PromptlintError(
            f"a shared prefix of {question.shared_prefix_tokens:,} tokens is longer than the prompt "
            f"of {question.prompt_tokens or 0:,}; give --prompt"
        )


def _pool(question: Question, geometry: Geometry, **changes: object) -> tuple[Pool | None, str | None]:
    """(the pool, None), or (None, why there is none)."""
    asked = replace(question, **changes)  # type: ignore[arg-type]
    if asked.gpu is None:
        return None, None
    if geometry.weights_bytes is None and asked.weights_bytes is None:
        return None, f"what fits is not known: the weights of {geometry.name} are not; give them with --weights"
    found = pool(
        asked.gpu,
        geometry,
        asked.utilization,
        kv_dtype=asked.kv_dtype,
        engine=asked.engine,
        tp=asked.tp,
        pp=asked.pp,
        dp=asked.dp,
        block_size=asked.block_size or _DEFAULT_BLOCK,
        max_model_len=asked.longest_request_tokens,
        weights_bytes=asked.weights_bytes,
        activation_bytes=asked.activation_bytes,
        speculative_tokens=asked.speculative_tokens,
        encoder_tokens=asked.encoder_tokens,
    )
    return found, None


def _requests(found: Pool | None, question: Question, *, shared: int, prompt_factor: int = 1) -> int | None:
    if found is None or not question.asks_for_requests:
        return None
    prompt = (question.prompt_tokens or 0) * prompt_factor
    return found.requests(prompt, question.output_tokens or 0, shared)


def _kv_bytes(question: Question, geometry: Geometry, block_size: int | None, batch: int = 1) -> int:
    return kv_bytes(
        geometry,
        question.tokens,
        batch=batch,
        kv_dtype=question.kv_dtype,
        tp=question.tp,
        pp=question.pp,
        block_size=block_size,
        encoder_tokens=question.encoder_tokens,
    )


def _last_block(question: Question, geometry: Geometry) -> LastBlock:
    block = question.block_size or _DEFAULT_BLOCK
    blocks = -(-question.tokens // block)
    whole, used = _kv_bytes(question, geometry, block), _kv_bytes(question, geometry, None)
    return LastBlock(block, blocks, blocks * block - question.tokens, whole - used)


def _what_ifs(question: Question, geometry: Geometry) -> tuple[WhatIf, ...]:
    """The same GPU with the prompt doubled, and with a cache of half the bytes."""
    found: list[WhatIf] = []

    def add(name: str, changed: Question, prompt_factor: int = 1) -> None:
        held, _ = _pool(changed, geometry)
        if held is not None:
            requests = _requests(held, changed, shared=changed.shared_prefix_tokens, prompt_factor=prompt_factor)
            found.append(WhatIf(name, held.tokens, held.max_concurrency, requests))

    prompt = question.prompt_tokens if question.prompt_tokens is not None else question.longest_request_tokens
    longer = question.longest_request_tokens + prompt
    add("as asked", question)
    add("prompt twice as long", replace(question, tokens=question.tokens + prompt, max_model_len=longer), 2)
    if parse_cache_dtype(question.kv_dtype).k in ("auto", "bf16", "bfloat16", "fp16", "float16", "f16"):
        quantised = "q8_0" if question.engine == "llamacpp" else "fp8"
        add(f"cache in {quantised}", replace(question, kv_dtype=quantised))
        if question.engine != "llamacpp":
            add("cache in nvfp4", replace(question, kv_dtype="nvfp4"))
        else:
            add("cache in q4_0", replace(question, kv_dtype="q4_0"))
    if question.asks_for_requests and question.shared_prefix_tokens:
        add("shared prefix lost", replace(question, shared_prefix_tokens=0))
    return tuple(found)


def _curve(question: Question, geometry: Geometry) -> tuple[Step, ...]:
    steps = []
    for utilization in _CURVE:
        found, _ = _pool(question, geometry, utilization=utilization)
        if found is not None:
            warning = utilization_warning(utilization)
            steps.append(Step(utilization, found.kv_pool_bytes, found.tokens, found.max_concurrency, warning))
    return tuple(steps)
