"""Anthropic: entries stand only at marked block ends; a marker looks back at most 20 positions.

Source: platform.claude.com prompt-caching (August to October 2026); minima as in litellm 1.110's price map.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from promptlint_core.exchange import Piece, PieceKind, Request, WireMarker
from promptlint_core.prefix_caches.entries import Entries
from promptlint_core.prefix_caches.piece_chain import digests, running_totals
from promptlint_core.prompt import Part

MOST_MARKERS = 4
LOOK_BACK_POSITIONS = 20
"""The marker's own position is the first."""

_MINIMUM_TOKENS: tuple[tuple[str, int], ...] = (
    (r"opus-4[-.]?[65](?!\d)", 4096),
    (r"haiku-4[-.]?5", 4096),
    (r"mythos-preview|opus-4[-.]?7|haiku-3[-.]?5|3-5-haiku", 2048),
    (r"fable|mythos|opus-5|sonnet-5[-.]5|haiku-5[-.]5", 512),
)
_USUAL_MINIMUM_TOKENS = 1024

_SYSTEM_LEVEL = ("speed", "web_search", "citations", "output_format")
_NO_LEVEL = ("service_tier", "prompt_cache_key", "diagnostics", "cache_control", "metadata")


def minimum_tokens(model: str | None) -> int:
    """Shortest prefix that a model caches.

    >>> [minimum_tokens(f"claude-{m}") for m in ("opus-4-6", "sonnet-4-6", "opus-5-5", "opus-4-20250514")]
    [4096, 1024, 512, 1024]
    """
    name = (model or "").lower()
    return next((tokens for regex, tokens in _MINIMUM_TOKENS if re.search(regex, name)), _USUAL_MINIMUM_TOKENS)


def levels(request: Request) -> dict[Part, str]:
    """The parameters that belong to the key from each part on: changing one keeps the levels ahead of it."""
    system = [f"{name}={value}" for name, value in request.parameters if name.split(".")[0] in _SYSTEM_LEVEL]
    messages = [
        f"{name}={value}"
        for name, value in request.parameters
        if name.split(".")[0] not in (*_SYSTEM_LEVEL, *_NO_LEVEL)
    ]
    images = any(piece.kind is PieceKind.IMAGE for piece in request.pieces)
    return {Part.SYSTEM: ";".join(system), Part.MESSAGES: ";".join([*messages, f"images={images}"])}


@dataclass(frozen=True, slots=True)
class MarkerRead:
    """What a look-up gives."""

    hit_tokens: int
    written_tokens: int
    reason: str


@dataclass(frozen=True, slots=True)
class MarkedPrompt:
    """A request with what the cache compares of it."""

    markers: tuple[WireMarker, ...]
    digests: tuple[bytes, ...]
    totals: tuple[int, ...]
    """Tokens up to and including each piece."""
    ends: tuple[tuple[int, int], ...]
    """(piece, position) of each block end, in order; equal positions are one run."""
    minimum: int


def marked_prompt(
    request: Request, piece_tokens: Sequence[int], *, minimum: int | None = None, runs_count_once: bool = False
) -> MarkedPrompt:
    """Prepare a request for look-up and write.

    Args:
        request: with its markers.
        piece_tokens: token count of each piece, for the minimum and for what is told.
        minimum: shortest cacheable prefix; None: by model as Anthropic lists it.
        runs_count_once: a run of tool calls, or of tool results, is one position, as the documentation of the Claude
            API has it. Off, every block counts: in reports from the field, runs did exhaust the look-back.
    """
    seed = f"{request.model}\0{request.routing_key or ''}"
    return MarkedPrompt(
        markers=tuple(marker for marker in request.markers if 0 <= marker.piece < len(request.pieces)),
        digests=digests(request.pieces, levels(request), seed=seed),
        totals=running_totals(piece_tokens),
        ends=_block_ends(request.pieces, runs_count_once=runs_count_once),
        minimum=minimum_tokens(request.model) if minimum is None else minimum,
    )


def _block_ends(pieces: Sequence[Piece], *, runs_count_once: bool) -> tuple[tuple[int, int], ...]:
    ends: list[tuple[int, int]] = []
    position, last_kind, start = -1, "", 0
    for index, piece in enumerate(pieces):
        if not piece.ends_block:
            continue
        kind = _run_kind(pieces[start : index + 1])
        if not (runs_count_once and kind and kind == last_kind):
            position += 1
        ends.append((index, position))
        last_kind, start = kind, index + 1
    return tuple(ends)


def _run_kind(block: Sequence[Piece]) -> str:
    kinds: Mapping[PieceKind, None] = dict.fromkeys(piece.kind for piece in block)
    if block[-1].part is not Part.MESSAGES:
        return ""
    if PieceKind.ARGUMENTS in kinds:
        return "tool call"
    return "tool result" if PieceKind.ID in kinds else ""


class MarkerCache:
    """Entries of one organization. Read at the request's start, written when its answer begins."""

    def __init__(self) -> None:
        self._entries = Entries()

    def __len__(self) -> int:
        return len(self._entries)

    def read(self, prompt: MarkedPrompt, at: float) -> MarkerRead:
        """Look every marker up and refresh what is found."""
        if not prompt.markers:
            return MarkerRead(0, 0, "no cache marker: nothing is written or read")
        if len(prompt.markers) > MOST_MARKERS:
            return MarkerRead(0, 0, f"{len(prompt.markers)} cache markers, {MOST_MARKERS} allowed: refused")
        hit, reasons = 0, []
        for marker in prompt.markers:
            found, reason = self._walk_back(prompt, marker, at)
            reasons.append(reason)
            hit = max(hit, found)
        for marker in prompt.markers:
            if prompt.totals[marker.piece] <= hit:
                self._entries.refresh(prompt.digests[marker.piece], at)
        longest = max(prompt.totals[marker.piece] for marker in prompt.markers)
        written = max(0, longest - hit) if longest >= prompt.minimum else 0
        if longest < prompt.minimum:
            return MarkerRead(0, 0, f"{longest} tokens before the last marker, minimum {prompt.minimum}")
        return MarkerRead(hit, written, "read up to a marked block end" if hit else reasons[-1])

    def _walk_back(self, prompt: MarkedPrompt, marker: WireMarker, at: float) -> tuple[int, str]:
        position = next((place for index, place in prompt.ends if index >= marker.piece), None)
        reason = "first request with this prefix"
        candidates = [marker.piece]
        if position is not None:
            nearest = [i for i, place in prompt.ends if i < marker.piece and position - place < LOOK_BACK_POSITIONS]
            candidates += reversed(nearest)
        for piece in candidates:
            key = prompt.digests[piece]
            if self._entries.alive(key, at):
                self._entries.refresh(key, at)
                return prompt.totals[piece], ""
            entry = self._entries.peek(key)
            if entry is not None:
                late = at < entry.available_from
                reason = (
                    "the first answer had not begun" if late else f"the entry's life of {entry.life_s:.0f} s was over"
                )
        return 0, reason

    def write(self, prompt: MarkedPrompt, at: float, *, available_from: float) -> None:
        """Enter the marked ends of a request that was answered.

        Args:
            prompt: as read.
            at: start of the request; lives count from here.
            available_from: when the answer began.
        """
        for marker in prompt.markers[:MOST_MARKERS]:
            tokens = prompt.totals[marker.piece]
            if tokens >= prompt.minimum:
                key = prompt.digests[marker.piece]
                self._entries.write(key, at, marker.life_s, available_from=available_from, tokens=tokens)
