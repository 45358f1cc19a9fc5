"""Picks the reader of a file. Readers are imported when the first file of their kind comes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptlint_linter.sources.kinds import Kind
from promptlint_linter.sources.unit import SourceFile, SourceUnit

if TYPE_CHECKING:
    from promptlint_linter.session import Session


def read_unit(source: SourceFile, kind: Kind, session: Session, *, explicit: bool = False) -> SourceUnit:
    """Prompts and calls of one decoded file."""
    if kind is Kind.PYTHON:
        from promptlint_linter.sources import python

        return python.read(source, session.project)
    if kind is Kind.NOTEBOOK:
        from promptlint_linter.sources import notebooks

        return notebooks.read(source, session.project)
    if kind is Kind.TEMPLATE:
        from promptlint_linter.sources import jinja

        return jinja.read(source, explicit=explicit)
    from promptlint_linter.sources import serving

    if kind is Kind.SERVING:
        return serving.read(source)
    from promptlint_linter.sources import prompt_files

    unit = prompt_files.read(source, explicit=explicit)
    return replace(unit, calls=(*unit.calls, *serving.calls_of(source)))
