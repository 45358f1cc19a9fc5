"""KV memory of recorded requests: each held from its start to its end, as the live proxy projects them."""

from __future__ import annotations

import heapq

from promptlint_core.exchange import Exchange
from promptlint_core.prefix_caches.block_hashes import chain
from promptlint_proxy.kv_in_flight import KvInFlight
from promptlint_proxy.predict import Predictor, PredictorSettings
from promptlint_rules.traffic import Memory


class ReplayedMemory:
    """Feed it exchanges in the order of their start. One whose end is not recorded is held for no time."""

    def __init__(self, in_flight: KvInFlight, predictor: PredictorSettings | None = None) -> None:
        """`predictor` names the tokenizer and template that prompts are counted with."""
        self._in_flight = in_flight
        self._predictor = Predictor(predictor)
        self._ends: list[tuple[float, int]] = []

    def start(self, exchange: Exchange) -> Memory:
        """The state of the pool with this request in it."""
        timing = exchange.timing
        while self._ends and self._ends[0][0] <= timing.started_at:
            self._in_flight.finish(str(heapq.heappop(self._ends)[1]))
        rendered = self._predictor.render(exchange.request)
        usage = exchange.response.usage
        prompt_tokens = usage.prompt_tokens if usage and usage.prompt_tokens else len(rendered.ids)
        hashes = chain(rendered.ids, self._in_flight.block_size)
        memory = self._in_flight.start(str(exchange.index), hashes, prompt_tokens, exchange.request)
        heapq.heappush(self._ends, (timing.started_at + (timing.e2e_s or 0.0), exchange.index))
        return memory
