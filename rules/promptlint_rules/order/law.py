"""The law of order: a faster segment ahead of slower ones keeps them out of the cache."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from promptlint_core import tokens
from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.prompt import Part, Place, Prompt, Segment
from promptlint_rules.base import Finding, Rule, Severity

MIN_STABLE_TOKENS = 32
"""Less stable text behind a volatile value is not worth a finding."""
LEAST_WORDS = 5
"""Fewer words between two values are the label of one of them, which goes where its value goes."""
_HEADING = re.compile(
    r"</?[\w.:-]+(?:\s[^<>\n]*)?/?>"  # a tag
    r"|^[ \t]*#+[ \t]+\S+(?:[ \t]+\S+){0,5}[ \t]*$"  # a heading
    r"|^[ \t]*[-=*_`~]{3,}[ \t]*\w*$"  # a rule, a fence
    r"|^[^\w\n]*\w[^\s:]*(?:[ \t]+[^\s:]+){0,5}[ \t]*:[^\w\n]*$",  # a label on a line of its own
    re.MULTILINE,
)
_WORD = re.compile(r"[^\W\d_]{2,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Violation:
    """A volatile segment with what stands behind it."""

    segment: Segment
    tokens_behind: int
    """Literal tokens that change more slowly than the segment and stand behind it."""
    history_behind: bool
    """A history that only grows stands behind it too, of unknown length."""
    history_ahead: bool = False
    """It stands behind a history itself: in the newest messages, whose text is new with each turn."""
    enough: bool = True
    """The stable text alone is worth a finding, without the history."""

    @property
    def behind(self) -> str:
        """For messages: `1,240 stable tokens and the history`."""
        history = "the history" if self.history_behind else ""
        counted = f"{self.tokens_behind:,} stable tokens" if self.tokens_behind else ""
        return " and ".join(part for part in (counted, history) if part)


def violations(prompt: Prompt, *origins: Origin, slowest: Cadence = Cadence.DAY) -> Iterator[Violation]:
    """The segments of the given origins, not slower than `slowest`, ahead of enough slower text, in render order.

    What stands behind the last cache breakpoint is read afresh anyway and never told.
    """
    end = _last_breakpoint(prompt)
    for index, segment in enumerate(prompt.segments[:end]):
        if segment.origin not in origins or segment.cadence is None or segment.cadence < slowest:
            continue
        if segment.place is None and not segment.expression:
            continue  # put together from parts: nothing could be pointed at
        behind = list(_behind(prompt, index))
        slower = [other for other in behind if other.cadence is not None and other.cadence < segment.cadence]
        history = any(other.cadence is Cadence.APPEND for other in slower)
        stable = "\n".join(other.text for other in slower if other.text)
        enough = tokens.at_least(stable, MIN_STABLE_TOKENS) and tokens.at_least(
            "\n".join(_worth_moving(behind, segment.cadence)), MIN_STABLE_TOKENS
        )
        if not history and not enough:
            continue
        grown = any(other.cadence is Cadence.APPEND for other in prompt.segments[:index])
        yield Violation(segment, tokens.count(stable), history, grown, enough)


def _behind(prompt: Prompt, index: int) -> Iterator[Segment]:
    """What stands behind a segment; of a question in a message only what is said before the model answers it."""
    segment = prompt.segments[index]
    answered = segment.cadence is Cadence.TURN and not is_instruction(segment)
    for other in prompt.behind(index):
        is_history = other.cadence is Cadence.APPEND and not is_instruction(other)
        if answered and other.role in ("assistant", "tool") and not is_history:
            return
        yield other
        if answered and is_history:
            return


def _worth_moving(segments: Sequence[Segment], cadence: Cadence) -> Iterator[str]:
    """The runs of text slower than `cadence` that say more than which value comes next."""
    run = ""
    for segment in segments:
        if segment.text is not None and segment.cadence is not None and segment.cadence < cadence:
            run += segment.text
            continue
        if not _is_label(run):
            yield run
        run = ""
    if not _is_label(run):
        yield run


def _is_label(text: str) -> bool:
    """Tags, headings and the few words around a value: `</query>\\n<page>`, `, written by `."""
    return len(_WORD.findall(_HEADING.sub(" ", text))) < LEAST_WORDS


def _last_breakpoint(prompt: Prompt) -> int:
    """How many segments stand ahead of the last cache breakpoint; all of them where there is none."""
    marked = [index for index, segment in enumerate(prompt.segments) if segment.marker is not None]
    return marked[-1] + 1 if marked else len(prompt.segments)


def is_instruction(segment: Segment) -> bool:
    """Whether a segment stands in text that is meant to be shared: tools, system, a developer message."""
    return segment.part is not Part.MESSAGES or segment.role in ("system", "developer")


def is_frozen(segment: Segment) -> bool:
    """Whether a value is read once for an object that lives as long as a session: each turn sends the same bytes."""
    return "frozen for the session" in segment.detail


def is_newest(violation: Violation) -> bool:
    """Whether a value stands in the newest message of a conversation, which is read for the first time anyway."""
    return violation.history_ahead and not is_instruction(violation.segment) and not violation.segment.repeated


def finding(
    rule: type[Rule],
    prompt: Prompt,
    violation: Violation,
    *,
    message: str,
    advice: str,
    severity: Severity | None = None,
) -> Finding:
    """A finding for a volatile segment; a value that only its name speaks for is told one level lower.

    What is read once for a session, and what stands in the newest message, is told as information.
    """
    segment = violation.segment
    level = severity or (Severity.INFO if is_frozen(segment) or is_newest(violation) else rule.severity)
    if segment.evidence is Evidence.NAMED and level is Severity.ERROR:
        level = Severity.WARNING
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=level,
        confidence=segment.evidence,
        message=message,
        place=segment.place or prompt.place or Place("", 1),
        expression=segment.expression,
        cadence=segment.cadence,
        tokens_behind=violation.tokens_behind or None,
        advice=advice,
        flow=segment.flow,
        prompt=prompt,
    )
