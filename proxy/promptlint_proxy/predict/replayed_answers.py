"""Generated tokens stay in an engine's cache, and the next turn sends them back as an assistant message.

The wire shows how many were generated, not which; the next turn shows the text. So when a prompt starts with a whole
earlier prompt and goes on with an answer of the length and the end that were seen, its tokens are taken as the
generated ones. Where the answer's text was not seen, an assistant message of about as many tokens is taken for it.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from promptlint_core.exchange import Piece, PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_proxy.predict.render import RAW_APIS, Rendered

_MOST_ANSWERS = 5_000
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
    """Answered prompts by their last full block's hash; the oldest go when there are too many."""

    def __init__(self) -> None:
        self._by_hash: OrderedDict[tuple[Hashable, int], Answered] = OrderedDict()

    def add(self, answered: Answered, hashes: tuple[int, ...]) -> None:
        """Remember an answered prompt; `hashes` are those of its full blocks."""
        last = hashes[-1] if hashes else 0
        self._by_hash[answered.space, last] = answered
        self._by_hash.move_to_end((answered.space, last))
        while len(self._by_hash) > _MOST_ANSWERS:
            self._by_hash.popitem(last=False)

    def find(
        self, request: Request, rendered: Rendered, space: Hashable, hashes: tuple[int, ...]
    ) -> tuple[Answered, int] | None:
        """The longest earlier prompt that this one replays with its answer, and the computed tokens the two share."""
        for last in (*reversed(hashes), 0):
            answered = self._by_hash.get((space, last))
            if answered is None or rendered.ids[: len(answered.prompt)] != answered.prompt:
                continue
            replayed = _replayed_tokens(request, rendered, answered)
            return (answered, min(answered.computed_tokens, len(answered.prompt) + replayed)) if replayed else None
        return None


def _replayed_tokens(request: Request, rendered: Rendered, answered: Answered) -> int:
    """At most so many tokens behind the earlier prompt are its answer; 0 when what follows is something else."""
    if request.api in RAW_APIS:
        return answered.generated_tokens if _is_answer(request.text[answered.prompt_chars :], answered) else 0
    if answered.pieces >= len(request.pieces):
        return 0
    following = request.pieces[answered.pieces]
    if following.part is not Part.MESSAGES or following.role not in ("assistant", "model"):
        return 0
    members = [
        index
        for index in range(answered.pieces, len(request.pieces))
        if request.pieces[index].message == following.message
    ]
    kinds = {request.pieces[index].kind for index in members}
    if answered.reasoned and PieceKind.REASONING not in kinds:
        return 0
    if answered.content_chars is not None and PieceKind.ARGUMENTS not in kinds:  # arguments come back in another form
        same = _content([request.pieces[index] for index in members]) == answered.content_chars
        text = "".join(request.pieces[index].text for index in members if request.pieces[index].kind is PieceKind.TEXT)
        ends_alike = answered.content_tail is None or text.endswith(answered.content_tail)
        return answered.generated_tokens if same and ends_alike else 0
    tokens = sum(rendered.piece_tokens[index] for index in members)
    slack = _SLACK_TOKENS + _SLACK_SHARE * answered.generated_tokens
    return tokens if abs(tokens - answered.generated_tokens) <= slack else 0


def _content(pieces: list[Piece]) -> int:
    """Characters of text and reasoning, which `Response.content_chars` counts together."""
    return sum(len(piece.text) for piece in pieces if piece.kind in (PieceKind.TEXT, PieceKind.REASONING))


def _is_answer(text: str, answered: Answered) -> bool:
    """Whether a text begins with what is known of the answer."""
    if not answered.content_chars or len(text) < answered.content_chars:
        return False
    tail = answered.content_tail
    return tail is None or text[: answered.content_chars].endswith(tail)
