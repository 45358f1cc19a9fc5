"""Two requests compared: place, kind, tokens behind, what could be reused."""

from __future__ import annotations

from promptlint_core.exchange import Comparison, Piece, PieceKind, Request, Verdict
from promptlint_core.prompt import Part
from promptlint_proxy.compare.align import Head, align_messages, chars_behind, compare_heads, messages_of
from promptlint_proxy.compare.classify_history import History, judge_history
from promptlint_proxy.compare.classify_text import judge_text
from promptlint_proxy.compare.classify_tools import judge_tools
from promptlint_proxy.compare.reuse import reusable_chars
from promptlint_rules.difference import Difference, Kind
from promptlint_rules.traffic import Pair, Relation, Seen


def compare(earlier: Seen, later: Seen, relation: Relation) -> Pair:
    """Compare two requests in the provider's render order."""
    head = compare_heads(earlier.request, later.request)
    length = later.chars
    behind = later.tokens_of_chars(chars_behind(earlier.request, later.request, head)) if head.divergence else 0
    hidden = earlier.request.hidden_prefix or later.request.hidden_prefix
    unreadable = not earlier.request.pieces or not later.request.pieces
    reusable = reusable_chars(earlier, later, head) if relation is not Relation.HOP else None
    verdict = Verdict.DIVERGED if head.divergence else Verdict.APPEND_ONLY
    if hidden or unreadable:
        verdict = Verdict.UNKNOWN
    judged = _judge(earlier, later, head, relation) if head.divergence and not unreadable else None
    divergence = head.divergence
    return Pair(
        earlier=earlier,
        later=later,
        relation=relation,
        comparison=Comparison(
            earlier=earlier.index,
            later=later.index,
            verdict=verdict,
            divergence=divergence,
            shared_prefix_share=head.chars / length if length else 0.0,
            reusable_prefix_share=None if reusable is None or not length else reusable / length,
            tokens_behind=behind if divergence else None,
        ),
        kind=judged.kind if judged else None,
        detail=judged.detail if judged else "",
        advice_path=judged.path if judged else "",
        differences=judged.differences if judged else (),
        shared_chars=head.chars,
        shared_pieces=head.pieces,
        shared_tokens=later.tokens_of_chars(head.chars),
        behind_tokens=behind,
        dropped=judged.dropped if judged else 0,
        appended=judged.appended if judged else _appended(earlier, later),
    )


class _Judged:
    """What the classifiers found, in one shape."""

    __slots__ = ("appended", "detail", "differences", "dropped", "kind", "path")

    def __init__(
        self,
        kind: Kind,
        detail: str = "",
        differences: tuple[Difference, ...] = (),
        *,
        path: str = "",
        dropped: int = 0,
        appended: int = 0,
    ) -> None:
        self.kind = kind
        self.detail = detail
        self.differences = differences
        self.path = path
        self.dropped = dropped
        self.appended = appended


def _appended(earlier: Seen, later: Seen) -> int:
    old = {p.message for p in earlier.request.pieces if p.part is Part.MESSAGES}
    new = {p.message for p in later.request.pieces if p.part is Part.MESSAGES}
    return max(0, len(new) - len(old))


def _judge(earlier: Seen, later: Seen, head: Head, relation: Relation) -> _Judged:
    old, new = _pieces_at(earlier, later, head)
    if Part.TOOLS in (old.part, new.part):
        tools = judge_tools(earlier.request, later.request, relation)
        if tools is not None:
            return _Judged(tools.kind, tools.detail, tools.differences)
    if Part.SYSTEM in (old.part, new.part):
        return _judge_system(earlier, later, old, new, relation)
    if relation is Relation.LINE:
        old_messages, new_messages = messages_of(earlier.request), messages_of(later.request)
        history = History(old_messages, new_messages, align_messages(old_messages, new_messages))
        judged = judge_history(history)
        if judged is not None:
            path = judged.place.path if judged.place else ""
            return _Judged(
                judged.kind,
                judged.detail,
                judged.differences,
                path=path,
                dropped=judged.dropped,
                appended=judged.appended,
            )
    instructs = _instructs(later.request, new, chars_behind(earlier.request, later.request, head))
    return _judge_message(old, new, relation, instructs=instructs)


def _pieces_at(earlier: Seen, later: Seen, head: Head) -> tuple[Piece, Piece]:
    return earlier.request.pieces[head.pieces], later.request.pieces[head.pieces]


def _judge_system(earlier: Seen, later: Seen, old: Piece, new: Piece, relation: Relation) -> _Judged:
    """System text as one text on each side, so that a block that was split or moved is seen whole."""
    if old.part is new.part and old.path == new.path and old.kind is new.kind:
        judged = judge_text(old.text, new.text, relation)
        return _Judged(judged.kind, judged.detail, (Difference(old, new, judged.spans),))
    text_old, text_new = system_text(earlier), system_text(later)
    if text_old == text_new or not text_old or not text_new:
        return _Judged(Kind.UNKNOWN, "", (Difference(old, new),))
    judged = judge_text(text_old, text_new, relation)
    return _Judged(judged.kind, judged.detail, (Difference(old, new, judged.spans),))


def system_text(seen: Seen) -> str:
    """The system text of a request, its blocks one behind the other."""
    return "\n".join(p.text for p in seen.request.pieces if p.part is Part.SYSTEM and p.kind is PieceKind.TEXT)


_STATED_IN_MESSAGE = (
    Kind.CLOCK,
    Kind.FRAMEWORK_CLOCK,
    Kind.RANDOM,
    Kind.RETRIEVAL,
    Kind.ENVIRONMENT,
    Kind.EXAMPLES,
    Kind.ITEM_ORDER,
    Kind.JSON_BYTES,
)


_INSTRUCTIONS_SHARE = 0.5
"""A first message that comes back to this share behind its difference holds the instructions."""


def _judge_message(old: Piece, new: Piece, relation: Relation, *, instructs: bool) -> _Judged:
    """A message of its own conversation differs as it should, unless a typed value leads a text that stays.

    `instructs`: the message holds the instructions too, all of them behind the difference; it is judged as they are.
    """
    if old.kind is not PieceKind.TEXT or new.kind is not PieceKind.TEXT or old.path != new.path:
        return _Judged(Kind.NEWEST, "", (Difference(old, new),))
    judged = judge_text(old.text, new.text, relation)
    kind = judged.kind if instructs or judged.kind in _STATED_IN_MESSAGE else Kind.NEWEST
    return _Judged(kind, judged.detail, (Difference(old, new, judged.spans),))


def _instructs(request: Request, piece: Piece, behind_chars: int) -> bool:
    """Whether a request without a system text says in its first message what to do, behind the difference."""
    if any(p.part is Part.SYSTEM for p in request.pieces) or piece.message not in (None, request.pieces[0].message):
        return False
    return piece.part is Part.MESSAGES and behind_chars >= _INSTRUCTIONS_SHARE * len(piece.text)
