"""Picks the reader of a file. Readers are imported when the first file of their kind comes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptlint_core.prompt import Call
from promptlint_linter.sources.kinds import Kind
from promptlint_linter.sources.unit import SourceFile, SourceUnit

if TYPE_CHECKING:
    from promptlint_linter.session import Session


def read_unit(source: SourceFile, kind: Kind, session: Session, *, explicit: bool = False) -> SourceUnit:
    """Prompts and calls of one decoded file; engines that do not name their GPU run on the configured one."""
    unit = _read(source, kind, session, explicit=explicit)
    if session.gpu is None or not any(call.kind == "serving" for call in unit.calls):
        return unit
    return replace(unit, calls=tuple(_on_gpu(call, session.gpu) for call in unit.calls))


def _on_gpu(call: Call, gpu: str) -> Call:
    named = any(name == "gpu" for name, _, _ in call.switches)
    if call.kind != "serving" or named:
        return call
    return replace(call, switches=(*call.switches, ("gpu", gpu, call.place)))


def _read(source: SourceFile, kind: Kind, session: Session, *, explicit: bool = False) -> SourceUnit:
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
