"""The prompt templates of a source tree, and which of them a group of recorded prompts came from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from promptlint_core.prompt import Prompt
from promptlint_core.sketch import GAP, SKETCH_SIZE, contained_share, shingle_hashes
from promptlint_linter import gate
from promptlint_linter.config import Config
from promptlint_linter.decode import read_source
from promptlint_linter.files import Target, find_files
from promptlint_linter.lint_file import MOST_BYTES
from promptlint_linter.neighbours import project_modules
from promptlint_linter.parallel import on_deep_stack
from promptlint_linter.session import Session
from promptlint_linter.sources.kinds import Kind
from promptlint_linter.sources.read import read_unit
from promptlint_linter.sources.unit import Problem, SourceUnit

MIN_SHARE = 0.6
"""Of a template's shingles that a group's sketch holds: conditional parts of a template may be missing."""
MIN_SHINGLES = 4
"""Below this a template is too short to be told from others."""
MIN_SEEN = 3
"""Shingles of a template that must be in the sketch at least."""


@dataclass(frozen=True, slots=True)
class Template:
    path: str
    line: int
    hashes: frozenset[int]


@dataclass(frozen=True, slots=True)
class Match:
    """A template of which a group's prompts are made."""

    template: Template
    share: float


def find_templates(paths: Sequence[Path], config: Config, key: bytes) -> tuple[Template, ...]:
    """All prompts below the paths whose literal text is long enough; unreadable files are the linter's to tell."""
    found = find_files(paths, config)
    session = Session(project_modules(found.targets, config), replace(config, cache=False))
    return on_deep_stack(lambda: tuple(_templates(found.targets, session, key)))


def match_group(sketch: Iterable[int], templates: Iterable[Template]) -> list[Match]:
    """The templates of a group by its sketch, the surest first; of equal shares the longer template."""
    seen = frozenset(sketch)
    known_to = max(seen) if len(seen) >= SKETCH_SIZE else None
    matches = []
    for template in templates:
        share = contained_share(template.hashes, seen)
        inside = sum(value in seen for value in template.hashes if known_to is None or value <= known_to)
        if share is not None and share >= MIN_SHARE and inside >= MIN_SEEN:
            matches.append(Match(template, share))
    matches.sort(
        key=lambda match: (-match.share, -len(match.template.hashes), match.template.path, match.template.line)
    )
    return matches


def _templates(targets: Sequence[Target], session: Session, key: bytes) -> Iterable[Template]:
    for target in targets:
        unit = _unit(target, session)
        if unit is None:
            continue
        prompts = [*unit.prompts, *(call.prompt for call in unit.calls if call.prompt is not None)]
        for prompt in prompts:
            template = _template(prompt, key)
            if template is not None:
                yield template


def _unit(target: Target, session: Session) -> SourceUnit | None:
    source = read_source(target.path, target.shown, MOST_BYTES)
    if isinstance(source, Problem) or (target.kind is Kind.PYTHON and not gate.may_hold_prompt(source.text)):
        return None
    try:
        return read_unit(source, target.kind, session, explicit=target.explicit)
    except Exception:
        # One file that a reader cannot take must not cost the report; `promptlint check` tells of it as KV901.
        return None


def _template(prompt: Prompt, key: bytes) -> Template | None:
    if prompt.place is None:
        return None
    hashes = shingle_hashes(_literal_text(prompt), key)
    return Template(prompt.place.path, prompt.place.line, hashes) if len(hashes) >= MIN_SHINGLES else None


def _literal_text(prompt: Prompt) -> str:
    """The literal pieces; a hole keeps its neighbours apart, as the value that fills it does on the wire."""
    pieces: list[str] = []
    for segment in prompt.segments:
        if segment.text is None:
            pieces.append(GAP)
        else:
            pieces.append(segment.text)
    return "".join(pieces)
