"""The configuration: its keys, where they are read from, and clear sentences for what is wrong in them."""

from __future__ import annotations

import dataclasses
import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from promptlint_core.cadence import Evidence
from promptlint_core.errors import PromptlintError
from promptlint_linter.reachable import exists, is_file, is_folder
from promptlint_rules.base import Severity

OUTPUT_FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit")

DEFAULT_EXCLUDE = (
    ".bzr", ".cache", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d",
    ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", ".vscode", "__pycache__", "__pypackages__",
    "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
)  # fmt: skip

DEFAULT_QUIET = (
    "**/test/**", "**/tests/**", "**/testing/**", "**/test_*.py", "**/*_test.py", "**/conftest.py", "**/mock/**",
    "**/mocks/**", "**/mock_*.py", "**/fixtures/**", "**/benchmark/**", "**/benchmarks/**", "**/docs/**", "**/doc/**",
    "**/cassettes/**", "**/*Tests/**", "**/*_tests/**", "**/__tests__/**", "**/[Tt]est[Dd]ata/**", "**/test[_-]data/**",
    "**/release[_-]notes/**", "**/releasenotes/**", "**/changelogs/**",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Config:
    """The effective configuration. Patterns are read as in .gitignore, relative to `root`."""

    root: Path = field(default_factory=Path.cwd)
    """Folder of the configuration file, else the working directory."""
    select: tuple[str, ...] = ("ALL",)
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    quiet_files: tuple[str, ...] = DEFAULT_QUIET
    extend_quiet_files: tuple[str, ...] = ()
    prompt_files: tuple[str, ...] = ()
    min_severity: Severity = Severity.WARNING
    min_confidence: Evidence = Evidence.NAMED
    output_format: str = "text"
    baseline: str | None = None
    jobs: int = 0
    cache: bool = True
    max_file_bytes: int = 4_000_000
    gpu: str | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    """Key to where its value came from; a key that is absent has its default."""
    notes: tuple[str, ...] = ()
    """Sentences on files that were passed over on the way."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the configuration file."""

    name: str
    kind: str
    """As told to the user: `a list of strings` …"""
    read: Callable[[Any], Any]
    """Raises ValueError or TypeError for a value of another kind."""
    meaning: str

    @property
    def field(self) -> str:
        return self.name.replace("-", "_")


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError
    return tuple(value)


def _string_lists(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise TypeError
    return {str(key): _strings(item) for key, item in value.items()}


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError
    return value


def _output_format(value: Any) -> str:
    if value not in OUTPUT_FORMATS:
        raise ValueError(value)
    return str(value)


def _gpu(value: Any) -> str:
    from promptlint_core.kv import find_gpu

    found = find_gpu(_string(value))
    if found is None:
        raise ValueError(value)
    return found.name


def _confidence(value: Any) -> Evidence:
    if value not in ("proved", "named"):
        raise ValueError(value)
    return Evidence(value)


KEYS = (
    Key("select", "a list of strings", _strings, "rules to run: ids, prefixes such as KV1, names, or ALL"),
    Key("extend-select", "a list of strings", _strings, "rules to run in addition to `select`"),
    Key("ignore", "a list of strings", _strings, "rules not to run; the longer prefix wins over `select`"),
    Key("per-file-ignores", "a table of patterns to lists of rules", _string_lists, "rules not to run on some files"),
    Key("exclude", "a list of strings", _strings, "patterns of files and folders that are not linted"),
    Key("extend-exclude", "a list of strings", _strings, "patterns in addition to `exclude`"),
    Key("respect-gitignore", "true or false", _boolean, "leave out what .gitignore files name"),
    Key("quiet-files", "a list of strings", _strings, "patterns of files whose findings are lowered to info"),
    Key("extend-quiet-files", "a list of strings", _strings, "patterns in addition to `quiet-files`"),
    Key("prompt-files", "a list of strings", _strings, "patterns of text files that are prompts whatever their name"),
    Key("min-severity", "error, warning or info", Severity, "the least severe findings that are shown"),
    Key("min-confidence", "proved or named", _confidence, "`proved` leaves out findings that rest on a name only"),
    Key("output-format", f"one of {', '.join(OUTPUT_FORMATS)}", _output_format, "format of the findings"),
    Key("baseline", "a file name", _string, "file of known findings that are not shown"),
    Key("jobs", "a number, 0 for one process per core", _count, "processes that lint in parallel"),
    Key("cache", "true or false", _boolean, "keep results by content in the user's cache folder"),
    Key("max-file-bytes", "a number of bytes", _count, "larger files are not read"),
    Key("gpu", "the name of a GPU", _gpu, "what engines run on where their own settings do not say: H100, L4 …"),
)
BY_NAME = {key.name: key for key in KEYS}
PROJECT_FILES = ("promptlint.toml", ".promptlint.toml", "pyproject.toml")


def load_config(start: Path, *, isolated: bool = False, config_file: Path | None = None) -> Config:
    """Read the nearest configuration at or above `start`.

    Raises PromptlintError for a file that is no TOML, an unknown key or a value of the wrong kind.
    """
    if config_file is not None:
        return _read_file(config_file, needed=True, notes=[]) or Config(root=config_file.resolve().parent)
    start = Path(os.path.realpath(start))  # resolve() raises for a link that goes round in a circle
    folder = start if is_folder(start) else start.parent
    if isolated:
        return Config(root=_isolated_root(folder))
    notes: list[str] = []
    config = _nearest_config(folder, notes)
    return dataclasses.replace(config, notes=tuple(notes)) if notes else config


def _nearest_config(folder: Path, notes: list[str]) -> Config:
    for parent in (folder, *folder.parents):
        for name in PROJECT_FILES:
            config = _read_file(parent / name, needed=False, notes=notes)
            if config is not None:
                return config
        if exists(parent / ".git"):
            return Config(root=parent)
    return Config(root=_isolated_root(folder))


def _isolated_root(folder: Path) -> Path:
    here = Path.cwd()
    return here if folder.is_relative_to(here) else folder


def _read_file(path: Path, *, needed: bool, notes: list[str]) -> Config | None:
    if not needed and not is_file(path):
        return None
    try:
        data = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise PromptlintError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        if not needed and path.name == "pyproject.toml" and b"promptlint" not in path.read_bytes():
            notes.append(f"{path} is no TOML: {error}; passed over, for it does not name promptlint")
            return None
        raise PromptlintError(f"{path} is no TOML: {error}") from error
    if path.name == "pyproject.toml":
        tool = data.get("tool", {})
        if not isinstance(tool, dict) or "promptlint" not in tool:
            return Config(root=path.resolve().parent) if needed else None
        return parse(tool["promptlint"], path, "tool.promptlint.")
    return parse(data, path, "")


def parse(table: Any, path: Path, prefix: str = "") -> Config:
    """Check and read one configuration table."""
    if not isinstance(table, dict):
        raise PromptlintError(f"{path}: {prefix.rstrip('.')} must be a table")
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, value in table.items():
        key = BY_NAME.get(name)
        if key is None:
            raise PromptlintError(f"{path}: unknown key {prefix}{name}{_nearest_key(name)}")
        try:
            values[key.field] = key.read(value)
        except (TypeError, ValueError) as error:
            raise PromptlintError(f"{path}: {prefix}{name} must be {key.kind}, not {value!r}") from error
        origins[key.name] = str(path)
    return Config(root=path.resolve().parent, origins=origins, **values)


def _nearest_key(name: str) -> str:
    from promptlint_linter.nearest import nearest

    found = nearest(name, BY_NAME)
    return f"; did you mean {found}?" if found else f"; the keys are {', '.join(BY_NAME)}"


def override(config: Config, **options: Any) -> Config:
    """Lay options of the command line over the configuration; None leaves a value as it is."""
    given = {name: value for name, value in options.items() if value is not None}
    names = {name.replace("_", "-"): f"--{name.replace('_', '-')}" for name in given}
    return dataclasses.replace(config, **given, origins={**config.origins, **names})


def told_values(config: Config) -> Iterator[tuple[Key, str, str]]:
    """Each key with its value as TOML and where the value came from."""
    for key in KEYS:
        value = getattr(config, key.field)
        yield key, _as_toml(value), config.origins.get(key.name, "default")


def _as_toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(k))} = {_as_toml(item)}" for k, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else json.dumps(str(value or ""), ensure_ascii=False)
