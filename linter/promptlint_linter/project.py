"""The linted tree as a whole: loads the other modules that a file imports from, when something in them is wanted."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from promptlint_linter.decode import read_source
from promptlint_linter.definitions import Definitions
from promptlint_linter.evaluate.machine import Machine
from promptlint_linter.evaluate.modules import Module
from promptlint_linter.evaluate.outline import Imported, Outline, read_outline
from promptlint_linter.sources.unit import Problem, SourceFile

_MOST_BYTES = 2_000_000
"""A larger module is linted when it is asked for, but never loaded because another file imports from it."""
_MOST_PROMPT_FILE_BYTES = 200_000
_UNPARSABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class Project:
    """Finds modules among the files to be linted by the end of their path, so that no import path has to be set."""

    def __init__(self, root_files: Sequence[Path]) -> None:
        self._by_ending: dict[str, list[str]] | None = None
        self._files = [str(path) for path in root_files]
        self._modules: dict[str, Module | None] = {}

    @cached_property
    def definitions(self) -> Definitions:
        """Where methods and subclasses are, by name."""
        return Definitions([os.path.abspath(file) for file in self._files])  # noqa: PTH100

    @cached_property
    def machine(self) -> Machine:
        """The evaluator, which keeps what does not depend on who asks."""
        return Machine(self)

    def load(self, source: SourceFile) -> Module:
        """The module of a decoded file. Raises what `read_outline` raises."""
        path = os.path.abspath(source.path)  # noqa: PTH100 - a pure function of strings, ten times faster
        known = self._modules.get(path)
        if known is not None and known.text == source.text:
            return known
        module = Module(self, path, source.path, source.text, read_outline(source.text, Path(path).stem))
        self._modules[path] = module
        return module

    def find(self, imported: Imported, importer: Module) -> Module | None:
        """The module of the project that an import statement names, if it is one."""
        folder = os.path.dirname(importer.path)  # noqa: PTH120
        if imported.level:
            for _ in range(imported.level - 1):
                folder = os.path.dirname(folder)  # noqa: PTH120
            base = os.path.join(folder, *imported.module.split(".")) if imported.module else folder  # noqa: PTH118
            return self._load_first((base + ".py", os.path.join(base, "__init__.py")))  # noqa: PTH118
        if not imported.module:
            return None
        ending = imported.module.replace(".", "/")
        found = [*self._ending_with(ending + ".py"), *self._ending_with(ending + "/__init__.py")]
        if "/" not in ending:
            found = [path for path in found if self._is_top(path, ending, importer)]
        if not found:
            return None
        nearest = max(found, key=lambda path: len(os.path.commonpath([path, importer.path])))
        return self._load_first((nearest,))

    def submodule(self, module: Module, name: str) -> Module | None:
        """A module of a package."""
        if not module.path.endswith("__init__.py"):
            return None
        return self.find(Imported(name, None, 1), module)

    def at(self, path: str, asker: Module) -> Module | None:
        """The module in a file of the project, for another that its definitions are wanted in."""
        del asker
        return self._load_first((path,))

    def read_text(self, path: str, importer: Module) -> str | None:
        """The text of a small file that the source names by a literal path, relative to its folder or one above."""
        folder = Path(importer.path).parent
        for base in (folder, *list(folder.parents)[:4]):
            file = base / path
            try:
                if file.is_file() and file.stat().st_size <= _MOST_PROMPT_FILE_BYTES:
                    return file.read_text(encoding="utf-8")
            except (OSError, ValueError):
                return None
        return None

    def _ending_with(self, ending: str) -> list[str]:
        if self._by_ending is None:
            self._by_ending = {}
            for file in self._files:
                path = os.path.abspath(file)  # noqa: PTH100
                self._by_ending.setdefault(_last_two(path), []).append(path)
                self._by_ending.setdefault(path.rsplit("/", 1)[-1], []).append(path)
        candidates = self._by_ending.get(_last_two(ending), [])
        return [path for path in candidates if path.endswith("/" + ending)]

    def _is_top(self, path: str, name: str, importer: Module) -> bool:
        """A plain name is only taken for a file of the project that lies beside or above its importer: any other
        `openai.py` or `types.py` would stand in for a library."""
        if name in sys.stdlib_module_names:
            return False
        folder = path.removesuffix("/__init__.py").removesuffix(".py").rsplit("/", 1)[0]
        return importer.path.startswith(folder + "/")

    def _load_first(self, paths: Sequence[str]) -> Module | None:
        for path in paths:
            if path in self._modules:
                if self._modules[path] is not None:
                    return self._modules[path]
                continue
            self._modules[path] = None
            source = read_source(Path(path), _shown(path), _MOST_BYTES)
            if isinstance(source, Problem):
                continue
            try:
                outline = read_outline(source.text, Path(path).stem)
            except _UNPARSABLE:
                outline = Outline()
            self._modules[path] = Module(self, path, source.path, source.text, outline)
            return self._modules[path]
        return None


def _last_two(path: str) -> str:
    """The name of a file with its folder's, where it has one: `__init__.py` alone would be half of a project."""
    return "/".join(path.rsplit("/", 2)[-2:])


def _shown(path: str) -> str:
    """As the command shows it: relative to the working directory where possible."""
    relative = os.path.relpath(path)
    return (path if relative.startswith("..") else relative).replace(os.sep, "/")
