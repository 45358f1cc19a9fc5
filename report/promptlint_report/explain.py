"""Which line of the source explains a fault that was seen on the wire, and what to change there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from promptlint_linter.fixes import plan_fixes
from promptlint_linter.reported import Reported
from promptlint_report.document import Advice, StripSegment
from promptlint_report.figures.missed import UNNAMED, Fault
from promptlint_report.templates import Match, Template

_FAMILY = len("KV1")
_IN_A_LIST = re.compile(r"(messages|input|contents)\[\d+\]")
_FAMILIES_OF_PART = {"tools": ("KV2",), "system": ("KV1", "KV2"), "history": ("KV3",)}
"""Families of rules that can explain a difference which no rule names, by the part of the prompt it lies in."""


@dataclass(frozen=True, slots=True)
class Source:
    """What the linter finds below some paths."""

    templates: tuple[Template, ...]
    findings: tuple[Reported, ...]
    note: str = ""
    """Why no template can be matched with traffic; empty where it can."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One prompt group: the templates its prompts are made of, and its segments on the wire."""

    matches: tuple[Match, ...] = ()
    strip: tuple[StripSegment, ...] = ()


class Sureness(StrEnum):
    """How a finding of the source explains a fault of the wire."""

    EXACT = "exact"
    """The same rule in the prompt of the group."""
    FAMILY = "family"
    """A rule of the same family there, which explains no other fault of the group."""
    SHARED = "shared"
    """As FAMILY, but it explains another fault already."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Cause:
    sureness: Sureness
    findings: tuple[Reported, ...] = ()
    """The heaviest first."""


def causes(found: Sequence[Fault], groups: Mapping[str, Seen], source: Source) -> dict[tuple[str, str], Cause]:
    """For each fault, by group and rule, the findings that explain it."""
    inside = {group: findings_of_group(seen.matches, source) for group, seen in groups.items()}
    told: dict[tuple[str, str], Cause] = {}
    taken: dict[str, list[Reported]] = {}
    for fault in found:
        same = [finding for finding in inside.get(fault.group, ()) if finding.rule == fault.rule]
        if same:
            told[fault.group, fault.rule] = Cause(Sureness.EXACT, tuple(sorted(same, key=_weight, reverse=True)))
            taken.setdefault(fault.group, []).extend(same)
    for fault in found:
        if (fault.group, fault.rule) in told:
            continue
        related = _related(fault, groups.get(fault.group, Seen()), inside.get(fault.group, ()))
        used = taken.setdefault(fault.group, [])
        free = [finding for finding in related if finding not in used]
        sureness = Sureness.FAMILY if free else Sureness.SHARED if related else Sureness.NONE
        best = max(free or related, key=_weight, default=None)
        told[fault.group, fault.rule] = Cause(sureness, (best,) if best else ())
        used += [best] if best and free else []
    return told


def explain(found: Sequence[Fault], groups: Mapping[str, Seen], source: Source) -> dict[tuple[str, str], Advice]:
    """For each fault, by group and rule: the line to change and the change, or a sentence why there is none."""
    known = causes(found, groups, source)
    told = {}
    for fault in found:
        cause = known[fault.group, fault.rule]
        match cause.sureness:
            case Sureness.EXACT:
                advice = _exact(fault, cause.findings[0])
            case Sureness.FAMILY:
                advice = _by_family(fault, cause.findings[0])
            case Sureness.SHARED:
                advice = _shared(fault, cause.findings[0])
            case Sureness.NONE:
                advice = _unexplained(fault, groups.get(fault.group, Seen()))
        told[fault.group, fault.rule] = advice
    return told


def findings_of_group(matches: Iterable[Match], source: Source) -> tuple[Reported, ...]:
    """The findings that lie in the templates of a group, or in the call beside them.

    A finding of a call (its routing key, its tools, its history) has no prompt of its own: it belongs to the template
    that stands nearest to it in its file.
    """
    places = {(match.template.path, match.template.line) for match in matches}
    lines: dict[str, list[int]] = {}
    for template in source.templates:
        lines.setdefault(template.path, []).append(template.line)

    def belongs(finding: Reported) -> bool:
        if finding.prompt:
            return (finding.prompt.path, finding.prompt.line) in places
        near = min(lines.get(finding.path, ()), key=lambda line: (abs(line - finding.line), line), default=0)
        return (finding.path, near) in places

    return tuple(finding for finding in source.findings if belongs(finding))


def _weight(finding: Reported) -> tuple[int, str, int]:
    return (finding.tokens_behind or 0, finding.path, -finding.line)


def _related(fault: Fault, seen: Seen, inside: Iterable[Reported]) -> list[Reported]:
    families = _FAMILIES_OF_PART[_part(fault, seen)] if fault.rule == UNNAMED else (fault.rule[:_FAMILY],)
    return [finding for finding in inside if finding.rule[:_FAMILY] in families]


def _part(fault: Fault, seen: Seen) -> str:
    """Where in the prompt a fault lies: in the tools, in the system text or in the conversation."""
    if fault.path.startswith("tools"):
        return "tools"
    parts = {segment.part for segment in seen.strip if segment.path == fault.path}
    return "history" if _IN_A_LIST.match(fault.path) and "system" not in parts else "system"


def _exact(fault: Fault, finding: Reported) -> Advice:
    text, diff = _change(finding)
    text = text[:1].upper() + text[1:]
    return Advice(fault.group, fault.rule, fault.path, _place(finding), text, diff, finding.rule)


def _by_family(fault: Fault, finding: Reported) -> Advice:
    text, diff = _change(finding)
    seen = "a difference that no rule names" if fault.rule == UNNAMED else fault.rule
    text = f"The traffic shows {seen} in `{fault.path}`; in the source it is {finding.rule}: {finding.message}; {text}"
    return Advice(fault.group, fault.rule, fault.path, _place(finding), text, diff, finding.rule)


def _shared(fault: Fault, finding: Reported) -> Advice:
    text = (
        f"The linter finds nothing more in this prompt than what other rows tell, such as {finding.rule} at this line: "
        "make that change first; what is left of this row then has another cause."
    )
    return Advice(fault.group, fault.rule, fault.path, _place(finding), text, "", finding.rule)


def _unexplained(fault: Fault, seen: Seen) -> Advice:
    if not seen.matches:
        return Advice(fault.group, fault.rule, fault.path, "", "No template below --source is in this group's prompts.")
    template = seen.matches[0].template
    place = f"{template.path}:{template.line}"
    parts = [segment for segment in seen.strip if segment.path == fault.path]
    kind = f", {parts[0].cadence} text of the kind {parts[0].origin}," if parts else ""
    text = f"This is the template; the linter sees no cause in it. `{fault.path}`{kind} changes on the wire: "
    if fault.rule == UNNAMED:
        text += "look at what the calling code puts there."
    else:
        text += f"look at what the calling code puts there; `promptlint rule {fault.rule}` shows the usual change."
    return Advice(fault.group, fault.rule, fault.path, place, text)


def _place(finding: Reported) -> str:
    return f"{finding.path}:{finding.line}"


def _change(finding: Reported) -> tuple[str, str]:
    """What to do, and the diff of the fix where there is one."""
    diff = "".join(fix.diff() for fix in plan_fixes([finding], unsafe=True))
    text = finding.message if diff else finding.advice or finding.message
    if diff and finding.fix and not finding.fix.safe:
        text += " (an unsafe fix: read it before you apply it with --unsafe-fixes)"
    return text, diff
