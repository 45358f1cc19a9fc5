"""KV memory of the requests in flight: projected per request, shared prefix blocks counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from promptlint_core.errors import PromptlintError
from promptlint_core.exchange import Request
from promptlint_core.kv.geometry import Geometry
from promptlint_core.kv.model_table import geometry_of
from promptlint_core.kv.pool import pool
from promptlint_core.kv.size import kv_bytes, marginal_bytes_per_token, state_bytes
from promptlint_core.prompt import BoundKind
from promptlint_proxy.predict import NOT_CACHED
from promptlint_proxy.settings import ProxySettings
from promptlint_rules.traffic import Memory

DEFAULT_BLOCK_SIZE = 16


@dataclass(frozen=True, slots=True)
class _Held:
    hashes: tuple[int, ...]
    own_bytes: int
    """Of what no other request can share: the partial last block, the output, constant states."""


class KvInFlight:
    """What the requests in flight will hold when each of them uses its whole bound.

    Bytes of a request = KV of (prompt + bound) tokens in whole blocks + constant states. A block of the prompt that
    several requests in flight have in common is held once: sum = Σ own bytes + distinct blocks × bytes of a block.
    """

    def __init__(
        self,
        geometry: Geometry,
        pool_bytes: int | None,
        *,
        block_size: int = DEFAULT_BLOCK_SIZE,
        kv_dtype: str = "auto",
    ) -> None:
        self.pool_bytes = pool_bytes
        self.block_size = block_size
        self._geometry = geometry
        self._kv_dtype = kv_dtype
        self._block_bytes = marginal_bytes_per_token(geometry, kv_dtype=kv_dtype) * block_size
        self._state_bytes = state_bytes(geometry)
        self._held: dict[str, _Held] = {}
        self._blocks: Counter[int] = Counter()
        self._own_bytes = 0

    @property
    def in_flight_bytes(self) -> int:
        return self._own_bytes + len(self._blocks) * self._block_bytes

    def request_bytes(self, prompt_tokens: int, request: Request) -> int | None:
        """Projected bytes of one request by itself; None where nothing bounds its output."""
        output_tokens = self._output_tokens(prompt_tokens, request)
        if output_tokens is None:
            return None
        # The last sampled token is never written to the cache.
        length = prompt_tokens + max(0, output_tokens * max(1, request.n) - 1)
        return kv_bytes(self._geometry, length, kv_dtype=self._kv_dtype, block_size=self.block_size) + self._state_bytes

    def start(self, key: str, hashes: Sequence[int], prompt_tokens: int, request: Request) -> Memory:
        """A request is sent on; returns the state with it.

        Args:
            key: names it until `finish`.
            hashes: chained hashes of the prompt's full blocks of `block_size` tokens.
            prompt_tokens: of the whole prompt.
            request: for its bound and number of choices.
        """
        self.finish(key)
        if not request.pieces or request.api in NOT_CACHED:
            # Embeddings hold nothing, and of a body that cannot be read nothing is known.
            return Memory(None, self.in_flight_bytes, self.pool_bytes, len(self._held))
        request_bytes = self.request_bytes(prompt_tokens, request)
        projected = request_bytes
        if projected is None:
            projected = kv_bytes(self._geometry, prompt_tokens, kv_dtype=self._kv_dtype, block_size=self.block_size)
        held = _Held(tuple(hashes), max(0, projected - len(hashes) * self._block_bytes))
        self._held[key] = held
        self._own_bytes += held.own_bytes
        self._blocks.update(held.hashes)
        return Memory(request_bytes, self.in_flight_bytes, self.pool_bytes, len(self._held))

    def finish(self, key: str) -> None:
        held = self._held.pop(key, None)
        if held is None:
            return
        self._own_bytes -= held.own_bytes
        for block in held.hashes:
            self._blocks[block] -= 1
            if not self._blocks[block]:
                del self._blocks[block]

    def _output_tokens(self, prompt_tokens: int, request: Request) -> int | None:
        if request.bound.kind is BoundKind.LIMITED and request.bound.tokens is not None:
            return request.bound.tokens
        if self._geometry.max_tokens is None:
            return None
        # An engine lets a request without a bound grow to the end of the context.
        return max(0, self._geometry.max_tokens - prompt_tokens)


def kv_in_flight(settings: ProxySettings) -> KvInFlight | None:
    """As the settings say; None without a model. Raises PromptlintError for a model or GPU that is not known."""
    return kv_memory(
        settings.kv_model,
        settings.kv_pool_bytes,
        settings.gpu,
        block_size=settings.block_size or DEFAULT_BLOCK_SIZE,
        kv_dtype=settings.kv_dtype,
    )


def kv_memory(
    model: str | None,
    pool_bytes: int | None = None,
    gpu: str | None = None,
    *,
    block_size: int = DEFAULT_BLOCK_SIZE,
    kv_dtype: str = "auto",
) -> KvInFlight | None:
    """The memory of a model, by name or `config.json`, in a pool of so many bytes or as a GPU leaves it; None without
    a model. Raises PromptlintError for a model or GPU that is not known.
    """
    if model is None:
        if pool_bytes is not None or gpu is not None:
            raise PromptlintError("--kv-pool-bytes and --gpu need the model: --kv-model NAME or a config.json")
        return None
    geometry = geometry_of(model)
    if pool_bytes is None and gpu is not None:
        pool_bytes = pool(gpu, geometry, kv_dtype=kv_dtype).kv_pool_bytes
    return KvInFlight(geometry, pool_bytes, block_size=block_size, kv_dtype=kv_dtype)
