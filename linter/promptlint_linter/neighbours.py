"""The modules that files named one by one may import from: those of their project, or of their package and folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from promptlint_linter.config import PROJECT_FILES, Config
from promptlint_linter.files import Target, find_files
from promptlint_linter.reachable import exists, is_file
from promptlint_linter.sources.kinds import Kind

SIGNS = (*PROJECT_FILES, ".git", "setup.py", "setup.cfg")
"""A folder that holds one of these is the top of a project."""


def project_modules(targets: Sequence[Target], config: Config) -> tuple[Path, ...]:
    """The Python files of a run's project, sorted; more than the targets when files were named one by one."""
    modules = {target.path for target in targets if target.kind is Kind.PYTHON}
    named = [target.path for target in targets if target.explicit and target.kind in (Kind.PYTHON, Kind.NOTEBOOK)]
    if not named:
        return tuple(sorted(modules))
    if any(exists(config.root / sign) for sign in SIGNS):
        found = find_files([config.root], config).targets
        modules.update(target.path for target in found if target.kind is Kind.PYTHON)
    for folder in {path.parent for path in named}:
        modules.update(_package_modules(folder))
    return tuple(sorted(modules))


def _package_modules(folder: Path) -> Iterator[Path]:
    """The files of a folder and, where it is part of a package, of the whole package."""
    top = folder
    while is_file(top / "__init__.py") and top.parent != top:
        top = top.parent
    yield from _python_files(folder.glob("*.py"))
    yield from _python_files(folder.glob("*/*.py"))
    if top != folder:
        package = top / folder.relative_to(top).parts[0]
        yield from _python_files(package.rglob("*.py"))


def _python_files(paths: Iterable[Path]) -> Iterator[Path]:
    return (path for path in paths if is_file(path))
