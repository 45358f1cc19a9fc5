"""Patterns as git reads them: the configuration's excludes and the .gitignore files on the way to a file."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from pathlib import Path

from pathspec import GitIgnoreSpec

from promptlint_core.errors import PromptlintError
from promptlint_linter.reachable import exists, is_file


class Patterns:
    """A list of patterns relative to one folder."""

    def __init__(self, patterns: Iterable[str]) -> None:
        lines = [pattern.strip() for pattern in patterns]
        spec = _compiled(lines)
        if spec is None:
            wrong = next(line for line in lines if _compiled([line]) is None)
            raise PromptlintError(f"not a pattern: {wrong!r}")
        self._spec = spec
        self._names = frozenset(line for line in lines if line and not set(line) & set("*?[]!/\\#"))

    def match(self, relative: str, *, folder: bool = False) -> bool:
        """Does a pattern match this path (forward slashes, relative to the patterns' folder)?"""
        if relative.rpartition("/")[2] in self._names:
            return True
        return self._spec.match_file(relative + "/" if folder else relative)

    def decide(self, relative: str, *, folder: bool = False) -> bool | None:
        """True: ignored; False: taken back by a `!` pattern; None: no pattern speaks of it."""
        return self._spec.check_file(relative + "/" if folder else relative).include


def _compiled(lines: list[str]) -> GitIgnoreSpec | None:
    """None when a line is no pattern."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of `re`, for what `[[:alpha:]]` may mean one day
        try:
            return GitIgnoreSpec.from_lines(lines)
        except (ValueError, re.error):
            return None


class GitIgnores:
    """The .gitignore files between the top of a repository and a folder, inner ones first."""

    def __init__(self, levels: tuple[tuple[str, Patterns], ...] = ()) -> None:
        self._levels = levels

    @classmethod
    def above(cls, folder: Path) -> GitIgnores:
        """What the repository that holds `folder` says above it; nothing outside of a repository."""
        top = next((parent for parent in (folder, *folder.parents) if exists(parent / ".git")), None)
        ignores = cls()
        if top is None:
            return ignores
        exclude = top / ".git" / "info" / "exclude"
        if is_file(exclude):
            ignores = ignores.plus(str(top), exclude)
        between = [parent for parent in folder.parents if parent.is_relative_to(top)]
        for parent in reversed(between):
            ignores = ignores.entering(str(parent))
        return ignores

    def entering(self, folder: str) -> GitIgnores:
        """These and the .gitignore of `folder` itself."""
        path = Path(folder, ".gitignore")
        return self.plus(folder, path) if is_file(path) else self

    def plus(self, folder: str, path: Path) -> GitIgnores:
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError:
            return self  # git itself passes over what it cannot read
        try:
            patterns = Patterns(lines)
        except PromptlintError:
            patterns = Patterns(line for line in lines if _compiled([line.strip()]))
        return GitIgnores(((folder.rstrip("/") + "/", patterns), *self._levels))

    def match(self, path: str, *, folder: bool = False) -> bool:
        """Is this absolute path ignored?"""
        for base, patterns in self._levels:
            said = patterns.decide(path[len(base) :], folder=folder)
            if said is not None:
                return said
        return False
