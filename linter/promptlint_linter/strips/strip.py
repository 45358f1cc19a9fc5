"""A prompt laid out on a line: each segment gets its share of the width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from promptlint_core import tokens
from promptlint_core.cadence import Cadence
from promptlint_core.prompt import Prompt, Segment

UNKNOWN_TOKENS = 12
"""What a value of unknown length takes of the strip."""
HISTORY_TOKENS = 120
"""What a growing history takes of the strip."""


@dataclass(frozen=True, slots=True)
class Band:
    """Neighbouring segments of one cadence."""

    cadence: Cadence | None
    segments: tuple[Segment, ...]
    tokens: int | None
    """Of its literal text; None where nothing of it is known."""
    columns: int

    @property
    def first(self) -> Segment:
        return self.segments[0]


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a cache stops."""

    band: int
    column: int
    tokens_ahead: int
    who: str
    """Between which requests: `in one session`, `from one user to the next`."""


@dataclass(frozen=True, slots=True)
class Strip:
    bands: tuple[Band, ...]
    tokens: int
    stops: tuple[Stop, ...]


def lay_out(prompt: Prompt, columns: int, model: str | None = None) -> Strip:
    """The strip of a prompt on so many columns."""
    encoding = tokens.encoding_for(model).name
    groups: list[list[Segment]] = []
    for segment in prompt.segments:
        if groups and groups[-1][0].cadence == segment.cadence and segment.is_literal:
            groups[-1].append(segment)
        else:
            groups.append([segment])
    counts = [_count(group, encoding) for group in groups]
    widths = _widths([_weight(group[0], count) for group, count in zip(groups, counts, strict=True)], columns)
    bands = tuple(
        Band(group[0].cadence, tuple(group), count, width)
        for group, count, width in zip(groups, counts, widths, strict=True)
    )
    return Strip(bands, sum(count or 0 for count in counts), tuple(_stops(bands)))


def _count(group: Sequence[Segment], encoding: str) -> int | None:
    known = [segment.text for segment in group if segment.text is not None]
    return tokens.count("".join(known), encoding) if known else None


def _weight(first: Segment, count: int | None) -> int:
    if count is not None:
        return max(count, 1)
    return HISTORY_TOKENS if first.cadence is Cadence.APPEND else UNKNOWN_TOKENS


def _widths(weights: Sequence[int], columns: int) -> list[int]:
    """Whole columns in proportion to the weights, at least one each; they add up to `columns` where there is room.

    >>> _widths([90, 5, 5], 20), _widths([1, 1000], 10)
    ([18, 1, 1], [1, 9])
    """
    total = sum(weights)
    if not total:
        return []
    widths = [max(1, weight * columns // total) for weight in weights]
    while sum(widths) > columns and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    if sum(widths) < columns:
        widths[widths.index(max(widths))] += columns - sum(widths)
    return widths


def _stops(bands: Sequence[Band]) -> list[Stop]:
    """The first band that differs between requests and, where it lies ahead, the first that differs between users."""
    found = []
    for who, lowest, highest in (
        ("from one user or session to the next", Cadence.TENANT, Cadence.SESSION),
        ("from one request to the next", Cadence.TURN, Cadence.CALL),
    ):
        for number, band in enumerate(bands):
            if band.cadence is not None and lowest <= band.cadence <= highest:
                ahead = bands[:number]
                columns, count = sum(b.columns for b in ahead), sum(b.tokens or 0 for b in ahead)
                found.append(Stop(number, columns, count, who))
                break
    return found if len(found) < 2 or found[0].column < found[1].column else found[1:]
