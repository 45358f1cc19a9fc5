"""What a terminal sees: colours, progress, watching, completion of words."""

from __future__ import annotations

import io
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from promptlint_cli.terminal import Progress, wants_colour, write
from promptlint_core.errors import PromptlintError

Run = Callable[..., Any]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


COLOURS = {
    "terminal": ({}, True, True),
    "pipe": ({}, False, False),
    "NO_COLOR": ({"NO_COLOR": "1"}, True, False),
    "empty NO_COLOR": ({"NO_COLOR": ""}, True, True),
    "FORCE_COLOR": ({"FORCE_COLOR": "1"}, False, True),
    "both": ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
    "dumb terminal": ({"TERM": "dumb"}, True, False),
}


@pytest.mark.parametrize(("names", "terminal", "colour"), COLOURS.values(), ids=COLOURS.keys())
def test_colours_are_for_terminals_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, names: dict[str, str], *, terminal: bool, colour: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal() if terminal else io.StringIO())

    assert wants_colour() == colour


def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")

    with pytest.raises(PromptlintError, match="cannot write"):
        write("x", tmp_path / "a" / "b")


def bar(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, times_s: list[float]) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    clock = iter(times_s)
    with Progress("Linting", clock=lambda: next(clock)) as progress:
        for done in (1, 2, 3):
            progress(done, 3)
    return stream.getvalue()


def test_a_long_run_shows_its_progress_to_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Linting" in bar(monkeypatch, Terminal(), [0.0, 0.1, 1.5, 1.6])


def test_a_short_run_and_a_pipe_show_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bar(monkeypatch, Terminal(), [0.0, 0.1, 0.2, 0.3]) == ""
    assert bar(monkeypatch, io.StringIO(), [0.0, 0.1, 1.5, 1.6]) == ""


def test_watching_lints_again_after_a_change(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.prompt").write_text("{now}\n" + "Be kind to every reader and never promise a reservation. " * 5)
    module = types.ModuleType("watchfiles")
    module.watch = lambda *paths: iter([{("modified", str(paths[0]))}])  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "watchfiles", module)

    ran = run(".", "--watch", "--output-format", "concise")

    assert (ran.status, ran.out.count("KV101")) == (0, 2)


def test_the_first_word_is_completed_as_a_command_or_a_path(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_PROMPTLINT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "promptlint ch")
    monkeypatch.setenv("COMP_CWORD", "1")

    assert run().out.split() == ["plain,check", "file,ch"]
