"""The table of output formats."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from promptlint_linter.check import Outcome
from promptlint_linter.config import OUTPUT_FORMATS

MODULES = {name: {"json": "json_contract"}.get(name, name) for name in OUTPUT_FORMATS}


def renderer(output_format: str) -> Callable[[Outcome], str]:
    """The function that renders an outcome in this format, its module imported when it is asked for."""
    module = import_module(f"promptlint_linter.output.{MODULES[output_format]}")
    render: Callable[[Outcome], str] = module.render
    return render
