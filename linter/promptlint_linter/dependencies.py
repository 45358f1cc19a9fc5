"""What the evaluation of a file looked into: a project that keeps count of it, for the cache of results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from promptlint_linter.evaluate.modules import Module
from promptlint_linter.evaluate.outline import Imported
from promptlint_linter.project import Project


class WatchedProject(Project):
    """Remembers which module asked for which file. Evaluations of one module may serve many: the way is followed."""

    def __init__(self, root_files: Sequence[Path]) -> None:
        super().__init__(root_files)
        self._asked: defaultdict[str, set[str]] = defaultdict(set)

    def find(self, imported: Imported, importer: Module) -> Module | None:
        module = super().find(imported, importer)
        if module is not None:
            self._asked[importer.path].add(module.path)
        return module

    def at(self, path: str, asker: Module) -> Module | None:
        module = super().at(path, asker)
        if module is not None:
            self._asked[asker.path].add(module.path)
        return module

    def read_text(self, path: str, importer: Module) -> str | None:
        folder = Path(importer.path).parent
        self._asked[importer.path].update(str(base / path) for base in (folder, *list(folder.parents)[:4]))
        return super().read_text(path, importer)

    def dependencies(self, path: str) -> list[str]:
        """All files that the findings of this one may rest on, sorted; itself not among them."""
        seen: set[str] = set()
        waiting = [path]
        while waiting:
            for asked in self._asked.get(waiting.pop(), ()):
                if asked not in seen:
                    seen.add(asked)
                    waiting.append(asked)
        return sorted(seen - {path})
