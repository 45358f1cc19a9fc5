"""Applies suppression comments to findings, and complains of those that suppress nothing or name no rule."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from promptlint_core.cadence import Evidence
from promptlint_core.prompt import Place
from promptlint_linter.decode import read_source
from promptlint_linter.nearest import nearest
from promptlint_linter.reported import Reported, from_finding
from promptlint_linter.selection import matched, nearest_rule
from promptlint_linter.sources.kinds import Kind, kind_of
from promptlint_linter.sources.unit import Problem
from promptlint_linter.suppress import VERBS, Suppression, find_suppressions
from promptlint_rules.base import Edit, Finding, Fix, Rule
from promptlint_rules.tool.unknown_suppression import UnknownSuppression
from promptlint_rules.tool.unused_suppression import UnusedSuppression

MOST_BYTES = 4_000_000
"""Of a file that a value only passes through."""


class Suppressions:
    """The comments of all files of a run.

    A finding is silenced where it is read, where its prompt stands, and at every step between the two.
    """

    def __init__(
        self, by_path: Mapping[str, tuple[Suppression, ...]], not_judged: Container[str] = frozenset()
    ) -> None:
        """`not_judged`: files whose comments may be of use: to prompts of files that this run does not read, or to
        what would be found in a file that cannot be read.
        """
        self._by_path = by_path
        self._not_judged = not_judged
        self._elsewhere: dict[str, tuple[Suppression, ...]] = {}
        self._used: set[tuple[str, Suppression, str]] = set()
        """Comments with the word of theirs that silenced something; `""` for a comment without words."""
        self.suppressed = 0

    def apply(self, findings: Iterable[Reported]) -> list[Reported]:
        """The findings that no comment covers."""
        kept = []
        for finding in findings:
            covering = list(self._covering(finding))
            if covering:
                self._used.update(covering)
                self.suppressed += 1
            else:
                kept.append(finding)
        return kept

    def _covering(self, finding: Reported) -> Iterator[tuple[str, Suppression, str]]:
        places = {(finding.path, line) for line in range(finding.line, max(finding.end_line, finding.line) + 1)}
        places |= {(step.path, step.line) for step in finding.flow}
        if finding.prompt:
            places.add((finding.prompt.path, finding.prompt.line))
        for path in {path for path, _ in places}:
            for suppression in self._comments_of(path):
                if suppression.verb not in VERBS:
                    continue
                if any(suppression.covers(line) for where, line in places if where == path):
                    yield from ((path, suppression, word) for word in _naming(suppression, finding.rule))

    def _comments_of(self, path: str) -> tuple[Suppression, ...]:
        """The comments of a file; of one that a value only passes through, read when it is met."""
        if path in self._by_path:
            return self._by_path[path]
        if path not in self._elsewhere:
            source = read_source(Path(path), path, MOST_BYTES)
            kind = kind_of(PurePosixPath(path)) or Kind.PROMPT
            self._elsewhere[path] = () if isinstance(source, Problem) else find_suppressions(source.text, kind)
        return self._elsewhere[path]

    def complaints(self, selected: frozenset[str]) -> Iterator[Reported]:
        """Unknown names, and comments that silenced nothing although their rules ran."""
        for path, suppressions in self._by_path.items():
            for suppression in suppressions:
                unknown = list(_unknown(path, suppression))
                yield from unknown
                words = suppression.words or ("",)
                unused = [word for word in words if (path, suppression, word) not in self._used]
                if path in self._not_judged:
                    continue
                if unused and not unknown and all(matched(word) <= selected for word in unused):
                    yield _unused(path, suppression, unused)


def _naming(suppression: Suppression, rule: str) -> Iterator[str]:
    """The words of a comment that name the rule."""
    return (word for word in suppression.words or ("",) if not word or rule in matched(word))


def _unknown(path: str, suppression: Suppression) -> Iterator[Reported]:
    if suppression.verb not in VERBS:
        offer = nearest(suppression.verb, VERBS)
        yield _complaint(
            UnknownSuppression, path, suppression, f"`{suppression.verb}` is no instruction to promptlint", offer
        )
        return
    for word in suppression.words:
        if not matched(word):
            yield _complaint(UnknownSuppression, path, suppression, f"`{word}` names no rule", nearest_rule(word))


def _unused(path: str, suppression: Suppression, unused: list[str]) -> Reported:
    what = ", ".join(unused) or "any rule"
    told = _complaint(UnusedSuppression, path, suppression, f"nothing to ignore here: no finding of {what}", None)
    if len(unused) < len(suppression.words) or not suppression.closed:
        return told  # the rest of the comment is of use, or stands on the lines below
    place = Place(path, suppression.line, suppression.column, suppression.line, suppression.end_column)
    whole_line = Place(path, suppression.line, 1, suppression.line + 1, 1)
    edit = Edit(whole_line if suppression.alone else place, "")
    return replace(told, fix=Fix(safe=True, edits=(edit,), note="remove the comment"))


def _complaint(rule: type[Rule], path: str, suppression: Suppression, message: str, offer: str | None) -> Reported:
    place = Place(path, suppression.line, suppression.column, suppression.line, suppression.end_column)
    finding = Finding(
        rule.id,
        rule.name,
        rule.severity,
        Evidence.PROVED,
        message + (f"; did you mean {offer}?" if offer else ""),
        place,
        expression=f"{suppression.verb}[{', '.join(suppression.words)}]",
    )
    return from_finding(finding)
