"""Recordings through the analysis: what every exchange, comparison and fault was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from promptlint_core.errors import PromptlintError
from promptlint_core.exchange import Exchange
from promptlint_proxy.analysis import Analysis, AnalysisSettings, Observation
from promptlint_proxy.compare.pair import compare
from promptlint_proxy.replay.memory import ReplayedMemory
from promptlint_proxy.replay.readers.formats import read_recording
from promptlint_proxy.replay.recorded import RecordedExchange, Unreadable, to_exchange
from promptlint_rules.base import WireFinding
from promptlint_rules.tool.unreadable_file import UnreadableFile
from promptlint_rules.traffic import Memory, Pair, Relation

MOST_FOR_ALL_PAIRS = 50


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """All that a replay told."""

    observations: tuple[Observation, ...]
    """By index of the exchange."""
    pairs: tuple[tuple[Pair, str | None], ...]
    """Comparisons with the rule that names their fault."""
    findings: tuple[WireFinding, ...]
    unreadable: tuple[Unreadable, ...] = ()
    tokens_source: str = ""
    memory: tuple[Memory, ...] = ()
    """By index of the exchange: KV memory when it started; empty without a model's geometry."""
    notes: tuple[str, ...] = field(default=())


def read_all(
    paths: Sequence[Path], form: str | None = None, provider: str | None = None
) -> tuple[list[Exchange], list[Unreadable], list[RecordedExchange]]:
    """The exchanges of all files in the order of the files, what could not be read, and the recordings themselves."""
    exchanges: list[Exchange] = []
    unreadable: list[Unreadable] = []
    recorded: list[RecordedExchange] = []
    for path in paths:
        for entry in read_recording(path, form):
            if isinstance(entry, Unreadable):
                unreadable.append(entry)
                continue
            exchange = to_exchange(entry, len(exchanges), provider)
            if exchange is None:
                continue
            exchanges.append(exchange)
            recorded.append(entry)
    return exchanges, unreadable, recorded


def replay(
    exchanges: Iterable[Exchange],
    settings: AnalysisSettings | None = None,
    *,
    all_pairs: bool = False,
    unreadable: Sequence[Unreadable] = (),
    memory: ReplayedMemory | None = None,
) -> ReplayResult:
    """Analyse exchanges in the order of their start, with what each would hold of the KV memory where that is told.

    Raises PromptlintError when all pairs of more than `MOST_FOR_ALL_PAIRS` exchanges are asked for.
    """
    listed = list(exchanges)
    if all_pairs and len(listed) > MOST_FOR_ALL_PAIRS:
        raise PromptlintError(
            f"--pairs all compares every pair of up to {MOST_FOR_ALL_PAIRS} requests; there are {len(listed)}: "
            "use --pairs told, or cut the file"
        )
    analysis = Analysis(settings)
    seen: dict[int, Observation] = {}
    held: dict[int, Memory] = {}
    for exchange in sorted(listed, key=lambda e: (e.timing.started_at, e.index)):
        if memory is not None:
            held[exchange.index] = memory.start(exchange)
        seen[exchange.index] = analysis.observe(exchange, held.get(exchange.index))
    observations = tuple(seen[index] for index in sorted(seen))
    rules = {places: rule for observation in observations for places, rule in observation.rule_of.items()}
    told = [pair for observation in observations for pair in observation.pairs]
    pairs = _every_pair(observations, told) if all_pairs else told
    source = next((o.prediction.tokens_source for o in observations if o.prediction and o.prediction.tokens_source), "")
    return ReplayResult(
        observations,
        tuple((pair, rules.get((pair.earlier.index, pair.later.index))) for pair in pairs),
        (*analysis.findings(), *(_unreadable(entry) for entry in unreadable)),
        tuple(unreadable),
        source,
        tuple(held[index] for index in sorted(held)),
    )


def _every_pair(observations: Sequence[Observation], told: Sequence[Pair]) -> list[Pair]:
    known = {(pair.earlier.index, pair.later.index): pair for pair in told}
    pairs = []
    for position, later in enumerate(observations):
        for earlier in observations[:position]:
            key = (earlier.seen.index, later.seen.index)
            same_line = earlier.seen.line == later.seen.line
            relation = Relation.LINE if same_line else Relation.GROUP
            pairs.append(known.get(key) or compare(earlier.seen, later.seen, relation))
    return pairs


def _unreadable(entry: Unreadable) -> WireFinding:
    return WireFinding(
        rule=UnreadableFile.id,
        name=UnreadableFile.name,
        severity=UnreadableFile.severity,
        message=entry.sentence,
        exchanges=(),
        path=entry.place,
    )
