"""What live checks have in common: building a finding from a comparison, and the sizes below which nothing is told."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.prompt import Part
from promptlint_rules.base import Rule, Severity, WireFinding
from promptlint_rules.difference import Kind
from promptlint_rules.traffic import Pair, Relation, Traffic

MIN_BEHIND_TOKENS = 32
"""Two blocks of a common engine: less stable text behind a difference is not worth a finding."""
MIN_BEHIND_IN_MESSAGE_TOKENS = 128
"""A message is allowed to differ between conversations; only much stable text behind the difference is a fault."""


def wire_finding(
    rule: type[Rule],
    message: str,
    exchanges: tuple[int, ...],
    *,
    path: str = "",
    tokens_behind: int | None = None,
    severity: Severity | None = None,
    **detail: object,
) -> WireFinding:
    """A fault in traffic. The message states the fact and the size and holds no text of the prompt."""
    return WireFinding(
        rule=rule.id,
        name=rule.name,
        severity=severity or rule.severity,
        message=message,
        exchanges=exchanges,
        path=path,
        tokens_behind=tokens_behind or None,
        detail=detail,
    )


def of_pair(
    rule: type[Rule], pair: Pair, message: str, *, severity: Severity | None = None, **detail: object
) -> WireFinding:
    """A fault that one comparison shows."""
    return wire_finding(
        rule,
        message,
        (pair.earlier.index, pair.later.index),
        path=pair.path,
        tokens_behind=pair.behind_tokens,
        severity=severity,
        **detail,
    )


_ALWAYS_CHANGING = frozenset({Kind.CLOCK, Kind.FRAMEWORK_CLOCK, Kind.ATTRIBUTION})
_SETTLED_PAIRS = 2


def changed_once(traffic: Traffic, pair: Pair) -> bool:
    """Whether the head was the same in several comparisons before this one: a release, a restart, another setting.

    A clock to the minute looks like that too and is not asked.
    """
    if pair.kind in _ALWAYS_CHANGING:
        return False
    past = traffic.line_pairs if pair.relation is Relation.LINE else traffic.group_pairs
    earlier = [p for p in past if p.relation is pair.relation and p.later.index < pair.later.index]
    same = [p for p in earlier if p.comparison.divergence is None or p.comparison.divergence.part is Part.MESSAGES]
    return len(same) >= _SETTLED_PAIRS and len(same) == len(earlier)


def leading(traffic: Traffic, *kinds: Kind) -> Iterator[Pair]:
    """Comparisons whose first difference is of one of these kinds and stands ahead of enough text that stayed."""
    for pair in traffic.of_kind(*kinds):
        first = pair.first
        own_message = first is not None and first.part is Part.MESSAGES and pair.relation is Relation.GROUP
        least = MIN_BEHIND_IN_MESSAGE_TOKENS if own_message else MIN_BEHIND_TOKENS
        if pair.behind_tokens >= least and not changed_once(traffic, pair):
            yield pair


def behind(pair: Pair) -> str:
    """For messages: `1,250 tokens behind it that both requests hold are read again`."""
    return f"{pair.behind_tokens:,} tokens behind it that both requests hold are read again"


def across(pair: Pair) -> str:
    """For messages: `between two conversations` or `from one turn to the next`."""
    return "between two conversations" if pair.relation is Relation.GROUP else "from one turn to the next"
