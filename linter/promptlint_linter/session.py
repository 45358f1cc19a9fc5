"""What the files of one run share in one process: the project, loaded when the first file asks, and kept results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from promptlint_linter.cache import ResultCache, cache_folder
from promptlint_linter.config import Config
from promptlint_linter.file_result import FileResult
from promptlint_linter.files import Target
from promptlint_linter.sources.unit import SourceFile

if TYPE_CHECKING:
    from promptlint_linter.dependencies import WatchedProject


class Session:
    """One run over the modules `roots` in one process."""

    def __init__(self, roots: Sequence[Path], config: Config) -> None:
        self.roots = roots
        self.max_file_bytes = config.max_file_bytes
        self.gpu = config.gpu
        self._cache = ResultCache(cache_folder(), roots) if config.cache else None

    @cached_property
    def project(self) -> WatchedProject:
        from promptlint_linter.dependencies import WatchedProject  # brings the evaluator

        return WatchedProject(self.roots)

    def kept(self, source: SourceFile, target: Target) -> FileResult | None:
        """What was found in the same content before."""
        return self._cache.get(self._key(source, target)) if self._cache else None

    def keep(self, source: SourceFile, target: Target, result: FileResult) -> None:
        """Keep a result for the next run."""
        if self._cache:
            path = os.path.abspath(target.path)  # noqa: PTH100 - as the project names its modules
            asked = self.project.dependencies(path) if "project" in self.__dict__ else []
            self._cache.put(self._key(source, target), result, asked)

    def _key(self, source: SourceFile, target: Target) -> str:
        assert self._cache is not None
        return self._cache.key(source.path, target.kind, str(target.explicit), self.gpu or "", source.text)
