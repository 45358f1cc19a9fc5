"""Prompt files: text and Markdown with placeholders, and strings in YAML, TOML and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.names import origin_of_name
from promptlint_core.prompt import Part, Prompt, Segment
from promptlint_linter.sources import jinja
from promptlint_linter.sources.kinds import STRUCTURED
from promptlint_linter.sources.lines import Lines
from promptlint_linter.sources.prompt_text import role_of_name
from promptlint_linter.sources.unit import SourceFile, SourceUnit

NAME = r"[A-Za-z_][\w.\- ]{0,60}"
PLACEHOLDER = re.compile(
    rf"\{{\{{\{{?\s*\$?(?P<double>{NAME}?)\s*\}}?\}}\}}|(?<!\{{)\{{(?P<single>[A-Za-z_][\w.]*)(?:![rsa])?(?::[^{{}}\n]*)?\}}(?!\}})"
    rf"|<<\s*(?P<angle>{NAME}?)\s*>>|\[\[\s*(?P<square>{NAME}?)\s*\]\]|\$\{{?(?P<dollar>[A-Za-z_]\w*)\}}?"
    r"|(?<!\w)%(?P<percent>[A-Z][A-Z_]{2,})%"
)
"""`{x}`, `{{ x }}`, `{{$x}}`, `<<x>>`, `[[x]]`, `$x`, `${x}`, `%X%`."""
ESCAPED = re.compile(r"\{\{[\w.]+\}\}")
"""`{{x}}` in a text whose fields are written `{x}`: `str.format` makes a literal `{x}` of it."""
CODE_FENCE = re.compile(r"^(```|~~~)[ ]*[A-Za-z]\w*.*?^\1[ ]*$", re.MULTILINE | re.DOTALL)
"""Code in a named language: its braces and dollars are its own."""
JINJA_SIGNS = re.compile(r"\{%-?\s*[a-z]|\{\{-?[^{}]*(?:\(|\|)[^{}]*\}\}")


def read(source: SourceFile, *, explicit: bool = False) -> SourceUnit:
    """The prompts of one file."""
    suffix = PurePosixPath(source.path).suffix.lower()
    if suffix in STRUCTURED:
        from promptlint_linter.sources import structured

        return structured.read(source, explicit=explicit)
    lines = Lines(source.path, source.text)
    stem = PurePosixPath(source.path).stem
    if JINJA_SIGNS.search(source.text):
        prompts, _ = jinja.prompts_of(source.text, lines, stem)
        return SourceUnit(source.path, prompts)
    role = role_of_name(stem)
    segments = tuple(segments_of(source.text, 0, lines, role))
    return SourceUnit(source.path, (Prompt(segments, lines.place(0, 0), stem),) if segments else ())


def segments_of(text: str, offset: int, lines: Lines, role: str) -> Iterator[Segment]:
    """Literal text and placeholders, in order; `offset` is where the text starts in its file."""
    part = Part.SYSTEM if role == "system" else Part.MESSAGES
    at = 0
    formatted = any(match["single"] for match in PLACEHOLDER.finditer(text))
    code = [fence.span() for fence in CODE_FENCE.finditer(text)]
    for match in PLACEHOLDER.finditer(text):
        name = next(group for group in match.groups() if group is not None).strip()
        if not name or any(start <= match.start() < end for start, end in code):
            continue
        if formatted and match["double"] and ESCAPED.fullmatch(match[0]):
            continue
        if match.start() > at:
            yield _literal(text[at : match.start()], offset + at, lines, part, role)
        meaning = origin_of_name(name.replace(" ", "_").replace("-", "_"))
        origin, cadence = meaning or (Origin.UNKNOWN, None)
        place = lines.place(offset + match.start(), offset + match.end())
        yield Segment(None, cadence, origin, Evidence.NAMED, part, role, place, match[0])
        at = match.end()
    if text[at:]:
        yield _literal(text[at:], offset + at, lines, part, role)


def _literal(text: str, offset: int, lines: Lines, part: Part, role: str) -> Segment:
    place = lines.place(offset, offset + len(text))
    return Segment(text, Cadence.FIXED, Origin.LITERAL, Evidence.PROVED, part, role, place)
