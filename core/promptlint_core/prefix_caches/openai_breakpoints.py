"""OpenAI from GPT-5.6 on: entries stand at ends of messages and at explicit breakpoints, and nowhere else.

There is no fall-back to an arbitrary shorter prefix: text appended to an existing message reuses nothing beyond the
message before it. Source: OpenAI's prompt-caching guide (2026-10-02).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from promptlint_core.exchange import Piece, Request
from promptlint_core.prefix_caches.entries import Entries
from promptlint_core.prefix_caches.piece_chain import digests, running_totals
from promptlint_core.prompt import Part

MINIMUM_TOKENS = 1024
LIFE_S = 1800
LONG_LIFE_S = 43_200
WRITES_PER_REQUEST = 4
FIRST_LOOKED_UP = 2
LATEST_LOOKED_UP = 50
EARLIER_ENDS_LOOKED_UP = 20

_NOT_IN_PREFIX = ("tool_choice", "prompt_cache_options", "prompt_cache_retention", "prompt_cache_key", "metadata")
_HEAD_ROLES = ("system", "developer")


@dataclass(frozen=True, slots=True)
class BreakpointPrompt:
    """A request with the places at which it may be read and is written."""

    digests: tuple[bytes, ...]
    totals: tuple[int, ...]
    writes: tuple[tuple[int, int], ...]
    """(piece, life in seconds)."""
    looks_up: tuple[int, ...]
    """Pieces, longest prefix first."""
    visible: int


def breakpoint_prompt(request: Request, piece_tokens: Sequence[int]) -> BreakpointPrompt:
    """Find the places of a request; `piece_tokens` counts each of its pieces."""
    options = _options(request)
    explicit_mode = options.get("mode") == "explicit"
    own = sorted({marker.piece: marker.life_s for marker in request.markers if marker.piece >= 0}.items())
    life = LONG_LIFE_S if options.get("ttl") == "12h" else LIFE_S
    ends, head = eligible_ends(request.pieces)
    pieces = [piece for piece, _ in own]
    candidates = {*pieces[:FIRST_LOOKED_UP], *pieces[-LATEST_LOOKED_UP:]}
    if explicit_mode:
        writes = own[-WRITES_PER_REQUEST:]
    else:
        writes = own[-(WRITES_PER_REQUEST - 1) :] + [(end, life) for end in ends[-1:]]
        candidates |= {*ends[-1 - EARLIER_ENDS_LOOKED_UP :]}
        candidates |= {head} if head is not None else set()
    parameters = ";".join(f"{n}={v}" for n, v in request.parameters if n.split(".")[0] not in _NOT_IN_PREFIX)
    seed = "\0".join((str(request.model), request.routing_key or "", str(explicit_mode), parameters))
    totals = running_totals(piece_tokens)
    return BreakpointPrompt(
        digests=digests(request.pieces, {}, seed=seed),
        totals=totals,
        writes=tuple(writes),
        looks_up=tuple(sorted(candidates, reverse=True)),
        visible=totals[-1] if totals else 0,
    )


def _options(request: Request) -> dict[str, str]:
    """`prompt_cache_options`, whole or as dotted names."""
    found: dict[str, str] = {}
    for name, value in request.parameters:
        head, _, rest = name.partition(".")
        if head != "prompt_cache_options":
            continue
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = value
        if rest:
            found[rest] = str(parsed)
        elif isinstance(parsed, dict):
            found |= {str(key): str(item) for key, item in parsed.items()}
    return found


def eligible_ends(pieces: Sequence[Piece]) -> tuple[list[int], int | None]:
    """Pieces that end an eligible message, and the one that ends the initial developer block.

    Eligible are user messages, the last tool response of a run, and the last developer message of the initial block.
    """
    ends: list[int] = []
    head: int | None = None
    roles: list[tuple[int, str]] = []
    for index, piece in enumerate(pieces):
        if index + 1 < len(pieces) and _message(pieces[index + 1]) == _message(piece):
            continue
        if piece.part is Part.TOOLS:
            continue
        roles.append((index, piece.role or ("system" if piece.part is Part.SYSTEM else "")))
    in_head = True
    for order, (index, role) in enumerate(roles):
        following = roles[order + 1][1] if order + 1 < len(roles) else ""
        in_head = in_head and role in _HEAD_ROLES
        if in_head:
            head = index
        if role == "user" or (role == "tool" and following != "tool") or (in_head and following not in _HEAD_ROLES):
            ends.append(index)
    return ends, head


def _message(piece: Piece) -> tuple[Part, int | None]:
    return piece.part, piece.message


class BreakpointCache:
    """Entries of one organization."""

    def __init__(self) -> None:
        self._entries = Entries()

    def __len__(self) -> int:
        return len(self._entries)

    def read(self, prompt: BreakpointPrompt, at: float) -> tuple[int, int, str]:
        """Look up; returns (hit tokens, tokens that will be written, reason)."""
        if prompt.visible < MINIMUM_TOKENS:
            return 0, 0, f"{prompt.visible} tokens, minimum {MINIMUM_TOKENS}"
        if not prompt.writes and not prompt.looks_up:
            return 0, 0, "explicit mode without a breakpoint: nothing is written or read"
        hit = 0
        for piece in prompt.looks_up:
            if self._entries.alive(prompt.digests[piece], at):
                self._entries.refresh(prompt.digests[piece], at)
                hit = prompt.totals[piece]
                break
        longest = max((prompt.totals[piece] for piece, _ in prompt.writes), default=0)
        written = max(0, longest - hit) if longest >= MINIMUM_TOKENS else 0
        return (
            hit,
            written,
            "read up to a breakpoint" if hit else "no breakpoint of an earlier request ends in this prefix",
        )

    def write(self, prompt: BreakpointPrompt, at: float, *, available_from: float) -> None:
        """Enter the breakpoints of an answered request that started at `at`."""
        for piece, life_s in prompt.writes:
            if prompt.totals[piece] >= MINIMUM_TOKENS:
                key = prompt.digests[piece]
                self._entries.write(key, at, life_s, available_from=available_from, tokens=prompt.totals[piece])
