"""Whom to compare a request with: its conversation and its template, recognised by content, in bounded memory.

Headers are never asked: gateways drop them, clients share them. A request continues an earlier one when the earlier
conversation comes back in it; requests whose tools and system text are mostly the same come from one template.
"""

from __future__ import annotations

import hmac
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from promptlint_core.exchange import Exchange, PieceKind, Request
from promptlint_core.prompt import Part
from promptlint_proxy.compare.align import Message, common_prefix, messages_of
from promptlint_proxy.compare.chunks import likeness, sketch
from promptlint_proxy.compare.continuation import continuation
from promptlint_rules.traffic import Relation, Seen

_SAME_TEMPLATE = 0.5
"""Share of equal chunks from which on two heads come from one template."""
_SAME_AGENT = 0.2
"""Share of equal chunks of system text below which a conversation was taken over by another agent."""
_MIN_CHUNKS = 3
"""A system text of fewer chunks says too little by itself: the tools decide with it."""
_SAME_HEAD_CHARS = 16
_WINDOW = 32
_FIRSTS = 12
_MAX_GROUPS = 1000
_MAX_CANDIDATES = 12
_HOP_WINDOW_S = 30.0
_MOST_GROUP_CHUNKS = 100_000
"""Chunks of all groups together, about 25 MB; the group asked longest ago goes first."""
_REQUEST_CHARS = 600
"""What a request takes beside its text, told in characters of 8 bytes; measured."""
_PIECE_CHARS = 60


@dataclass(slots=True)
class Group:
    """Requests of one template."""

    key: str
    system: frozenset[int]
    tools: frozenset[int]
    opening: frozenset[int]
    recent: deque[Known] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    firsts: deque[Known] = field(default_factory=lambda: deque(maxlen=_FIRSTS))


@dataclass(slots=True)
class Known:
    """A request that later ones may be compared with."""

    seen: Seen
    group: Group
    messages: tuple[Message, ...]
    system: frozenset[int]
    weight: int
    """Its share of the budget: characters of its text, and what else it takes told in characters."""
    is_tail: bool = True
    """No later request continued it yet."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a request belongs and what it is compared with."""

    group: Group
    line: str
    turn: int
    messages: tuple[Message, ...]
    system: frozenset[int]
    predecessor: Known | None = None
    relation: Relation = Relation.GROUP
    others: tuple[Known, ...] = ()
    """First requests of other lines, for the first request of a line."""
    retry_of: int | None = None


class Lines:
    """Sorts requests into groups and lines.

    `budget_chars` bounds the prompt text that is kept for comparing, with its share of what else a request takes; the
    oldest goes first.
    """

    def __init__(self, hash_key: bytes = b"promptlint", budget_chars: int = 48_000_000) -> None:
        self._hash_key = hash_key
        self._budget_chars = budget_chars
        self._groups: OrderedDict[str, Group] = OrderedDict()
        self._chunk_groups: dict[int, list[Group]] = {}
        self._group_chunks = 0
        self._message_index: dict[int, list[Known]] = {}
        self._kept: deque[Known] = deque()
        self._kept_chars = 0
        self._lines = 0
        self._sketches = Sketches()

    def place(self, exchange: Exchange) -> Placement:
        """Find group, line and the requests to compare with; nothing is stored yet."""
        request = exchange.request
        messages = messages_of(request)
        system = self._sketches.of(tuple(_texts(request, Part.SYSTEM)))
        tools = self._sketches.of(tuple(_texts(request, Part.TOOLS)))
        opening = sketch(p.text for m in messages[:1] for p in m.pieces if p.kind is PieceKind.TEXT)
        at = exchange.timing.started_at
        predecessor = self._find_predecessor(request, messages, system, at)
        hop = None if predecessor else self._find_hop(request, messages, at)
        if hop is not None:
            predecessor = hop
        group = predecessor.group if predecessor else self._find_group(request, system, tools, opening)
        if predecessor is None:
            others = tuple(self._other_firsts(group, request, at))
            retry = next((known for known in others if _is_retry(known, request)), None)
            if retry is not None:
                return Placement(
                    group, retry.seen.line, retry.seen.turn, messages, system, retry, Relation.RETRY, (),
                    retry.seen.index,
                )  # fmt: skip
            return Placement(group, self._new_line(group), 0, messages, system, None, Relation.GROUP, others)
        seen = predecessor.seen
        if hop is not None:
            return Placement(group, seen.line, seen.turn, messages, system, predecessor, Relation.HOP)
        if _is_retry(predecessor, request):
            return Placement(group, seen.line, seen.turn, messages, system, predecessor, Relation.RETRY, (), seen.index)
        line = seen.line if predecessor.is_tail else self._new_line(group)
        return Placement(group, line, seen.turn + 1, messages, system, predecessor, Relation.LINE)

    def keep(self, placement: Placement, seen: Seen) -> list[Seen]:
        """Remember a placed request for later ones; returns the oldest ones, forgotten beyond the budget."""
        known = Known(seen, placement.group, placement.messages, placement.system, _weight(seen))
        if placement.predecessor is not None:
            placement.predecessor.is_tail = False
        placement.group.recent.append(known)
        if placement.turn == 0 and placement.relation is Relation.GROUP:
            placement.group.firsts.append(known)
        for key in {message.key for message in placement.messages}:
            holders = self._message_index.setdefault(key, [])
            holders.append(known)
            del holders[:-_WINDOW]
        self._kept.append(known)
        self._kept_chars += known.weight
        forgotten = []
        while self._kept_chars > self._budget_chars and len(self._kept) > 1:
            oldest = self._kept.popleft()
            self._forget(oldest)
            forgotten.append(oldest.seen)
        return forgotten

    def recent_of(self, group: Group) -> tuple[Seen, ...]:
        """Recent requests of a group, oldest first."""
        return tuple(known.seen for known in group.recent)

    @property
    def kept(self) -> int:
        """Requests that later ones can be compared with."""
        return len(self._kept)

    @property
    def groups(self) -> tuple[Group, ...]:
        return tuple(self._groups.values())

    def _forget(self, known: Known) -> None:
        self._kept_chars -= known.weight
        for key in {message.key for message in known.messages}:
            holders = self._message_index.get(key)
            if holders and holders[0] is known:
                del holders[0]
            if not holders:
                self._message_index.pop(key, None)
        for queue in (known.group.recent, known.group.firsts):
            if known in queue:
                queue.remove(known)

    def _new_line(self, group: Group) -> str:
        self._lines += 1
        return self._hashed(f"{group.key}:{self._lines}")

    def _hashed(self, text: str) -> str:
        return hmac.digest(self._hash_key, text.encode(), "sha256")[:8].hex()

    # -- conversation ---------------------------------------------------------------------------------------------

    def _find_predecessor(
        self, request: Request, messages: tuple[Message, ...], system: frozenset[int], at: float
    ) -> Known | None:
        best: tuple[float, float, Known] | None = None
        for known in self._candidates(messages):
            if known.seen.at > at or not _same_agent(known, request, system):
                continue
            score = continuation(known.messages, messages)
            if score == len(known.messages) and best is None:
                return known  # it shares most messages of all, and all of its own come back as they were
            if score > 0 and (best is None or (score, known.seen.at) >= (best[0], best[1])):
                best = (score, known.seen.at, known)
        return best[2] if best else None

    def _candidates(self, messages: tuple[Message, ...]) -> Iterator[Known]:
        """Requests that share messages with this one, those that share most first; then the latest of all."""
        votes: Counter[int] = Counter()
        by_id: dict[int, Known] = {}
        for message in messages:
            for known in self._message_index.get(message.key, ()):
                votes[id(known)] += 1
                by_id[id(known)] = known
        ranked = sorted(votes, key=lambda key: (votes[key], by_id[key].seen.index), reverse=True)
        chosen = [by_id[key] for key in ranked[:_MAX_CANDIDATES]]
        yield from chosen
        latest = list(islice(reversed(self._kept), _MAX_CANDIDATES))
        for known in reversed(latest):
            if all(known is not other for other in chosen):
                yield known

    def _find_hop(self, request: Request, messages: tuple[Message, ...], at: float) -> Known | None:
        """The same prompt a moment ago at another address: seen in front of a gateway and behind it."""
        for known in self._candidates(messages):
            other = known.seen.request
            moved = (other.host, other.api) != (request.host, request.api)
            if moved and 0 <= at - known.seen.at <= _HOP_WINDOW_S and _texts_equal(other, request):
                return known
        return None

    # -- template -------------------------------------------------------------------------------------------------

    def _find_group(
        self, request: Request, system: frozenset[int], tools: frozenset[int], opening: frozenset[int]
    ) -> Group:
        best: tuple[float, Group] | None = None
        for group in self._candidate_groups(system | tools | (frozenset() if system | tools else opening)):
            score = _template_likeness(group, system, tools, opening)
            if score >= _SAME_TEMPLATE and (best is None or score > best[0]):
                best = (score, group)
        if best is not None:
            self._groups.move_to_end(best[1].key)
            return best[1]
        group = Group(self._group_key(request, system | tools or opening), system, tools, opening)
        self._groups[group.key] = group
        for chunk in group.system | group.tools | group.opening:
            self._chunk_groups.setdefault(chunk, []).append(group)
            self._group_chunks += 1
        while len(self._groups) > 1 and (len(self._groups) > _MAX_GROUPS or self._group_chunks > _MOST_GROUP_CHUNKS):
            self._drop_group(self._groups.popitem(last=False)[1])
        return group

    def _group_key(self, request: Request, chunks: frozenset[int]) -> str:
        """Keyed hash of the two smallest chunk hashes: equal in every sidecar that has the same key and template."""
        del request
        smallest = sorted(chunks)[:2]
        key = self._hashed("group:" + ",".join(map(str, smallest)))
        number = 1
        while key in self._groups:
            number += 1
            key = self._hashed(f"group:{smallest}:{number}")
        return key

    def _drop_group(self, group: Group) -> None:
        for chunk in group.system | group.tools | group.opening:
            holders = self._chunk_groups.get(chunk, [])
            if group in holders:
                holders.remove(group)
                self._group_chunks -= 1
            if not holders:
                self._chunk_groups.pop(chunk, None)

    def _candidate_groups(self, chunks: frozenset[int]) -> Iterator[Group]:
        votes: Counter[str] = Counter()
        by_key: dict[str, Group] = {}
        for chunk in chunks:
            for group in self._chunk_groups.get(chunk, ())[-_WINDOW:]:
                votes[group.key] += 1
                by_key[group.key] = group
        return (by_key[key] for key, _count in votes.most_common(_MAX_CANDIDATES))

    def _other_firsts(self, group: Group, request: Request, at: float) -> Iterator[Known]:
        """The newest first request of another line, and the one that shares the longest head.

        Of one API where there are such: another one names the same places otherwise and renders them in another order.
        """
        earlier = [known for known in group.firsts if known.seen.at <= at]
        if not earlier:
            return
        earlier = [known for known in earlier if known.seen.request.api == request.api] or earlier
        newest = earlier[-1]
        yield newest
        best = max(earlier, key=lambda known: (_shared_pieces(known.seen.request, request), known.seen.at))
        if best is not newest:
            yield best


class Sketches:
    """Sketches of the texts seen lately, made once and shared by all requests that hold them."""

    def __init__(self, most: int = 500) -> None:
        self._most = most
        self._known: OrderedDict[tuple[tuple[int, int], ...], frozenset[int]] = OrderedDict()

    def of(self, texts: tuple[str, ...]) -> frozenset[int]:
        key = tuple((hash(text), len(text)) for text in texts)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = sketch(texts)
            if len(self._known) > self._most:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return found


def _weight(seen: Seen) -> int:
    pieces = seen.request.pieces
    # Characters beyond Latin-1 take two or four bytes each.
    text = sum(len(piece.text) if piece.text.isascii() else 2 * len(piece.text) for piece in pieces)
    return text + _REQUEST_CHARS + _PIECE_CHARS * len(pieces)


def _texts(request: Request, part: Part) -> Iterator[str]:
    return (p.text for p in request.pieces if p.part is part and p.kind is not PieceKind.ROLE)


def _texts_equal(a: Request, b: Request) -> bool:
    return [p.text for p in a.pieces] == [p.text for p in b.pieces]


def _shared_pieces(a: Request, b: Request) -> int:
    count = 0
    for old, new in zip(a.pieces, b.pieces, strict=False):
        if old.text != new.text:
            return count * 100_000 + common_prefix(old.text, new.text)
        count += 1
    return count * 100_000


def _is_retry(known: Known, request: Request) -> bool:
    return known.seen.failed and _texts_equal(known.seen.request, request)


def _template_likeness(group: Group, system: frozenset[int], tools: frozenset[int], opening: frozenset[int]) -> float:
    if min(len(group.system), len(system)) >= _MIN_CHUNKS:
        return likeness(group.system, system)
    if group.system or system or group.tools or tools:
        return likeness(group.system | group.tools, system | tools)
    return likeness(group.opening, opening)


def _same_agent(known: Known, request: Request, system: frozenset[int]) -> bool:
    """Whether a conversation may go on under this system text: a sub-agent that is handed the talk is another one."""
    if min(len(known.system), len(system)) < _MIN_CHUNKS:
        old, new = _head_text(known.seen.request), _head_text(request)
        if not old or not new:
            return bool(old) == bool(new)
        return bool(known.system & system) or common_prefix(old, new) >= min(_SAME_HEAD_CHARS, len(old), len(new))
    return likeness(known.system, system) >= _SAME_AGENT


def _head_text(request: Request) -> str:
    return next(_texts(request, Part.SYSTEM), "")
