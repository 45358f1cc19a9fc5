"""Linting in several processes; the results are in the order of the files, and a process that dies loses one file."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.context import BaseContext
from pathlib import Path

from promptlint_core.prompt import Place
from promptlint_linter.config import Config
from promptlint_linter.file_result import FileResult
from promptlint_linter.files import Target
from promptlint_linter.lint_file import unreadable
from promptlint_linter.parallel import Progress, lint_here, on_deep_stack
from promptlint_linter.session import Session
from promptlint_linter.sources.unit import Problem

CHUNKS_PER_PROCESS = 16


class Pool:
    """Processes that lint chunks of files, each with a session of its own."""

    def __init__(self, roots: Sequence[Path], config: Config, processes: int) -> None:
        self._start = (tuple(roots), config)
        self._processes = processes

    def lint(self, targets: Sequence[Target], progress: Progress | None) -> list[FileResult]:
        results: dict[Path, FileResult] = {}
        lost: list[Target] = []
        with self._executor(self._processes) as pool:
            chunks = _chunks(targets, self._processes * CHUNKS_PER_PROCESS)
            waiting: dict[Future[list[FileResult]], Sequence[Target]] = {
                pool.submit(_lint_chunk, chunk): chunk for chunk in chunks
            }
            for future in as_completed(waiting):
                chunk = waiting[future]
                try:
                    results.update(zip((target.path for target in chunk), future.result(), strict=True))
                except BrokenProcessPool:
                    lost += chunk
                if progress:
                    progress(len(results), len(targets))
        results.update((target.path, self._lint_alone(target)) for target in lost)
        return [results[target.path] for target in targets]

    def _lint_alone(self, target: Target) -> FileResult:
        """Lint a file of a chunk whose process died in a process of its own: only the culprit is lost, and told."""
        with self._executor(1) as pool:
            try:
                return pool.submit(_lint_chunk, (target,)).result()[0]
            except BrokenProcessPool:
                message = "the reader's process died on this file; please report it"
                return FileResult(target.shown, (unreadable(Problem(Place(target.shown, 1), message)),))

    def _executor(self, processes: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(processes, _context(), initializer=_start_process, initargs=self._start)


def _chunks(targets: Sequence[Target], count: int) -> Iterator[Sequence[Target]]:
    """Runs of neighbours, so that a process meets the modules that its files share."""
    size = max(-(-len(targets) // count), 1)
    return (targets[start : start + size] for start in range(0, len(targets), size))


_sessions: list[Session] = []
"""The session of a worker process."""


def _start_process(roots: tuple[Path, ...], config: Config) -> None:
    _sessions[:] = [Session(roots, config)]


def _lint_chunk(chunk: Sequence[Target]) -> list[FileResult]:
    return on_deep_stack(lambda: lint_here(chunk, _sessions[0]))


def _context() -> BaseContext:
    """Forking is quick and safe here, where no other thread runs yet; elsewhere it is not offered or not safe."""
    can_fork = sys.platform.startswith("linux") and threading.active_count() == 1
    return multiprocessing.get_context("fork" if can_fork else "spawn")
