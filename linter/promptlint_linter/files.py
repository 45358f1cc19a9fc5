"""Finds the files to lint: git-aware, respects excludes, never follows a link out of the tree or round in circles."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from promptlint_core.errors import PromptlintError
from promptlint_core.prompt import Place
from promptlint_linter.config import Config
from promptlint_linter.ignores import GitIgnores, Patterns
from promptlint_linter.sources.kinds import Kind, is_serving_name, kind_of, suffixes_wanted
from promptlint_linter.sources.unit import Problem


@dataclass(frozen=True, slots=True)
class Target:
    """A file to lint."""

    path: Path
    shown: str
    """As the user reads it: relative to the working directory where possible, with forward slashes."""
    relative: str
    """Relative to the configuration's root: what patterns are matched against."""
    kind: Kind
    explicit: bool = False
    """Named by the user, not found in a folder."""


@dataclass(frozen=True, slots=True)
class Found:
    targets: tuple[Target, ...]
    problems: tuple[Problem, ...] = ()


def find_files(paths: Sequence[Path], config: Config, *, force_exclude: bool = False) -> Found:
    """All files to lint below the paths, each once, sorted.

    Raises PromptlintError for a path that does not exist.
    """
    finder = _Finder(config)
    for path in paths:
        finder.add(path, force_exclude=force_exclude)
    targets = tuple(finder.targets[key] for key in sorted(finder.targets))
    return Found(targets, tuple(finder.problems))


def shown_path(path: Path) -> str:
    """The path for people: relative to the working directory where possible, with forward slashes."""
    here = Path.cwd()
    text = (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()
    return os.fsencode(text).decode("utf-8", "backslashreplace")


class _Finder:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.targets: dict[str, Target] = {}
        self.problems: list[Problem] = []
        self.excluded = Patterns((*config.exclude, *config.extend_exclude))
        self.prompts = Patterns(config.prompt_files)
        self.suffixes = suffixes_wanted()
        self.root = config.root.resolve()

    def add(self, path: Path, *, force_exclude: bool) -> None:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow the link that the user named
        try:
            is_folder = absolute.is_dir()
            absolute.stat()
        except OSError as error:
            self._stat_failed(path, absolute, error)
            return
        if is_folder:
            self._add_folder(absolute)
        elif not (force_exclude and self._is_excluded(absolute)):
            self._add_file(absolute, explicit=True)

    def _stat_failed(self, path: Path, absolute: Path, error: OSError) -> None:
        if error.errno == errno.ENOENT and not absolute.is_symlink():
            raise PromptlintError(f"{path}: no such file or directory") from error
        self._problem(absolute, error)

    def _problem(self, path: Path, error: OSError) -> None:
        reason = (
            "the symbolic link goes round in a circle" if error.errno == errno.ELOOP else error.strerror or str(error)
        )
        self.problems.append(Problem(Place(shown_path(path), 1), f"cannot read the file: {reason}"))

    def _relative(self, path: Path) -> str:
        inside = path.is_relative_to(self.root)
        return (path.relative_to(self.root) if inside else Path(path.name)).as_posix()

    def _is_excluded(self, path: Path, *, folder: bool = False) -> bool:
        relative = PurePosixPath(self._relative(path))
        folders = [parent.as_posix() for parent in relative.parents if parent.as_posix() != "."]
        return self.excluded.match(relative.as_posix(), folder=folder) or any(
            self.excluded.match(above, folder=True) for above in folders
        )

    def _add_folder(self, folder: Path) -> None:
        base = self.root if folder.is_relative_to(self.root) and not self._is_excluded(folder, folder=True) else folder
        ignores = GitIgnores.above(folder) if self.config.respect_gitignore else GitIgnores()
        if ignores.match(str(folder), folder=True):
            ignores = GitIgnores()  # the user named a folder that git ignores, so what lies in it is wanted
        for path, relative in self._walk(str(folder), f"{base.as_posix().rstrip('/')}/", ignores):
            self._add_file(Path(path), explicit=False, relative=relative)

    def _walk(self, folder: str, base: str, ignores: GitIgnores) -> Iterator[tuple[str, str]]:
        """Files below a folder with their path relative to `base`; symbolic links to folders are not followed."""
        try:
            with os.scandir(folder) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._problem(Path(folder), error)
            return
        if self.config.respect_gitignore:
            ignores = ignores.entering(folder)
        for entry in ordered:
            relative = entry.path[len(base) :].replace(os.sep, "/")
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not self._is_wanted(entry.name, relative):
                continue
            if self.excluded.match(relative, folder=is_folder) or ignores.match(entry.path, folder=is_folder):
                continue
            if is_folder:
                yield from self._walk(entry.path, base, ignores)
            elif self._is_readable_file(entry):
                yield entry.path, relative

    def _is_wanted(self, name: str, relative: str) -> bool:
        if os.path.splitext(name)[1].lower() in self.suffixes:  # noqa: PTH122
            return not name.startswith(".#")  # Emacs marks an edited file by a dangling link
        return is_serving_name(name) or self.prompts.match(relative)

    def _is_readable_file(self, entry: os.DirEntry[str]) -> bool:
        try:
            if entry.is_file():
                return True
            if entry.is_symlink():
                os.stat(entry.path)  # noqa: PTH116 - tells a circle from a link to nowhere
        except OSError as error:
            if error.errno == errno.ELOOP:
                self._problem(Path(entry.path), error)
        return False

    def _add_file(self, path: Path, *, explicit: bool, relative: str | None = None) -> None:
        key = str(path)
        if key in self.targets and not explicit:
            return
        relative = relative if relative is not None else self._relative(path)
        kind = kind_of(PurePosixPath(relative), explicit=explicit)
        if kind is None and self.prompts.match(relative):
            kind = Kind.PROMPT
        if kind is not None:
            self.targets[key] = Target(path, shown_path(path), relative, kind, explicit)
