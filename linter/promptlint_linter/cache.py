"""Results kept by content: of the file, of the modules that its evaluation looked into, and of promptlint itself."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from promptlint_core import __version__
from promptlint_linter import suppress
from promptlint_linter.file_result import FileResult
from promptlint_linter.reachable import is_folder
from promptlint_linter.reported import from_json, to_json

KEPT_ENGINES = 3
"""Results of so many states of promptlint are kept; older ones are removed when a new one comes."""


def cache_folder() -> Path:
    """The user's cache folder of this platform; PROMPTLINT_RESULTS_DIR overrides it."""
    if told := os.environ.get("PROMPTLINT_RESULTS_DIR"):
        return Path(told)
    if sys.platform == "darwin":
        base = _home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache")
    return base / "promptlint" / "results"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a container's user may have none
        return Path(tempfile.gettempdir())


@cache
def engine_key() -> str:
    """Names this state of promptlint and of Python: a change in any module of it makes all results old."""
    import promptlint_core
    import promptlint_linter
    import promptlint_rules

    told = [__version__, sys.version]
    for package in (promptlint_core, promptlint_rules, promptlint_linter):
        for folder in package.__path__:
            for path in sorted(Path(folder).rglob("*.py")):
                state = path.stat()
                told.append(f"{path} {state.st_size} {state.st_mtime_ns}")
    return _digest_of(told)[:20]


def _digest_of(told: Iterable[str]) -> str:
    """Of names of files too, which need not be UTF-8."""
    return hashlib.sha256("\0".join(told).encode("utf-8", "surrogatepass")).hexdigest()


class ResultCache:
    """A folder of results, one small file each. A result that cannot be read or written is simply computed again."""

    def __init__(self, folder: Path, roots: Iterable[Path]) -> None:
        engine = engine_key()
        self._folder = folder / engine
        if not is_folder(self._folder):
            _remove_old(folder)
        self._context = f"{Path.cwd()}\n{_digest_of(sorted(map(str, roots)))}"
        self._digests: dict[str, str | None] = {}

    def get(self, key: str) -> FileResult | None:
        """The kept result, if all that it rests on is as it was."""
        try:
            entry = json.loads(self._path(key).read_bytes())
            if any(self._digest(path) != digest for path, digest in entry["rests_on"].items()):
                return None
            return _result_from_json(entry["result"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, result: FileResult, rests_on: Iterable[str]) -> None:
        """Keep a result; `rests_on` are the other files that were looked at or looked for."""
        entry = {"rests_on": {path: self._digest(path) for path in rests_on}, "result": _result_to_json(result)}
        path = self._path(key)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(entry, file, ensure_ascii=True)
            os.replace(name, path)  # noqa: PTH105 - the same in fewer words

    def key(self, *told: str) -> str:
        """Names one file's result."""
        return _digest_of((self._context, *told))

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key[2:]

    def _digest(self, path: str) -> str | None:
        if path not in self._digests:
            try:
                self._digests[path] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
            except OSError:
                self._digests[path] = None
        return self._digests[path]


def _remove_old(folder: Path) -> None:
    import shutil

    with contextlib.suppress(OSError):
        engines = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in engines[KEPT_ENGINES - 1 :]:
            shutil.rmtree(old, ignore_errors=True)


def _result_to_json(result: FileResult) -> dict[str, Any]:
    return {
        "path": result.path,
        "findings": [to_json(finding) for finding in result.findings],
        "suppressions": [suppress.to_json(suppression) for suppression in result.suppressions],
        "prompts": result.prompts,
    }


def _result_from_json(data: dict[str, Any]) -> FileResult:
    return FileResult(
        data["path"],
        tuple(from_json(finding) for finding in data["findings"]),
        tuple(suppress.from_json(suppression) for suppression in data["suppressions"]),
        data["prompts"],
        read=True,
    )
