"""Reads Python source as the linter does, and spells the segments found in one line each."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from promptlint_core.prompt import Prompt
from promptlint_linter.project import Project
from promptlint_linter.sources import python
from promptlint_linter.sources.unit import SourceFile, SourceUnit

RULES = (
    "You are the assistant of a shop. Answer in two sentences. Never promise a refund. Do not invent prices. "
    "Always name the rule that you used. For example: rule four, returns."
)


def read(text: str, path: str = "app.py") -> SourceUnit:
    """One module by itself; `RULES` stands for a long constant instruction."""
    project = Project([Path(path)])
    unit = python.read(SourceFile(path, source(text)), project)
    assert project.machine.failures == []
    return unit


def read_tree(tmp_path: Path, path: str, **modules: str) -> SourceUnit:
    """One module of several that import from each other."""
    files = []
    for name, text in modules.items():
        file = tmp_path / (name.replace("__", "/") + ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source(text), encoding="utf-8")
        files.append(file)
    project = Project(files)
    target = tmp_path / path
    unit = python.read(SourceFile(str(target), target.read_text(encoding="utf-8")), project)
    assert project.machine.failures == []
    return unit


def source(text: str) -> str:
    return dedent(text).replace("<RULES>", RULES)


def spelled(prompt: Prompt) -> list[str]:
    """`literal`, or `origin/cadence` of each segment."""
    return [
        "literal" if segment.text is not None else f"{segment.origin}/{segment.cadence}" for segment in prompt.segments
    ]


def changing(unit: SourceUnit) -> list[str]:
    """`origin/cadence` of all segments that are known to change, each once."""
    found = {
        f"{segment.origin}/{segment.cadence}": None
        for prompt in unit.prompts
        for segment in prompt.segments
        if segment.text is None and segment.cadence is not None
    }
    return list(found)
