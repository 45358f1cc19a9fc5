"""What a GPU leaves for the KV cache, and how many tokens and requests that holds."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from promptlint_core.errors import PromptlintError
from promptlint_core.kv.geometry import Geometry
from promptlint_core.kv.gpus import Gpu, gpu_of
from promptlint_core.kv.llama_cpp import llama_cpp_context, llama_cpp_memory
from promptlint_core.kv.paging import PagedLayout, paged_layout
from promptlint_core.kv.sglang import SGLANG_PAGE_TOKENS, sglang_cell_bytes, sglang_mem_fraction
from promptlint_core.kv.size import state_bytes

__all__ = ["VLLM_UTILIZATION", "Held", "Pool", "Settings", "default_settings", "estimate_activation", "pool"]

GIB = 1 << 30
VLLM_UTILIZATION = 0.92  # 0.90 before 0.21
_NON_TORCH_BYTES = int(0.13 * GIB)  # measured on H100: 0.13 GiB alone, 0.55 with a partner
_NON_TORCH_PARALLEL_BYTES = int(0.55 * GIB)
_GRAPH_BYTES = int(0.4 * GIB)
_SAMPLER_BYTES_PER_LOGIT = 38.6
_LLAMA_CPP_UBATCH_TOKENS = 512
_ENGINES = ("vllm", "sglang", "llamacpp")


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of the scheduler that memory depends on."""

    max_num_seqs: int
    max_num_batched_tokens: int


@dataclass(frozen=True, slots=True)
class Held:
    """What a pool of so many bytes holds."""

    block_size: int
    blocks: int
    tokens: int
    """`GPU KV cache size` as the engine prints it; for vLLM hybrids it depends on `max_model_len`."""
    tokens_before_0_21: int | None
    """The same as vLLM up to 0.20 prints it."""
    blocks_per_request: int
    """Of a request of `max_model_len`."""
    max_concurrency: float
    """Requests of `max_model_len` at once."""
    layout: PagedLayout | None
    """None for engines without vLLM's blocks."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The KV pool of one GPU (of one data-parallel replica), and what it holds."""

    engine: str
    gpu: str
    memory_bytes: int
    utilization: float
    weights_bytes: int
    """On this GPU."""
    activation_bytes: int
    other_bytes: int
    """Non-torch memory and CUDA graphs."""
    kv_pool_bytes: int
    held: Held
    max_model_len: int
    settings: Settings
    dp: int = 1
    notes: tuple[str, ...] = ()

    @property
    def blocks(self) -> int:
        return self.held.blocks

    @property
    def tokens(self) -> int:
        return self.held.tokens

    @property
    def max_concurrency(self) -> float:
        return self.held.max_concurrency

    def requests(self, prompt_tokens: int, output_tokens: int, shared_prefix_tokens: int = 0) -> int:
        """Requests that run at once without preemption, the shared prefix stored once (all replicas together).

        A finished request holds prompt + output − 1 positions: the last token sampled is never written.
        """
        length = max(1, prompt_tokens + output_tokens - 1)
        shared_prefix_tokens = min(shared_prefix_tokens, max(0, prompt_tokens - 1))
        layout = self.held.layout
        if layout is None:
            shared = shared_prefix_tokens if self.engine == "sglang" else 0
            own = length - shared
            return self.dp * max(0, (self.tokens - shared) // max(1, own))
        budget = self.settings.max_num_batched_tokens
        needed = layout.blocks_per_request(length, max_num_batched_tokens=budget)
        shared = layout.shareable_blocks(shared_prefix_tokens)
        usable = self.blocks - 1 - shared  # one block is the null block
        return self.dp * max(0, usable // max(1, needed - shared))


def pool(  # noqa: PLR0913 -- one keyword per option of an engine
    gpu: Gpu | str,
    geometry: Geometry,
    utilization: float | None = None,
    *,
    kv_dtype: str = "auto",
    engine: str = "vllm",
    tp: int = 1,
    pp: int = 1,
    dp: int = 1,
    block_size: int = 16,
    max_model_len: int | None = None,
    settings: Settings | None = None,
    weights_bytes: int | None = None,
    activation_bytes: int | None = None,
    other_bytes: int | None = None,
    kv_pool_bytes: int | None = None,
    speculative_tokens: int = 0,
    mamba_mode: str = "none",
    encoder_tokens: int | None = None,
) -> Pool:
    """Memory × utilization − weights − peak activation − other, and what fits into it.

    Args:
        utilization: vLLM's gpu_memory_utilization (0.92), SGLang's mem_fraction_static (computed); ignored by
            llama.cpp, which takes what its context needs.
        max_model_len: longest request; the model's own limit when None.
        weights_bytes: of the whole model, over all GPUs; None: as counted.
        activation_bytes: measured peak on one GPU; None: `estimate_activation`.
        other_bytes: non-torch memory and CUDA graphs; None: what was measured on H100.
        kv_pool_bytes: skip the budget and use this many bytes (vLLM's kv_cache_memory_bytes).

    Raises:
        PromptlintError: unknown GPU or engine, a utilization outside (0, 1], weights that are not known, or a model
            that keeps nothing.
    """
    card = gpu if isinstance(gpu, Gpu) else gpu_of(gpu)
    settings = settings or default_settings(card)
    stated = _Stated(weights_bytes, activation_bytes, other_bytes, kv_pool_bytes)
    budget = _budget(card, geometry, engine, utilization, settings, stated, tp, tp * pp)
    length = max_model_len or geometry.max_tokens or 8192
    holding = _Holding(
        geometry, kv_dtype, tp, pp, block_size, length, settings, speculative_tokens, mamba_mode, encoder_tokens
    )
    held = holding.held(engine, budget.free_bytes)
    return Pool(
        engine=engine,
        gpu=card.name,
        memory_bytes=card.memory_bytes,
        utilization=budget.share,
        weights_bytes=budget.weights_bytes,
        activation_bytes=budget.activation_bytes,
        other_bytes=budget.other_bytes,
        kv_pool_bytes=budget.free_bytes,
        held=held,
        max_model_len=length,
        settings=settings,
        dp=dp,
        notes=tuple(_notes(budget, card, held)),
    )


def default_settings(gpu: Gpu) -> Settings:
    """vLLM's defaults of the API server by GPU: large cards other than A100 get the large ones."""
    large = gpu.memory_bytes >= 70 * GIB and not gpu.name.startswith("A100")
    if large and gpu.memory_bytes >= 160 * GIB:
        return Settings(1024, 16_384)
    return Settings(1024, 8192) if large else Settings(256, 2048)


def estimate_activation(geometry: Geometry, settings: Settings, *, tp: int = 1) -> int:
    """Peak activation of vLLM's profiling run on one GPU, bytes.

    The sampler's dummy run dominates: max_num_seqs × vocabulary × 38.6 bytes (about ten fp32 copies of the logits),
    fitted to four runs on H100 (4.84 to 7.38 GiB) within 4 %; else the widest feed-forward of one chunk.
    """
    vocab, hidden = geometry.vocab or 128_000, geometry.hidden or 4096
    sampler = settings.max_num_seqs * vocab * _SAMPLER_BYTES_PER_LOGIT
    intermediate = geometry.intermediate or 4 * hidden
    chunk = settings.max_num_batched_tokens * (4 * hidden + 3 * intermediate / tp) * 2
    return int(max(sampler, chunk))


@dataclass(frozen=True, slots=True)
class _Stated:
    """What the caller knows better than our estimates."""

    weights_bytes: int | None
    activation_bytes: int | None
    other_bytes: int | None
    kv_pool_bytes: int | None


@dataclass(frozen=True, slots=True)
class _Budget:
    share: float
    weights_bytes: int
    activation_bytes: int
    other_bytes: int
    left_bytes: int
    """What remains of the share; negative when the weights do not fit."""
    free_bytes: int


def _budget(
    card: Gpu,
    geometry: Geometry,
    engine: str,
    utilization: float | None,
    settings: Settings,
    stated: _Stated,
    tp: int,
    gpus: int,
) -> _Budget:
    if engine not in _ENGINES:
        raise PromptlintError(f"unknown engine {engine!r}; known: {', '.join(_ENGINES)}")
    if utilization is not None and not 0 < utilization <= 1:
        raise PromptlintError(f"gpu_memory_utilization is a share of the memory between 0 and 1, not {utilization:g}")
    whole_weights = geometry.weights_bytes if stated.weights_bytes is None else stated.weights_bytes
    if whole_weights is None and stated.kv_pool_bytes is None:
        raise PromptlintError(
            f"the weights of {geometry.name} are not known, so neither is what they leave free; give them in GiB"
        )
    weights = ceil((whole_weights or 0) / gpus)
    activation, other = stated.activation_bytes, stated.other_bytes
    if activation is None:
        activation = _activation(geometry, engine, settings, tp)
    if other is None:
        other = _NON_TORCH_PARALLEL_BYTES if gpus > 1 else _NON_TORCH_BYTES
        other += _GRAPH_BYTES if engine == "vllm" else 0
    share = utilization if utilization is not None else _default_share(engine, card)
    left = int(card.memory_bytes * share) - weights
    left -= 0 if engine == "sglang" else activation + other  # SGLang's share already leaves room for them
    free = max(0, left) if stated.kv_pool_bytes is None else stated.kv_pool_bytes
    return _Budget(share, weights, activation, other, left, free)


def _activation(geometry: Geometry, engine: str, settings: Settings, tp: int) -> int:
    if engine == "llamacpp":  # the compute buffer of one micro-batch: fp32 logits and a few hidden rows
        return _LLAMA_CPP_UBATCH_TOKENS * ((geometry.vocab or 128_000) + 4 * (geometry.hidden or 4096)) * 4
    return estimate_activation(geometry, settings, tp=tp)


@dataclass(frozen=True, slots=True)
class _Holding:
    geometry: Geometry
    kv_dtype: str
    tp: int
    pp: int
    block_size: int
    length: int
    settings: Settings
    speculative_tokens: int
    mamba_mode: str
    encoder_tokens: int | None

    def held(self, engine: str, free: int) -> Held:
        if not any(layer.attention or layer.state for layer in self.geometry.layers):
            raise PromptlintError(
                f"{self.geometry.name} keeps neither keys and values nor a state: nothing is held for a request"
            )
        match engine:
            case "sglang":
                return self._sglang(free)
            case "llamacpp":
                return self._llama_cpp(free)
            case _:
                return self._vllm(free)

    def _vllm(self, free: int) -> Held:
        layout = paged_layout(
            self.geometry,
            kv_dtype=self.kv_dtype,
            tp=self.tp,
            pp=self.pp,
            block_size=self.block_size,
            mamba_mode=self.mamba_mode,
            speculative_tokens=self.speculative_tokens,
        )
        encoder = self.encoder_tokens if self.encoder_tokens is not None else (self.geometry.encoder_tokens or 0)
        budget = self.settings.max_num_batched_tokens
        needed = max(1, layout.blocks_per_request(self.length, max_num_batched_tokens=budget, encoder_tokens=encoder))
        blocks = layout.blocks(free)
        concurrency = blocks / needed
        tokens = blocks * self.length // needed if layout.group_count > 1 else blocks * layout.block_size
        old = layout.tokens_before_0_21(free)
        return Held(layout.block_size, blocks, tokens, old, needed, concurrency, layout)

    def _sglang(self, free: int) -> Held:
        cell = sglang_cell_bytes(self.geometry, kv_dtype=self.kv_dtype, tp=self.tp, pp=self.pp)
        if not cell:
            raise PromptlintError(
                f"{self.geometry.name} keeps no tokens, so SGLang's pool of token slots is not for it"
            )
        tokens = max(0, int((free - self._states()) / cell))
        return Held(SGLANG_PAGE_TOKENS, tokens, tokens, None, self.length, tokens / self.length, None)

    def _states(self) -> int:
        return state_bytes(self.geometry, batch=self.settings.max_num_seqs, tp=self.tp, pp=self.pp)

    def _llama_cpp(self, free: int) -> Held:
        tokens = llama_cpp_context(self.geometry, free, kv_dtype=self.kv_dtype)
        needed = llama_cpp_memory(self.geometry, self.length, kv_dtype=self.kv_dtype).total_bytes
        return Held(256, tokens // 256, tokens, None, ceil(self.length / 256), free / max(1, needed), None)


def _default_share(engine: str, gpu: Gpu) -> float:
    match engine:
        case "sglang":
            return sglang_mem_fraction(gpu.memory_bytes)
        case "llamacpp":
            return 1.0
        case _:
            return VLLM_UTILIZATION


def _notes(budget: _Budget, gpu: Gpu, held: Held) -> list[str]:
    notes = []
    if budget.free_bytes == 0 and budget.left_bytes < 0:
        notes.append(f"nothing is left for the KV cache: weights of {budget.weights_bytes / GIB:.2f} GiB on {gpu.name}")
    elif held.max_concurrency < 1:
        notes.append("one request of the full length does not fit")
    if gpu.memory_how == "vendor":
        notes.append(f"memory of {gpu.name} is the sold size less what comparable cards keep back, not measured")
    return notes
