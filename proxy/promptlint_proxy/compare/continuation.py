"""Whether later messages continue the conversation of earlier ones."""

from __future__ import annotations

from collections import Counter

from promptlint_proxy.compare.align import Message, are_alike


def continuation(earlier: tuple[Message, ...], later: tuple[Message, ...]) -> float:
    """How surely the later messages continue the conversation of the earlier ones; 0.0: they do not.

    Messages that only open a conversation prove nothing: two users may ask the same first question. What proves it is
    an assistant's turn that comes back, or an opening that is followed by more.
    """
    if not earlier or not later:
        return 0.0
    head = 0
    while head < min(len(earlier), len(later)) and earlier[head].key == later[head].key:
        head += 1
    answered = any(m.role in ("assistant", "model") for m in earlier)
    if head == len(earlier):
        grew = len(later) > head and _is_answer(later[head])
        return float(len(earlier)) if grew or answered else 0.0
    return _fuzzy_continuation(earlier, later, head, answered=answered)


def _is_answer(message: Message) -> bool:
    return message.role in ("assistant", "model", "tool", "function")


def _fuzzy_continuation(
    earlier: tuple[Message, ...], later: tuple[Message, ...], head: int, *, answered: bool
) -> float:
    keys = Counter(m.key for m in later)
    if head == 0 and answered and not any(m.key in keys for m in earlier):
        return 0.0
    kept = 0
    answers_kept = 0
    for message in earlier:
        if keys[message.key] > 0:
            keys[message.key] -= 1
            kept += 1
            answers_kept += message.role in ("assistant", "model")
    position = head
    alike = 0
    for message in earlier[head:]:
        match = next((i for i in range(position, min(position + 4, len(later))) if _likely(message, later[i])), None)
        if match is not None:
            alike += 1
            answers_kept += message.role in ("assistant", "model")
            position = match + 1
    total = max(kept, head + alike)
    if answered:
        enough = total >= 0.5 * len(earlier) and answers_kept > 0 and kept > 0
    else:
        opened = total > 0 and any(_is_answer(m) for m in later)
        enough = opened and len(later) > len(earlier) and total >= 0.5 * len(earlier)
    if enough:
        return total - 0.5
    condensed = answered and len(later) < len(earlier) and earlier[-1].key in {m.key for m in later[1:]}
    return 0.25 if condensed and any(_is_answer(m) for m in later) else 0.0


def _likely(a: Message, b: Message) -> bool:
    return a.key == b.key or are_alike(a, b)
