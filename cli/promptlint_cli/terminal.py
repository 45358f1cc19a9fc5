"""What the terminal can do, and writing to it or to a file."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import click

from promptlint_core.errors import PromptlintError

PROGRESS_AFTER_S = 1.0
"""A shorter run shows no progress bar."""


def wants_colour() -> bool:
    """Colours for a terminal, unless NO_COLOR is set (no-color.org); FORCE_COLOR asks for them anywhere."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def write(text: str, output_file: Path | None = None) -> None:
    """Write text to a file, or to standard output, in UTF-8 whatever the locale says.

    Raises PromptlintError when the file cannot be written.
    """
    if output_file is not None:
        try:
            output_file.parent.mkdir(parents=True, exist_ok=True)
            output_file.write_text(click.unstyle(text) + "\n", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise PromptlintError(f"cannot write {output_file}: {error.strerror}") from error
        return
    colour = wants_colour()
    data = (text if colour else click.unstyle(text)).encode("utf-8", "backslashreplace")
    click.echo(data, color=colour)


def tell(sentences: Iterable[str]) -> None:
    """Say on standard error what does not end the run."""
    for sentence in sentences:
        click.echo(f"promptlint: {sentence}", err=True)


class Progress:
    """A bar on standard error for runs that take long, where a person watches."""

    def __init__(self, label: str, *, clock: Any = time.monotonic) -> None:
        self._label, self._clock = label, clock
        self._started_s: float = clock()
        self._bar: Any = None
        self._shown = 0
        self._watched = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        if not self._watched or total == 0:
            return
        if self._bar is None:
            if self._clock() - self._started_s < PROGRESS_AFTER_S:
                return
            self._bar = click.progressbar(length=total, label=self._label, file=sys.stderr, width=30)
            self._bar.__enter__()
        self._bar.update(done - self._shown)
        self._shown = done

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.__exit__(kind, error, trace)
