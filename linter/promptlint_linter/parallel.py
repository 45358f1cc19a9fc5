"""Lints many files: in this process, or in several; the results are in the order of the files either way."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from promptlint_linter.config import Config
from promptlint_linter.file_result import FileResult
from promptlint_linter.files import Target
from promptlint_linter.lint_file import lint_file, lint_source
from promptlint_linter.session import Session
from promptlint_linter.sources.unit import SourceFile
from promptlint_linter.uncollected import uncollected

T = TypeVar("T")
Progress = Callable[[int, int], None]

LEAST_FILES_FOR_A_PROCESS = 40
"""Below it, starting a process costs more than it saves."""
STACK_BYTES = 512 * 1024 * 1024
"""Deeply nested source is parsed by recursion; the system hands out the memory only when it is touched."""
RECURSION_LIMIT = 10_000


def lint_all(
    targets: Sequence[Target], roots: Sequence[Path], config: Config, progress: Progress | None = None
) -> list[FileResult]:
    """The result of each file, in the order of `targets`; `roots` are the Python files of the project."""
    wanted = config.jobs or os.cpu_count() or 1
    processes = max(min(wanted, len(targets) // LEAST_FILES_FOR_A_PROCESS), 1)
    if processes == 1:
        return on_deep_stack(lambda: lint_here(targets, Session(roots, config), progress))
    from promptlint_linter.pool import Pool  # the machinery of processes takes a while to import

    return Pool(roots, config, processes).lint(targets, progress)


def lint_one(source: SourceFile, target: Target, roots: Sequence[Path], config: Config) -> FileResult:
    """The result of text that need not be on disk, read as `target`."""
    return on_deep_stack(lambda: lint_source(source, target, Session(roots, config)))


def on_deep_stack(work: Callable[[], T]) -> T:
    """Run `work` in a thread whose stack is deep enough for any source; raises what it raises."""
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:
            failed.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(STACK_BYTES)
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        thread = threading.Thread(target=run, name="promptlint", daemon=True)
        with uncollected():
            thread.start()
            thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if failed:
        raise failed[0]
    return done[0]


def lint_here(targets: Sequence[Target], session: Session, progress: Progress | None = None) -> list[FileResult]:
    """The result of each file, in this process."""
    results = []
    for number, target in enumerate(targets, 1):
        results.append(lint_file(target, session))
        if progress:
            progress(number, len(targets))
    return results
