"""Measures an exchange from the events of its stream: time to first content, and gaps by token and by event.

Prefill and decode are told apart and never averaged together: the first content event ends the prefill, everything
behind it is decode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from promptlint_core.exchange import Timing
from promptlint_core.histogram import bucket_of
from promptlint_proxy.protocols.base import StreamEvent


@dataclass(frozen=True, slots=True)
class Latency:
    """The timing of one exchange, with its gaps as mergeable histograms."""

    timing: Timing
    itl_histogram: tuple[int, ...] = ()
    """Gaps between tokens: an event with k tokens after a gap g counts as k gaps of g / k."""
    event_gap_histogram: tuple[int, ...] = ()
    """Gaps between events with content, as they came."""
    tokens_estimated: bool = False
    """The server did not tell the tokens of each event: shared out by characters."""


def measure(
    started_at: float,
    events: Sequence[StreamEvent],
    *,
    first_byte_s: float | None,
    e2e_s: float | None,
    output_tokens: int | None,
) -> Latency:
    """The latency of one exchange; `at` of the events is in seconds since the request was sent.

    Only events with generated content count: a role-only chunk, a ping, a usage chunk or padding ends nothing. Choices
    of one request (n > 1) are timed one by one. Without a stream there is no first token to see: TTFT is unknown.
    """
    content = [event for event in events if event.content]
    if not content:
        return Latency(Timing(started_at, first_byte_s=first_byte_s, e2e_s=e2e_s))
    tokens, estimated = _tokens_of(content, output_tokens)
    gaps_s: list[float] = []
    last_at: dict[int, float] = {}
    itl = _Histogram()
    by_event = _Histogram()
    for event in content:
        if event.choice in last_at:
            gap_s = max(0.0, event.at - last_at[event.choice])
            gaps_s.append(gap_s)
            by_event.add(gap_s, 1)
        last_at[event.choice] = event.at
    for gap_s, count in _token_gaps(content, tokens):
        itl.add(gap_s / count, count)
    timing = Timing(
        started_at,
        first_byte_s=first_byte_s,
        ttft_s=content[0].at,
        e2e_s=e2e_s,
        gaps_s=tuple(gaps_s),
        event_tokens=tuple(tokens),
    )
    return Latency(timing, itl.counts(), by_event.counts(), estimated)


def _tokens_of(content: Sequence[StreamEvent], output_tokens: int | None) -> tuple[list[int], bool]:
    """Tokens of each event: as told, else the reported output shared out by characters, at least one each."""
    if all(event.tokens is not None for event in content):
        return [event.tokens or 1 for event in content], False
    chars = sum(event.chars for event in content)
    if not output_tokens or not chars:
        return [event.tokens or 1 for event in content], True
    # The remainder is carried on, so that the shares add up to the reported output.
    tokens: list[int] = []
    owed = 0.0
    for event in content:
        owed += output_tokens * event.chars / chars
        share = max(1, round(owed))
        tokens.append(share)
        owed -= share
    return tokens, True


def _token_gaps(content: Sequence[StreamEvent], tokens: Sequence[int]) -> list[tuple[float, int]]:
    """(gap, tokens that share it): events of one choice that came in one read count as one arrival.

    The tokens of the first arrival share no gap: nothing tells how they were spaced.
    """
    arrivals: dict[int, list[list[float]]] = {}
    for event, count in zip(content, tokens, strict=True):
        of_choice = arrivals.setdefault(event.choice, [])
        if of_choice and of_choice[-1][0] == event.at:
            of_choice[-1][1] += count
        else:
            of_choice.append([event.at, count])
    return [
        (max(0.0, later[0] - earlier[0]), int(later[1]))
        for of_choice in arrivals.values()
        for earlier, later in pairwise(of_choice)
    ]


class _Histogram:
    def __init__(self) -> None:
        self._counts: list[int] = []

    def add(self, latency_s: float, count: int) -> None:
        bucket = bucket_of(latency_s)
        if bucket >= len(self._counts):
            self._counts.extend([0] * (bucket + 1 - len(self._counts)))
        self._counts[bucket] += count

    def counts(self) -> tuple[int, ...]:
        return tuple(self._counts)
