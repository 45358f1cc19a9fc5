"""What a reader yields for one file."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from promptlint_core.practice import Practice
from promptlint_core.prompt import Call, Place, Prompt


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to be linted, decoded."""

    path: str
    """As the user will read it: relative to the working directory where possible, with forward slashes."""
    text: str


@dataclass(frozen=True, slots=True)
class Problem:
    """What kept a reader from reading a file or a part of it: becomes a KV901 finding."""

    place: Place
    message: str


def no_python(path: str, error: SyntaxError) -> Problem:
    """What the parser of the running Python says; newer syntax reads as an error too."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    place = Place(path, error.lineno or 1, max(error.offset or 1, 1))
    return Problem(place, f"cannot be parsed as Python {version}: {error.msg}")


@dataclass(frozen=True, slots=True)
class SourceUnit:
    """All that the rules need to know of one file."""

    path: str
    prompts: tuple[Prompt, ...] = ()
    calls: tuple[Call, ...] = ()
    problems: tuple[Problem, ...] = ()
    practices: tuple[Practice, ...] = ()
