"""Token counts: our estimate of a prompt, corrected by what the upstream reports for the same model."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

from promptlint_core import tokens
from promptlint_core.exchange import Request

_KEPT_PIECES = 50_000
_KEPT_MODELS = 1_000
_ALWAYS = 20
"""Reported prompts of a model that are all counted by us too; then one in `_EVERY`."""
_EVERY = 25
_WEIGHT = 0.1
_PLAUSIBLE = (0.25, 4.0)
"""A reported count outside these multiples of our estimate counts other things (images, hidden text)."""


class TokenCounter:
    """Counts prompts piece by piece; remembers counts by hash, never the text."""

    def __init__(self) -> None:
        self._counts: OrderedDict[tuple[int, int, str], int] = OrderedDict()
        self._factors: OrderedDict[str, float] = OrderedDict()
        self._reported: OrderedDict[str, int] = OrderedDict()

    def count_text(self, text: str, encoding: str = tokens.DEFAULT_ENCODING) -> int:
        key = (hash(text), len(text), encoding)
        known = self._counts.get(key)
        if known is not None:
            self._counts.move_to_end(key)
            return known
        count = len(tokens.encode(text, encoding))
        self._counts[key] = count
        if len(self._counts) > _KEPT_PIECES:
            self._counts.popitem(last=False)
        return count

    def count(self, request: Request) -> int:
        """Tokens of all pieces, uncorrected."""
        encoding = tokens.encoding_for(request.model).name
        return sum(self.count_text(piece.text, encoding) for piece in request.pieces)

    def prompt_tokens(self, request: Request, reported: int | None) -> tuple[int, bool]:
        """(tokens of the whole prompt, whether the server reported them); an estimate is corrected by model."""
        model = request.model or ""
        if reported is None:
            return round(self.count(request) * self._factors.get(model, 1.0)), False
        seen = self._reported.get(model, 0)
        _keep(self._reported, model, seen + 1)
        if seen < _ALWAYS or seen % _EVERY == 0:
            self._learn(model, self.count(request), reported, first=seen == 0)
        return reported, True

    def factor(self, model: str | None) -> float:
        """Reported tokens ÷ our estimate for a model; 1.0 where nothing is known."""
        return self._factors.get(model or "", 1.0)

    def _learn(self, model: str, estimate: int, reported: int, *, first: bool) -> None:
        if not estimate or not _PLAUSIBLE[0] <= reported / estimate <= _PLAUSIBLE[1]:
            return
        ratio = reported / estimate
        old = self._factors.get(model)
        _keep(self._factors, model, ratio if first or old is None else old + _WEIGHT * (ratio - old))


Figure = TypeVar("Figure", int, float)


def _keep(table: OrderedDict[str, Figure], model: str, figure: Figure) -> None:
    table[model] = figure
    table.move_to_end(model)
    if len(table) > _KEPT_MODELS:
        table.popitem(last=False)
