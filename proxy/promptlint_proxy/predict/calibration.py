"""How reported prompt tokens differ from our count, per model: by a factor where our tokenizer is another one, and by
tokens that the wire does not show where it is the model's own, or where no tokenizer explains the difference."""

from __future__ import annotations

import re
from collections import OrderedDict

from promptlint_core.exchange import PieceKind, Request

_MOST_MODELS = 1_000
_MOST_HEADS = 5_000
_NEWEST_WEIGHT = 0.3
_SMALLEST_TOKENS = 64
"""Shorter prompts are mostly markup and would tell a wrong ratio."""
_PLAUSIBLE = (0.4, 4.0)

_NEWER_CLAUDE = re.compile(r"(opus|sonnet|haiku|fable|mythos)-(5|4[-.][789])")
_CLAUDE_SCALE = 1.18
"""tiktoken undercounts Claude by 15 to 20 % (anthropics/skills, July 2026)."""
_NEWER_CLAUDE_SCALE = 1.18 * 1.3
"""Tokenizers from Claude 4.7 on give about 30 % more tokens than those before."""


class Calibration:
    """Moving ratio per provider and model; tokens that the wire does not show per head of a prompt.

    Hosts put text of their own ahead of tools and system text and render tools in formats they do not publish; a
    recording may have been shortened. What is missing stands ahead or is the same each time, so it is read from the
    cache with the head that it was seen with.
    """

    def __init__(self) -> None:
        self._ratios: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._unseen: OrderedDict[tuple[str, str, int], int] = OrderedDict()

    def scale(self, request: Request, *, exact: bool) -> float:
        """What to multiply our count with; 1 where it is exact and nothing was reported yet."""
        known = self._ratios.get(_key(request))
        if known is not None:
            return known
        if exact or "claude" not in (request.model or "").lower():
            return 1.0
        return _NEWER_CLAUDE_SCALE if _NEWER_CLAUDE.search(request.model or "") else _CLAUDE_SCALE

    def unseen_tokens(self, request: Request, head: int) -> int:
        """Tokens of prompts with this head that the wire does not show; `head` is the hash of the first block."""
        return self._unseen.get((*_key(request), head), 0)

    def learn(self, request: Request, counted: int, reported: int, *, exact: bool, head: int) -> None:
        """Take a reported prompt length in. An exact count within 1 % stays as it is."""
        if counted < _SMALLEST_TOKENS:
            return
        ratio = reported / counted
        if ratio > _PLAUSIBLE[1] or (exact and ratio > 1):
            self._learn_unseen(request, head, reported - round(counted * self.scale(request, exact=exact)))
            return
        if ratio < _PLAUSIBLE[0]:
            return
        key = _key(request)
        before = self._ratios.get(key)
        if exact and before is None and abs(ratio - 1) <= 0.01:
            return
        self._ratios[key] = ratio if before is None else before + _NEWEST_WEIGHT * (ratio - before)
        self._ratios.move_to_end(key)
        while len(self._ratios) > _MOST_MODELS:
            self._ratios.popitem(last=False)

    def _learn_unseen(self, request: Request, head: int, unseen: int) -> None:
        if any(piece.kind is PieceKind.IMAGE for piece in request.pieces):
            return  # its size is not on the wire, and it stands anywhere
        key = (*_key(request), head)
        self._unseen[key] = max(0, unseen)
        self._unseen.move_to_end(key)
        while len(self._unseen) > _MOST_HEADS:
            self._unseen.popitem(last=False)


def _key(request: Request) -> tuple[str, str]:
    return request.provider, request.model or ""
