"""One exchange after the other in; comparisons, findings and predictions out. Used by replays and by the live proxy.

Memory is bounded: a window of recent requests to compare with, running figures for the rest.
"""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from promptlint_core.exchange import Exchange
from promptlint_proxy.calibration import TokenCounter
from promptlint_proxy.compare.lines import Group, Lines, Placement
from promptlint_proxy.compare.pair import compare
from promptlint_proxy.compare.policy import policy_of
from promptlint_proxy.group_view import GroupView, Strip
from promptlint_proxy.predict import Prediction, Predictor, PredictorSettings
from promptlint_rules.base import Rule, WireFinding
from promptlint_rules.registry import RULES
from promptlint_rules.traffic import Counts, Memory, Pair, Relation, Seen, Traffic

_WINDOW = 32
_MAX_GROUPS = 1000
_MAX_FINDINGS = 5000
_SHOWN_EXCHANGES = 50
_INDEX = re.compile(r"\[\d+\]")
_CLOSE = 0.1
"""A reported hit within this share of the prompt of the predicted one was honoured: blocks and hidden text differ."""


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """What the analysis is told."""

    hash_key: bytes = b"promptlint"
    """Key of group and line hashes; sidecars that share it have comparable groups."""
    budget_chars: int = 48_000_000
    """Prompt text kept for comparing, in code points."""
    utc_offset_s: int = 0
    """Of the serving machine, for its midnight."""
    predictor: PredictorSettings = field(default_factory=PredictorSettings)
    predict: bool = True


@dataclass(frozen=True, slots=True)
class Observation:
    """What one exchange told."""

    exchange: Exchange
    seen: Seen
    pairs: tuple[Pair, ...]
    """The comparisons that are told: with its predecessor in the line, or with first requests of other lines."""
    findings: tuple[WireFinding, ...]
    """All findings that this exchange shows."""
    new_findings: tuple[WireFinding, ...]
    """Those of them that no earlier exchange showed."""
    prediction: Prediction | None
    honoured: str | None
    """`honoured`, `more`, `less` or `not-honoured`; None where the predicted or the reported hit is unknown."""

    @property
    def rule_of(self) -> dict[tuple[int, int], str]:
        """Rule that names the fault of a told comparison, by its (earlier, later)."""
        named: dict[tuple[int, int], str] = {}
        for finding in sorted(self.findings, key=lambda f: f.severity.rank):
            for pair in self.pairs:
                if pair.earlier.index in finding.exchanges:
                    named.setdefault((pair.earlier.index, pair.later.index), finding.rule)
        return named


@dataclass(slots=True)
class _GroupState:
    counts: Counts = field(default_factory=Counts)
    pairs: deque[Pair] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    strip: Strip = field(default_factory=Strip)


class Analysis:
    """Feed it exchanges in the order of their start; it tells what each of them shows."""

    def __init__(self, settings: AnalysisSettings | None = None, rules: Iterable[type[Rule]] | None = None) -> None:
        self.settings = settings or AnalysisSettings()
        self.tokens = TokenCounter()
        self._lines = Lines(self.settings.hash_key, self.settings.budget_chars)
        self._rules = tuple(rule() for rule in (RULES if rules is None else rules) if rule.is_live())
        self._states: OrderedDict[str, _GroupState] = OrderedDict()
        self._findings: OrderedDict[tuple[str, str, str], WireFinding] = OrderedDict()
        self._predictor = Predictor(self.settings.predictor) if self.settings.predict else None

    def observe(self, exchange: Exchange, memory: Memory | None = None) -> Observation:
        """Place, compare, predict and judge one exchange."""
        usage = exchange.response.usage
        prompt_tokens, reported = self.tokens.prompt_tokens(exchange.request, usage.prompt_tokens if usage else None)
        prediction = self._predict(exchange)
        if not reported and self.settings.predictor.tokenizer and prediction and prediction.prompt_tokens is not None:
            prompt_tokens = prediction.prompt_tokens  # counted with the model's own tokenizer
        placement = self._lines.place(exchange)
        seen = Seen(
            exchange, placement.group.key, placement.line, placement.turn, prompt_tokens, reported, placement.retry_of
        )
        pairs = self._compare(placement, seen)
        for forgotten in self._lines.keep(placement, seen):
            self._forget(forgotten)
        state = self._state(placement.group)
        state.counts = _counted(state.counts, seen)
        state.pairs.extend(pairs)
        state.strip.observe(seen, pairs)
        traffic = self._traffic(placement, seen, pairs, state, memory)
        findings = tuple(finding for rule in self._rules for finding in rule.check_traffic(traffic))
        findings = tuple(replace(finding, group=finding.group or seen.group) for finding in findings)
        new = tuple(finding for finding in findings if self._remember(finding))
        return Observation(exchange, seen, pairs, findings, new, prediction, _honoured(prediction, seen))

    def findings(self) -> tuple[WireFinding, ...]:
        """Each fault once, with the exchanges that show it, in the order in which they were first seen."""
        return tuple(self._findings.values())

    def groups(self) -> tuple[GroupView, ...]:
        """The prompt groups seen lately: figures, observed segments, sketch of the stable text."""
        views = []
        for group in self._lines.groups:
            state = self._states.get(group.key)
            if state is not None:
                views.append(state.strip.view(group.key, state.counts, self.tokens, self.settings.hash_key))
        return tuple(views)

    @property
    def kept(self) -> tuple[int, int]:
        """(requests that later ones are compared with, about the bytes that the models of caches take)."""
        return self._lines.kept, self._predictor.kept_bytes if self._predictor else 0

    def _forget(self, seen: Seen) -> None:
        """A request is beyond the budget: nothing may hold its text any longer."""
        state = self._states.get(seen.group)
        if state is None:
            return
        kept = [pair for pair in state.pairs if pair.earlier.index > seen.index]
        if len(kept) < len(state.pairs):
            state.pairs = deque(kept, maxlen=_WINDOW)
        state.strip.forget(seen, self.tokens, self.settings.hash_key)

    def _compare(self, placement: Placement, seen: Seen) -> tuple[Pair, ...]:
        if placement.predecessor is not None:
            return (compare(placement.predecessor.seen, seen, placement.relation),)
        return tuple(compare(other.seen, seen, Relation.GROUP) for other in placement.others)

    def _state(self, group: Group) -> _GroupState:
        state = self._states.get(group.key)
        if state is None:
            state = self._states[group.key] = _GroupState()
            if len(self._states) > _MAX_GROUPS:
                self._states.popitem(last=False)
        self._states.move_to_end(group.key)
        return state

    def _traffic(
        self, placement: Placement, seen: Seen, pairs: tuple[Pair, ...], state: _GroupState, memory: Memory | None
    ) -> Traffic:
        recent = self._lines.recent_of(placement.group)
        return Traffic(
            current=seen,
            pairs=pairs,
            line=tuple(other for other in recent if other.line == seen.line),
            group=recent,
            line_pairs=tuple(pair for pair in state.pairs if pair.later.line == seen.line),
            group_pairs=tuple(state.pairs),
            policy=policy_of(seen.request),
            counts=state.counts,
            memory=memory or Memory(),
            utc_offset_s=self.settings.utc_offset_s,
        )

    def _remember(self, finding: WireFinding) -> bool:
        """Merge a finding into the known ones; True when it is new."""
        key = (finding.rule, finding.group, _INDEX.sub("[]", finding.path))
        known = self._findings.get(key)
        if known is None:
            self._findings[key] = finding
            if len(self._findings) > _MAX_FINDINGS:
                self._findings.popitem(last=False)
            return True
        exchanges = tuple(sorted({*known.exchanges, *finding.exchanges}))[-_SHOWN_EXCHANGES:]
        behind = max(known.tokens_behind or 0, finding.tokens_behind or 0) or None
        self._findings[key] = replace(finding, exchanges=exchanges, tokens_behind=behind)
        return False

    def _predict(self, exchange: Exchange) -> Prediction | None:
        if self._predictor is None:
            return None
        at = exchange.timing.started_at
        prediction = self._predictor.predict(exchange.request, at)
        timing = exchange.timing
        begun_s = timing.first_byte_s if timing.first_byte_s is not None else timing.ttft_s
        self._predictor.answered(exchange.request, exchange.response, at + (begun_s or 0.0))
        return prediction


def _counted(counts: Counts, seen: Seen) -> Counts:
    if seen.failed:
        return replace(counts, requests=counts.requests + 1)
    response = seen.response
    output = seen.output_tokens
    tools_known = response.tools_known or bool(response.tool_calls) or response.content_chars is not None
    without = seen.request.stream and response.usage is None
    return Counts(
        requests=counts.requests + 1,
        answered=counts.answered + 1,
        largest_output=max(counts.largest_output, output or 0),
        outputs=counts.outputs + (output is not None),
        tools_known=counts.tools_known + tools_known,
        tools_called=counts.tools_called + bool(response.tool_calls),
        streamed=counts.streamed + seen.request.stream,
        streamed_without_usage=counts.streamed_without_usage + without,
        hits_unknown=counts.hits_unknown + (response.usage is not None and seen.hit_tokens is None),
    )


def _honoured(prediction: Prediction | None, seen: Seen) -> str | None:
    if prediction is None or prediction.hit_tokens is None or seen.hit_tokens is None or seen.failed:
        return None
    difference = seen.hit_tokens - prediction.hit_tokens
    if abs(difference) <= _CLOSE * max(1, seen.prompt_tokens):
        return "honoured"
    if difference > 0:
        return "more"
    return "not-honoured" if seen.hit_tokens == 0 else "less"
