"""The kind of the difference inside the conversation: what happened to old messages from one turn to the next."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from promptlint_core.cadence import Origin
from promptlint_core.exchange import Piece, PieceKind
from promptlint_proxy.compare.align import Match, Message, align_pieces
from promptlint_proxy.compare.classify_text import json_detail, judge_text
from promptlint_proxy.compare.context import mentions_summary
from promptlint_proxy.compare.spans import spans_of
from promptlint_rules.difference import Difference, Kind
from promptlint_rules.traffic import Relation

_THINK = re.compile(r"<(think|thinking|reasoning)>.*?</\1>\s*", re.DOTALL)
_RESULT_ROLES = ("tool", "function", "tool_result")
_MAX_DIFFERENCES = 64
_LARGE_STEP = 4
"""Messages dropped at once, and twice as many as were added, are a cut that leaves room for turns to come."""
_PINNED = 2
"""Messages at the head that a window may keep: the task and the first answer."""
_LEAST_MOVED = 2
"""Questions with their answers that changed places."""
_EARLY = 2
"""Messages at the head in which a template may put context, memories or a summary."""


@dataclass(frozen=True, slots=True)
class HistoryJudged:
    kind: Kind
    detail: str
    differences: tuple[Difference, ...]
    dropped: int = 0
    appended: int = 0
    place: Piece | None = None
    """Where to point when that is not the first differing character."""


@dataclass(frozen=True, slots=True)
class History:
    """The aligned messages of two turns of one conversation."""

    earlier: Sequence[Message]
    later: Sequence[Message]
    matches: tuple[Match, ...]

    @property
    def first(self) -> int:
        """Index of the first match that is not equal piece by piece."""
        return next((i for i, match in enumerate(self.matches) if not _same(match)), len(self.matches))

    @property
    def appended(self) -> int:
        """Messages at the end of the later request that the earlier one has no part of."""
        count = 0
        for match in reversed(self.matches):
            if match.earlier is not None:
                break
            count += 1
        return count


def _same(match: Match) -> bool:
    if match.earlier is None or match.later is None:
        return False
    return [p.text for p in match.earlier.pieces] == [p.text for p in match.later.pieces]


def judge_history(history: History) -> HistoryJudged | None:
    """What happened to the old messages; None where they are all as they were."""
    first = history.first
    matches = history.matches
    if all(match.earlier is None for match in matches[first:]):
        return None
    shuffled = _judge_shuffled(history, first)
    if shuffled is not None:
        return shuffled
    gone = _judge_gone(history, first)
    if gone is not None:
        return gone
    swapped = _judge_swapped(history, first)
    if swapped is not None:
        return swapped
    match = next((m for m in matches[first:] if not _same(m) and m.earlier and m.later), None)
    inserted = matches[first].earlier is None
    if match is None or match.earlier is None or match.later is None or inserted:
        return _judge_inserted(history, first)
    return _judge_message(history, match.earlier, match.later)


def _differences(history: History, first: int) -> tuple[Difference, ...]:
    found: list[Difference] = []
    for match in history.matches[first:]:
        if match.earlier is None or _same(match):
            continue
        if match.later is None:
            found.append(Difference(_text_piece(match.earlier), None))
        else:
            found += _piece_differences(match.earlier, match.later)
    return tuple(found[:_MAX_DIFFERENCES])


def _piece_differences(earlier: Message, later: Message) -> list[Difference]:
    found = []
    for old, new in align_pieces(earlier, later):
        if old is None or new is None or old.text != new.text:
            found.append(Difference(old, new))
    return found


def _text_piece(message: Message) -> Piece:
    return next((p for p in message.pieces if p.kind is PieceKind.TEXT), message.pieces[-1])


def _judge_shuffled(history: History, first: int) -> HistoryJudged | None:
    """The same questions and answers in another order ahead of the newest message: examples, not a conversation."""
    old, new = history.earlier[:-1], history.later[: len(history.earlier) - 1]
    moved = [m for m, other in zip(old, new, strict=False) if m.key != other.key]
    answered = any(m.role in ("assistant", "model") for m in moved)
    if not answered or len(moved) < 2 * _LEAST_MOVED or Counter(m.key for m in old) != Counter(m.key for m in new):
        return None
    return HistoryJudged(Kind.EXAMPLES, f"{len(moved)} messages", _differences(history, first))


def _judge_gone(history: History, first: int) -> HistoryJudged | None:
    """Messages that are missing: dropped from the head, condensed, or only the last one."""
    matches = history.matches
    if matches[first].later is not None and matches[first].earlier is not None:
        return None
    end = first
    while end < len(matches) and (matches[end].earlier is None or matches[end].later is None):
        end += 1
    run = matches[first:end]
    gone = [m.earlier for m in run if m.earlier is not None]
    new = [m.later for m in run if m.later is not None]
    if not gone:
        return None
    differences = _differences(history, first)
    appended = history.appended
    rest_kept = [m for m in matches[end:] if m.earlier is not None and m.later is not None]
    at_end = end == len(matches)
    if at_end and gone[-1].index == history.earlier[-1].index and len(gone) == 1 and first > 0:
        return _judge_lost_tail(history, gone[0], new, differences)
    if rest_kept and not [m for m in new if m.index < (rest_kept[0].later or m).index]:
        large = len(gone) > max(_LARGE_STEP, 2 * appended)
        if not large and first > _PINNED and not _is_window(history, first, gone, len(rest_kept)):
            return HistoryJudged(Kind.EDITED, f"{len(gone)} messages taken out", differences, len(gone), appended)
        kind = Kind.COMPACTION if large else Kind.SLIDING
        return HistoryJudged(kind, f"{len(gone)} messages", differences, len(gone), appended)
    summarised_before = any(mentions_summary(m.text) for m in history.earlier[:_EARLY])
    summarised_now = any(mentions_summary(m.text) for m in new)
    if summarised_before and summarised_now:
        return HistoryJudged(Kind.SUMMARY, "", differences, len(gone), appended)
    if len(history.later) < len(history.earlier) or summarised_now:
        return HistoryJudged(Kind.COMPACTION, f"{len(gone)} messages", differences, len(gone), appended)
    return HistoryJudged(Kind.EDITED, f"{len(gone)} messages replaced", differences, len(gone), appended)


def _is_window(history: History, first: int, gone: list[Message], left: int) -> bool:
    """Whether messages behind a kept head went as a window slides: whole turns, as many as came, few ahead of them."""
    return len(gone) == history.appended and gone[0].role == "user" and first < left


def _judge_lost_tail(
    history: History, gone: Message, new: list[Message], differences: tuple[Difference, ...]
) -> HistoryJudged:
    """The last message of the earlier request is absent: an ephemeral one, or another attempt at the same turn."""
    other_attempt = len(history.later) == len(history.earlier) and bool(new) and new[0].role == gone.role
    if other_attempt or not new:
        return HistoryJudged(Kind.NEWEST, "", differences)
    return HistoryJudged(Kind.TAIL, "absent", differences, place=_text_piece(gone))


def _judge_inserted(history: History, first: int) -> HistoryJudged:
    later = history.matches[first].later
    rest = [m for m in history.matches[first:] if m.earlier is not None]
    left = [m.earlier for m in rest if m.earlier is not None]
    at_end = bool(rest) and rest[-1].later is not None and rest[-1].later.index == history.later[-1].index
    if first > 0 and at_end and len(left) <= _EARLY and left[-1].index == history.earlier[-1].index:
        # The end of the earlier request stands at the end again: it follows the conversation and is never part of it.
        piece = _text_piece(left[0])
        return HistoryJudged(Kind.TAIL, "absent", (Difference(piece, None),), appended=history.appended, place=piece)
    differences = (Difference(None, _text_piece(later)),) if later else ()
    return HistoryJudged(Kind.EDITED, "a message was put in between", differences, appended=history.appended)


def _results(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """(id, content) of the tool results of a run of messages."""
    found: list[tuple[str, str]] = []
    for message in messages:
        last_id = ""
        for piece in message.pieces:
            if piece.kind is PieceKind.ID:
                last_id = piece.text
            elif piece.kind is PieceKind.TEXT and last_id:
                found.append((last_id, piece.text))
    return found


def _judge_swapped(history: History, first: int) -> HistoryJudged | None:
    """The results of one batch of calls in another order."""
    start_old = next((m.earlier.index for m in history.matches[first:] if m.earlier), None)
    start_new = next((m.later.index for m in history.matches[first:] if m.later), None)
    if start_old is None or start_new is None:
        return None
    old = _run_of_results([m for m in history.earlier if m.index >= start_old])
    new = _run_of_results([m for m in history.later if m.index >= start_new])
    results_old, results_new = _results(old), _results(new)
    if len(results_old) < 2 or results_old == results_new:
        return None
    same = Counter(results_old) == Counter(results_new)
    same_text = Counter(t for _i, t in results_old) == Counter(t for _i, t in results_new)
    in_order = [t for _i, t in results_old] == [t for _i, t in results_new]
    if not same and (in_order or not same_text):
        return None
    pair = Difference(_text_piece(old[0]), _text_piece(new[0]))
    return HistoryJudged(Kind.RESULT_ORDER, f"{len(results_new)} results", (pair,), appended=history.appended)


def _run_of_results(messages: Sequence[Message]) -> list[Message]:
    run: list[Message] = []
    for message in messages:
        has_results = message.role in _RESULT_ROLES or any(p.kind is PieceKind.ID for p in message.pieces)
        calls = any(p.kind in (PieceKind.ARGUMENTS, PieceKind.NAME) for p in message.pieces)
        if not has_results or calls:
            break
        run.append(message)
    return run


def _judge_message(history: History, earlier: Message, later: Message) -> HistoryJudged:
    """What happened to one message that both requests hold."""
    differences = _piece_differences(earlier, later)
    all_of_them = _differences(history, history.first)
    kind, detail = _kind_of_message(history, earlier, later, differences)
    return HistoryJudged(kind, detail, all_of_them, appended=history.appended)


def _kind_of_message(
    history: History, earlier: Message, later: Message, differences: list[Difference]
) -> tuple[Kind, str]:
    is_last = earlier.index == history.earlier[-1].index
    if is_last and later.index == history.later[-1].index:
        return Kind.NEWEST, ""
    if any(d.earlier and d.earlier.kind is PieceKind.REASONING for d in differences):
        return Kind.REASONING, "changed" if any(d.later for d in differences if d.earlier) else "gone"
    if all(d.piece.kind is PieceKind.ID for d in differences):
        return Kind.CALL_ID, ""
    first = next((d for d in differences if d.piece.kind is not PieceKind.ID), differences[0])
    old, new = first.earlier, first.later
    if first.piece.kind is PieceKind.IMAGE:
        return _kind_of_image(old, new)
    if old is None:
        return Kind.EDITED, "something was added"
    if new is None:
        if is_last and all(d.later is None for d in differences):
            return Kind.TAIL, "shorter"
        return Kind.EDITED, "something was removed"
    if _equal_json(old.text, new.text):
        return Kind.JSON_BYTES, json_detail(old.text, new.text)
    if old.kind is PieceKind.ARGUMENTS:
        return Kind.EDITED, "arguments changed"
    return _kind_of_text(history, earlier, later, old, new, is_last=is_last)


def _kind_of_text(
    history: History, earlier: Message, later: Message, old: Piece, new: Piece, *, is_last: bool
) -> tuple[Kind, str]:
    if _THINK.sub("", old.text).strip() == new.text.strip() and _THINK.search(old.text):
        return Kind.REASONING, "gone"
    spans = spans_of(old.text, new.text)
    if all(span.origin is Origin.CLOCK for span in spans):
        return Kind.RESTAMPED, spans[0].detail
    is_tail = is_last or all(m.earlier is None or m.earlier.index <= earlier.index for m in history.matches)
    if is_tail and len(new.text) < len(old.text) and new.text.strip() in old.text:
        return Kind.TAIL, "shorter"
    early = later.index - history.later[0].index < _EARLY
    if early and mentions_summary(old.text) and mentions_summary(new.text):
        return Kind.SUMMARY, ""
    shrank = len(new.text) < 0.7 * len(old.text)
    if early and not shrank and later.role in ("user", "system", "developer"):
        judged = judge_text(old.text, new.text, Relation.LINE)
        if judged.kind in (Kind.RETRIEVAL, Kind.ENVIRONMENT, Kind.STATE, Kind.RANDOM, Kind.ITEM_ORDER, Kind.EXAMPLES):
            return judged.kind, judged.detail
    if not shrank:
        judged = judge_text(old.text, new.text, Relation.LINE)
        if judged.kind in (Kind.ITEM_ORDER, Kind.JSON_BYTES, Kind.RANDOM):
            return judged.kind, judged.detail
    return Kind.EDITED, f"{len(old.text):,} characters became {len(new.text):,}"


def _kind_of_image(old: Piece | None, new: Piece | None) -> tuple[Kind, str]:
    if old is None or new is None:
        return Kind.EDITED, "an image was removed" if new is None else "an image was added"
    same_address = old.text.split("?", 1)[0] == new.text.split("?", 1)[0]
    if same_address and "?" in old.text:
        return Kind.IMAGE, "signature"
    return Kind.IMAGE, "address" if old.text.startswith(("http:", "https:")) else "bytes"


def _equal_json(a: str, b: str) -> bool:
    if a.lstrip()[:1] not in ("{", "[") or a == b:
        return False
    try:
        return bool(json.loads(a) == json.loads(b))
    except (ValueError, RecursionError):
        return False
