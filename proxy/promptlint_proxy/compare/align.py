"""Two requests side by side: the first place where they differ, and which messages and pieces belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from promptlint_core.exchange import Divergence, Piece, PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_proxy.compare.chunks import chunks

_SHOWN_CHARS = 40
_MAX_COMPARED_MESSAGES = 2000
"""Longer unequal middles are taken as replaced as a whole: the alignment of messages is quadratic."""


@dataclass(frozen=True, slots=True)
class Head:
    """What two requests have in common from their start."""

    chars: int
    pieces: int
    """Equal pieces at the head."""
    divergence: Divergence | None


def common_prefix(a: str, b: str) -> int:
    """Number of equal code points at the start.

    >>> common_prefix("abcd", "abxd"), common_prefix("", "a")
    (2, 0)
    """
    if a == b:
        return len(a)
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(a: str, b: str, keep: int = 0) -> int:
    """Number of equal code points at the end, the first `keep` of each text left out.

    >>> common_suffix("xcd", "ycd"), common_suffix("aa", "aaa", keep=1)
    (2, 1)
    """
    low, high = 0, min(len(a), len(b)) - keep
    if high <= 0:
        return 0
    while low < high:
        middle = (low + high + 1) // 2
        if a[len(a) - middle :] == b[len(b) - middle :]:
            low = middle
        else:
            high = middle - 1
    return low


def compare_heads(earlier: Request, later: Request) -> Head:
    """The common head of two requests, piece by piece in render order.

    A request that ends inside the other diverges nowhere: all of the shorter one can be reused.
    """
    chars = 0
    for index, (old, new) in enumerate(zip(earlier.pieces, later.pieces, strict=False)):
        if old.text == new.text:
            chars += len(new.text)
            continue
        shared = common_prefix(old.text, new.text)
        grew_at_end = shared == len(old.text) and index == len(earlier.pieces) - 1 and old.path == new.path
        if grew_at_end:
            return Head(chars + shared, index, None)
        divergence = Divergence(
            part=new.part,
            path=new.path,
            char_offset=shared,
            earlier=old.text[shared : shared + _SHOWN_CHARS],
            later=new.text[shared : shared + _SHOWN_CHARS],
            path_in_earlier=old.path if old.path != new.path else None,
        )
        return Head(chars + shared, index, divergence)
    return Head(chars, min(len(earlier.pieces), len(later.pieces)), None)


def chars_behind(earlier: Request, later: Request, head: Head) -> int:
    """Code points behind the first difference that both requests hold, in whatever order."""
    if head.divergence is None:
        return 0
    old_rest = Counter(piece.text for piece in earlier.pieces[head.pieces :])
    new_left: list[str] = []
    offset = head.divergence.char_offset
    shared = 0
    for index, piece in enumerate(later.pieces[head.pieces :]):
        if old_rest[piece.text] > 0:
            old_rest[piece.text] -= 1
            shared += len(piece.text) - (offset if index == 0 else 0)
        else:
            new_left.append(piece.text)
    first = later.pieces[head.pieces].text
    old_first = earlier.pieces[head.pieces].text
    old_chunks: Counter[str] = Counter()
    for text, count in old_rest.items():
        cut = offset if text == old_first else 0
        for chunk in chunks(text[cut:]):
            old_chunks[chunk.strip()] += count
    for text in new_left:
        cut = offset if text == first else 0
        for chunk in chunks(text[cut:]):
            words = chunk.strip()
            if old_chunks[words] > 0:
                old_chunks[words] -= 1
                shared += len(chunk)
    return shared


@dataclass(frozen=True, slots=True)
class Message:
    """The pieces of one message."""

    index: int
    role: str
    pieces: tuple[Piece, ...]
    key: int
    """Hash of role and content, ids left out."""
    text: str
    """Text and arguments, without names and ids."""
    ids: frozenset[str]


def messages_of(request: Request) -> tuple[Message, ...]:
    """The conversation of a request: messages in order, the system text left out."""
    found: list[Message] = []
    current: list[Piece] = []

    def close() -> None:
        if current:
            role = next((p.role or p.text for p in current if p.kind is PieceKind.ROLE or p.role), "")
            content = tuple(p.text for p in current if p.kind not in (PieceKind.ID, PieceKind.ROLE))
            texts = [p.text for p in current if p.kind in (PieceKind.TEXT, PieceKind.ARGUMENTS)]
            ids = frozenset(p.text for p in current if p.kind is PieceKind.ID)
            text = texts[0] if len(texts) == 1 else "\n".join(texts)
            found.append(Message(current[0].message or 0, role, tuple(current), hash((role, content)), text, ids))

    for piece in request.pieces:
        if piece.part is not Part.MESSAGES:
            continue
        if current and piece.message != current[0].message:
            close()
            current = []
        current.append(piece)
    close()
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Match:
    """Messages that belong together; None: missing on that side."""

    earlier: Message | None
    later: Message | None

    @property
    def equal(self) -> bool:
        return self.earlier is not None and self.later is not None and self.earlier.key == self.later.key


def align_messages(earlier: Sequence[Message], later: Sequence[Message]) -> tuple[Match, ...]:
    """Which message of the later request is which of the earlier one, in the later one's order."""
    head = 0
    while head < min(len(earlier), len(later)) and earlier[head].key == later[head].key:
        head += 1
    matches = [Match(a, b) for a, b in zip(earlier[:head], later[:head], strict=True)]
    old, new = earlier[head:], later[head:]
    if not old or not new or len(old) + len(new) > _MAX_COMPARED_MESSAGES:
        return (*matches, *(Match(a, None) for a in old), *(Match(None, b) for b in new))
    matcher = SequenceMatcher(None, [m.key for m in old], [m.key for m in new], autojunk=False)
    for operation, low_a, high_a, low_b, high_b in matcher.get_opcodes():
        if operation == "equal":
            matches += [Match(a, b) for a, b in zip(old[low_a:high_a], new[low_b:high_b], strict=True)]
        else:
            matches += _align_changed(old[low_a:high_a], new[low_b:high_b])
    return tuple(matches)


def _align_changed(old: Sequence[Message], new: Sequence[Message]) -> Iterator[Match]:
    """Pairs changed messages in order by role and likeness."""
    rest = list(new)
    for message in old:
        at = next((i for i, other in enumerate(rest) if are_alike(message, other)), None)
        if at is None and len(old) == len(new) and rest and rest[0].role == message.role:
            at = 0
        if at is None:
            yield Match(message, None)
            continue
        for skipped in rest[:at]:
            yield Match(None, skipped)
        yield Match(message, rest[at])
        rest = rest[at + 1 :]
    yield from (Match(None, other) for other in rest)


def are_alike(a: Message, b: Message) -> bool:
    """Whether two messages of one role are likely versions of one another."""
    if a.role != b.role:
        return False
    if a.ids & b.ids:
        return True
    text_a, text_b = a.text, b.text
    shorter = min(len(text_a), len(text_b))
    if shorter == 0:
        return text_a == text_b and bool(a.pieces) and bool(b.pieces)
    head = common_prefix(text_a, text_b)
    return head + common_suffix(text_a, text_b, head) >= max(4, 0.6 * shorter)


def align_pieces(earlier: Message, later: Message) -> Iterator[tuple[Piece | None, Piece | None]]:
    """The pieces of two versions of one message side by side: those of one kind in their order."""
    waiting: dict[PieceKind, list[Piece]] = {}
    for piece in earlier.pieces:
        waiting.setdefault(piece.kind, []).append(piece)
    used: set[int] = set()
    for piece in later.pieces:
        queue = waiting.get(piece.kind, [])
        old = queue.pop(0) if queue else None
        if old is not None:
            used.add(id(old))
        yield old, piece
    for piece in earlier.pieces:
        if id(piece) not in used:
            yield piece, None
