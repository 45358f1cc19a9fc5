"""The proxy's settings: what the command line and the configuration file can say, in one place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from promptlint_core.errors import PromptlintError

CAP_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ActionSettings:
    """What the proxy may change in a request. All off: it never changes a byte then."""

    cap_output_tokens: int | None = None
    """Bound given to requests that send none."""
    refuse_unbounded: bool = False
    """Answer requests without a bound with status 400."""
    ask_usage: bool = False
    """Ask for usage in chat streams that do not say; the extra chunk is taken out of the answer."""
    sort_tools: bool = False
    """Sort tool definitions by name."""
    add_markers: bool = False
    """Set Anthropic cache markers in requests that have none."""

    @property
    def any(self) -> bool:
        return bool(
            self.cap_output_tokens or self.refuse_unbounded or self.ask_usage or self.sort_tools or self.add_markers
        )


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """Everything that a running proxy is told."""

    upstream: tuple[str, ...] = ()
    """`URL`, `/prefix=URL` or `host=URL`; empty in forward mode."""
    mode: str = "reverse"
    """`reverse` or `forward`."""
    listen: str = "127.0.0.1:8080"
    metrics_listen: str = "127.0.0.1:9464"
    """`off`: no metrics port."""
    store: Path | None = None
    """Folder of the records; None: nothing is recorded."""
    record_text: bool = False
    hash_key_file: Path | None = None
    """Key of the hashes; None: the store's own. Sidecars with stores of their own share one to be comparable."""
    environment: str | None = None
    team: str | None = None
    provider: tuple[str, ...] = ()
    """Who serves, where host and path do not tell: `vllm`, `sglang`, `llamacpp` …, or `upstream=vllm` for one of
    several upstreams, by its name."""
    block_size: int | None = None
    """Tokens per cache block of the engine behind."""
    capacity_tokens: int | None = None
    """Tokens that the engine's prefix cache holds; None: no limit is assumed."""
    tokenizer: Path | None = None
    """`tokenizer.json` of the model behind."""
    chat_template: Path | None = None
    kv_model: str | None = None
    """Name of the model table, or path of a `config.json`: turns on the projection of KV memory."""
    kv_pool_bytes: int | None = None
    gpu: str | None = None
    kv_dtype: str = "auto"
    slo: tuple[str, ...] = ()
    """`ttft=200ms`, `itl=50ms`."""
    actions: ActionSettings = field(default_factory=ActionSettings)
    cap_bytes: int = CAP_BYTES
    """Bytes kept of each body for the analysis."""
    compared_chars: int = 24_000_000
    """Prompt text kept in memory to compare later requests with, in characters; takes about 8 bytes each."""
    queue_messages: int = 20_000
    queue_bytes: int = 256 * 1024 * 1024
    upstream_ca: Path | None = None
    """CA bundle that the upstreams' certificates are verified with; None: the usual ones."""
    ca_dir: Path | None = None
    """Folder of the CA of forward mode."""
    intercept: tuple[str, ...] = ()
    """Host patterns that forward mode reads; the rest passes through untouched. Empty: the known providers."""
    drain_s: float = 30.0
    otel: bool = False
    """Send spans and metrics to the collector that the usual OTEL_ variables name."""


def read_settings(path: Path, base: ProxySettings | None = None) -> ProxySettings:
    """The `[proxy]` table of a `promptlint.toml`, or `[tool.promptlint.proxy]` of a `pyproject.toml`.

    Raises PromptlintError for a file that cannot be read, unknown keys and values of the wrong type.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PromptlintError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PromptlintError(f"{path} is no TOML: {error}") from None
    if path.name == "pyproject.toml":
        document = document.get("tool", {}).get("promptlint", {})
    table = document.get("proxy", {})
    if not isinstance(table, dict):
        raise PromptlintError(f"{path}: [proxy] must be a table")
    settings = base or ProxySettings()
    actions = _with_values(path, settings.actions, _table(path, table, "actions"), "proxy.actions.")
    rest = {key: value for key, value in table.items() if key != "actions"}
    return replace(_with_values(path, settings, rest, "proxy."), actions=actions)


def _table(path: Path, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise PromptlintError(f"{path}: [proxy.{key}] must be a table")
    return value


_Settings = TypeVar("_Settings", ProxySettings, ActionSettings)


def _with_values(path: Path, settings: _Settings, values: Mapping[str, Any], where: str) -> _Settings:
    known = {entry.name: str(entry.type) for entry in fields(settings) if entry.name != "actions"}
    changed: dict[str, Any] = {}
    for key, value in values.items():
        name = key.replace("-", "_")
        if name not in known:
            raise PromptlintError(f"{path}: unknown key {where}{key}{_nearest(name, list(known))}")
        changed[name] = _converted(path, f"{where}{key}", known[name], value)
    return replace(settings, **changed)


def _nearest(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    return f" (did you mean {near[0].replace('_', '-')}?)" if near else ""


def _converted(path: Path, key: str, kind: str, value: object) -> object:
    if kind.startswith("tuple"):
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise PromptlintError(f"{path}: {key} must be a string or a list of strings")
    if kind.startswith("Path"):
        if isinstance(value, str):
            return (path.parent / value).resolve()
        raise PromptlintError(f"{path}: {key} must be a path")
    if kind.startswith("bool"):
        if isinstance(value, bool):
            return value
        raise PromptlintError(f"{path}: {key} must be true or false")
    if kind.startswith("int"):
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and key.endswith("bytes"):
            return parse_bytes(value)
        raise PromptlintError(f"{path}: {key} must be a whole number")
    if kind.startswith("float"):
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        raise PromptlintError(f"{path}: {key} must be a number")
    if isinstance(value, str):
        return value
    raise PromptlintError(f"{path}: {key} must be a string")


_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


def parse_bytes(text: str) -> int:
    """Bytes of `24GiB`, `40GB`, `512M` or a plain number; GB is 1000³, GiB and G are 1024³.

    >>> parse_bytes("24GiB"), parse_bytes("1GB"), parse_bytes("7")
    (25769803776, 1000000000, 7)
    """
    found = _BYTES.fullmatch(text.strip())
    if not found:
        raise PromptlintError(f"{text!r} is no size: write 24GiB, 40GB or a number of bytes")
    number, unit, binary = found.groups()
    decimal = unit and not binary and text.strip().lower().endswith("b")
    return int(float(number) * (1000 if decimal else 1024) ** " kmgt".index(unit.lower() or " "))


def parse_address(text: str, option: str) -> tuple[str, int]:
    """Host and port of `127.0.0.1:8080`, `[::1]:8080` or `:8080` (loopback).

    >>> parse_address(":0", "--listen")
    ('127.0.0.1', 0)
    """
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise PromptlintError(f"{option} {text!r}: give HOST:PORT, for example 127.0.0.1:8080")
    return host.strip("[]") or "127.0.0.1", int(port)
