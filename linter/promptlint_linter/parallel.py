"""Lints many files: in this process, or in several; the results are in the order of the files either way."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from promptlint_core.prompt import Place
from promptlint_linter.config import Config
from promptlint_linter.files import Target, python_files
from promptlint_linter.lint_file import FileResult, lint_file, lint_source, unreadable
from promptlint_linter.sources.unit import Problem, SourceFile

if TYPE_CHECKING:
    from promptlint_linter.project import Project

T = TypeVar("T")
Progress = Callable[[int, int], None]

LEAST_FILES_FOR_A_PROCESS = 40
"""Below it, starting a process costs more than it saves."""
CHUNKS_PER_PROCESS = 8
STACK_BYTES = 512 * 1024 * 1024
"""Deeply nested source is parsed by recursion; the system hands out the memory only when it is touched."""
RECURSION_LIMIT = 10_000


def lint_all(targets: Sequence[Target], config: Config, progress: Progress | None = None) -> list[FileResult]:
    """The result of each file, in the order of `targets`."""
    wanted = config.jobs or os.cpu_count() or 1
    processes = max(min(wanted, len(targets) // LEAST_FILES_FOR_A_PROCESS), 1)
    roots = python_files(targets)
    if processes == 1:
        return on_deep_stack(lambda: _lint_here(targets, roots, config, progress))
    return _lint_in_processes(targets, roots, config, processes, progress)


def lint_one(source: SourceFile, target: Target, config: Config) -> FileResult:
    """The result of text that need not be on disk, read as `target`."""
    del config
    return on_deep_stack(lambda: lint_source(source, target.kind, _project((target.path,)), explicit=True))


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
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if failed:
        raise failed[0]
    return done[0]


def _lint_here(
    targets: Sequence[Target], roots: Sequence[Path], config: Config, progress: Progress | None
) -> list[FileResult]:
    project = _project(tuple(roots))
    results = []
    for number, target in enumerate(targets, 1):
        results.append(lint_file(target, project, config.max_file_bytes))
        if progress:
            progress(number, len(targets))
    return results


def _lint_in_processes(
    targets: Sequence[Target],
    roots: Sequence[Path],
    config: Config,
    processes: int,
    progress: Progress | None,
) -> list[FileResult]:
    results: dict[str, FileResult] = {}
    with ProcessPoolExecutor(processes, _context()) as pool:
        chunks = list(_chunks(targets, processes * CHUNKS_PER_PROCESS))
        waiting: dict[Future[list[FileResult]], Sequence[Target]] = {
            pool.submit(_lint_chunk, chunk, tuple(roots), config.max_file_bytes): chunk for chunk in chunks
        }
        lost: list[Target] = []
        for future in as_completed(waiting):
            chunk = waiting[future]
            try:
                results.update(zip((str(target.path) for target in chunk), future.result(), strict=True))
            except BrokenProcessPool:
                lost += chunk
            if progress:
                progress(len(results), len(targets))
    for target in lost:
        results[str(target.path)] = _lint_alone(target, roots, config.max_file_bytes)
    return [results[str(target.path)] for target in targets]


def _lint_alone(target: Target, roots: Sequence[Path], max_file_bytes: int) -> FileResult:
    """Lint a file of a chunk whose process died, in a process of its own: the culprit is told, the others are read."""
    with ProcessPoolExecutor(1, _context()) as pool:
        try:
            return pool.submit(_lint_chunk, (target,), tuple(roots), max_file_bytes).result()[0]
        except BrokenProcessPool:
            message = "the reader's process died on this file; please report it"
            return FileResult(target.shown, (unreadable(Problem(Place(target.shown, 1), message)),))


def _chunks(targets: Sequence[Target], count: int) -> Iterator[Sequence[Target]]:
    """Runs of neighbours, so that a process meets the modules that its files share."""
    size = max(-(-len(targets) // count), 1)
    return (targets[start : start + size] for start in range(0, len(targets), size))


@cache
def _project(roots: tuple[Path, ...]) -> Project:
    from promptlint_linter.project import Project  # brings libcst

    return Project(roots)


def _lint_chunk(chunk: Sequence[Target], roots: tuple[Path, ...], max_file_bytes: int) -> list[FileResult]:
    project = _project(roots)
    return on_deep_stack(lambda: [lint_file(target, project, max_file_bytes) for target in chunk])


def _context() -> multiprocessing.context.BaseContext:
    """Forking is quick and safe here, where no other thread runs yet; elsewhere it is not offered or not safe."""
    can_fork = sys.platform.startswith("linux") and threading.active_count() == 1
    return multiprocessing.get_context("fork" if can_fork else "spawn")
