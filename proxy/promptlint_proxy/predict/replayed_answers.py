"""Generated tokens stay in an engine's cache, and the next turn sends them back as an assistant message.

The wire shows how many were generated, not which; the next turn shows the text. So when a prompt starts with a whole
earlier prompt and goes on with an answer of the length and the end that were seen, its tokens are taken as the
generated ones. Where the answer's text was not seen, an assistant message of about as many tokens is taken for it.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import groupby

from promptlint_core.exchange import Piece, PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_proxy.predict.render import RAW_APIS, Rendered

_MOST_ANSWERS = 5_000
_MOST_TOKENS = 2_000_000
"""Of the prompts kept, four bytes each."""
_SLACK_TOKENS = 8
_SLACK_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Answered:
    """An earlier prompt and what was computed behind it."""

    key: Hashable
    space: Hashable
    prompt: array[int]
    pieces: int
    prompt_chars: int
    generated_tokens: int
    reasoned: bool
    content_chars: int | None = None
    """Length of what the answer held; None: not seen."""
    content_tail: str | None = None

    @property
    def computed_tokens(self) -> int:
        """Positions in the cache: the token sampled last was never computed."""
        return len(self.prompt) + self.generated_tokens - 1


class ReplayedAnswers:
    """Answered prompts by the hash of their last full block and the tokens behind it, which many prompts differ in
    alone; the ones used longest ago go when there are too many."""

    def __init__(self, block_size: int) -> None:
        """`block_size`: tokens per hash of `add` and `find`."""
        self._block_size = block_size
        self._by_hash: OrderedDict[tuple[Hashable, int], dict[bytes, Answered]] = OrderedDict()
        self._count = 0
        self.kept_tokens = 0

    def __len__(self) -> int:
        return self._count

    def add(self, answered: Answered, hashes: tuple[int, ...]) -> None:
        """Remember an answered prompt; `hashes` are those of its full blocks."""
        key = (answered.space, hashes[-1] if hashes else 0)
        by_tail = self._by_hash.setdefault(key, {})
        tail = answered.prompt[len(hashes) * self._block_size :].tobytes()
        self._forget(by_tail, tail)
        by_tail[tail] = answered
        self._count += 1
        self.kept_tokens += len(answered.prompt)
        self._by_hash.move_to_end(key)
        while self._count > _MOST_ANSWERS or (self._count > 1 and self.kept_tokens > _MOST_TOKENS):
            oldest, tails = next(iter(self._by_hash.items()))
            self._forget(tails, next(iter(tails)))
            if not tails:
                del self._by_hash[oldest]

    def _forget(self, by_tail: dict[bytes, Answered], tail: bytes) -> None:
        known = by_tail.pop(tail, None)
        if known is not None:
            self._count -= 1
            self.kept_tokens -= len(known.prompt)

    def find(
        self, request: Request, rendered: Rendered, space: Hashable, hashes: tuple[int, ...]
    ) -> tuple[Answered, int] | None:
        """The longest earlier prompt that this one replays with its answer, and the computed tokens the two share."""
        for full in range(len(hashes), -1, -1):
            by_tail = self._by_hash.get((space, hashes[full - 1] if full else 0))
            if by_tail is None:
                continue
            start = full * self._block_size
            for end in range(start + self._block_size - 1, start - 1, -1):
                answered = by_tail.get(rendered.ids[start:end].tobytes()) if end <= len(rendered.ids) else None
                if answered is not None and (replayed := _replayed_tokens(request, rendered, answered)):
                    return answered, min(answered.computed_tokens, len(answered.prompt) + replayed)
        return None


def _replayed_tokens(request: Request, rendered: Rendered, answered: Answered) -> int:
    """At most so many tokens behind the earlier prompt are its answer; 0 when what follows is something else."""
    if request.api in RAW_APIS:
        return answered.generated_tokens if _is_answer(request.text[answered.prompt_chars :], answered) else 0
    if answered.pieces >= len(request.pieces):
        return 0
    nearest, least = 0, _SLACK_TOKENS + _SLACK_SHARE * answered.generated_tokens
    for members in _answers(request, answered.pieces):
        pieces = [request.pieces[index] for index in members]
        kinds = {piece.kind for piece in pieces}
        if answered.reasoned and PieceKind.REASONING not in kinds:
            continue
        if answered.content_chars is not None and PieceKind.ARGUMENTS not in kinds:
            # Arguments come back in another form, everything else as it was.
            text = "".join(piece.text for piece in pieces if piece.kind is PieceKind.TEXT)
            ends_alike = answered.content_tail is None or text.endswith(answered.content_tail)
            if ends_alike and _content(pieces) == answered.content_chars:
                return answered.generated_tokens
            continue
        tokens = sum(rendered.piece_tokens[index] for index in members)
        difference = abs(tokens - answered.generated_tokens)
        if difference <= least:
            nearest, least = tokens, difference
    return nearest


def _answers(request: Request, start: int) -> Iterator[list[int]]:
    """Pieces from `start` on that may be one answer, the shortest first: a message; several items of Responses, which
    sends reasoning, text and every call apart."""
    members: list[int] = []
    for message, group in groupby(range(start, len(request.pieces)), key=lambda index: request.pieces[index].message):
        own = list(group)
        first = request.pieces[own[0]]
        if message is None or first.part is not Part.MESSAGES or first.role not in ("assistant", "model"):
            return
        members += own
        yield list(members)
        if request.api != "responses":
            return


def _content(pieces: list[Piece]) -> int:
    """Characters of text and reasoning, which `Response.content_chars` counts together."""
    return sum(len(piece.text) for piece in pieces if piece.kind in (PieceKind.TEXT, PieceKind.REASONING))


def _is_answer(text: str, answered: Answered) -> bool:
    """Whether a text begins with what is known of the answer."""
    if not answered.content_chars or len(text) < answered.content_chars:
        return False
    tail = answered.content_tail
    return tail is None or text[: answered.content_chars].endswith(tail)
