"""Notebooks: the code cells read as one Python source, places told as lines of the notebook file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from promptlint_core.prompt import Place
from promptlint_linter.sources.unit import Problem, SourceFile, SourceUnit

if TYPE_CHECKING:
    from promptlint_linter.project import Project

T = TypeVar("T")
MAGIC = re.compile(r"^\s*(?:[%!?]|[\w.]+\?{1,2}\s*$)|^\s*[\w, ]+=\s*[%!]")
PYTHON_CELL_MAGICS = frozenset(("%%time", "%%timeit", "%%capture", "%%prun", "%%memit"))


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of code and where it stands in the notebook file."""

    code: str
    file_line: int
    file_column: int


def read(source: SourceFile, project: Project) -> SourceUnit:
    """The prompts and calls of a notebook's Python cells."""
    try:
        notebook = json.loads(source.text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        return SourceUnit(source.path, problems=(Problem(Place(source.path, line), f"not a notebook: {error}"),))
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        return SourceUnit(source.path, problems=(Problem(Place(source.path, 1), "not a notebook: it has no cells"),))
    if not _is_python(notebook):
        return SourceUnit(source.path)
    lines = _code_lines(notebook["cells"], source.text)
    code = "\n".join(line.code for line in lines) + "\n"

    from promptlint_linter import gate
    from promptlint_linter.sources import python

    if not gate.may_hold_prompt(code):
        return SourceUnit(source.path)
    unit = python.read(SourceFile(source.path, code), project)
    return map_places(unit, lambda place: _in_notebook(place, source.path, lines))


def _is_python(notebook: dict[str, Any]) -> bool:
    metadata = notebook.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    language = info.get("name", "python") if isinstance(info, dict) else "python"
    return str(language).lower() in ("python", "ipython", "python3")


def _code_lines(cells: list[Any], text: str) -> list[_Line]:
    lines: list[_Line] = []
    at = 0
    for cell in cells:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        told = cell.get("source", "")
        pieces = [piece for piece in told if isinstance(piece, str)] if isinstance(told, list) else [str(told)]
        code: list[_Line] = []
        for piece in pieces:
            found, at = _find_string(text, piece, at)
            file_line = text.count("\n", 0, found) + 1
            column = found - (text.rfind("\n", 0, found) + 1) + 2  # behind the quotation mark
            code += [_Line(part, file_line, column) for part in piece.removesuffix("\n").split("\n")]
        lines += _without_magic(_without_indent(code))
    return lines


def _find_string(text: str, piece: str, at: int) -> tuple[int, int]:
    """Where a JSON string stands at or behind `at`, and where it ends; `at` itself when it is not found."""
    for ascii_only in (False, True):
        written = json.dumps(piece, ensure_ascii=ascii_only)
        found = text.find(written, at)
        if found >= 0:
            return found, found + len(written)
    return at, at


def _without_indent(code: list[_Line]) -> list[_Line]:
    """The cell as notebooks run it: the indentation of its first line is taken from all that have it."""
    first = next((line.code for line in code if line.code.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    return [
        replace(line, code=line.code[len(indent) :], file_column=line.file_column + len(json.dumps(indent)) - 2)
        if indent and line.code.startswith(indent)
        else line
        for line in code
    ]


def _without_magic(code: list[_Line]) -> list[_Line]:
    """Cells in other languages are left out, magic lines are replaced by nothing; the lines stay where they are."""
    first = next((line.code.split()[0] for line in code if line.code.strip()), "")
    if first.startswith("%%") and first not in PYTHON_CELL_MAGICS:
        return [replace(line, code="") for line in code]
    kept = []
    for line in code:
        indent = line.code[: len(line.code) - len(line.code.lstrip())]
        kept.append(replace(line, code=f"{indent}pass") if MAGIC.match(line.code) else line)
    return kept


def _in_notebook(place: Place, path: str, lines: list[_Line]) -> Place:
    if place.path != path or not lines:
        return place
    first = lines[min(max(place.line, 1), len(lines)) - 1]
    last = lines[min(max(place.end_line, place.line, 1), len(lines)) - 1]
    return Place(
        path,
        first.file_line,
        _column(first, place.column),
        last.file_line if place.end_line else 0,
        _column(last, place.end_column) if place.end_column else 0,
    )


def _column(line: _Line, column: int) -> int:
    """The column in the file: characters that JSON escapes take more room."""
    return line.file_column + len(json.dumps(line.code[: column - 1], ensure_ascii=False)) - 2


def map_places(value: T, move: Callable[[Place], Place]) -> T:
    """The same frozen data with every `Place` in it moved."""
    if isinstance(value, Place):
        return cast("T", move(value))
    if isinstance(value, tuple):
        return cast("T", tuple(map_places(item, move) for item in value))
    if is_dataclass(value) and not isinstance(value, type):
        changed = {field.name: map_places(getattr(value, field.name), move) for field in fields(value)}
        return cast("T", replace(value, **changed))
    return value
