"""Which format a recording has, and its reader: told by the user, else by the file's name and first bytes."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from promptlint_core.errors import PromptlintError
from promptlint_proxy.replay.recorded import RecordedExchange, Unreadable

Reader = Callable[[Path], Iterator[RecordedExchange | Unreadable]]
_PEEK_BYTES = 262_144


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of recording. Its module is imported when it is needed: some readers need an extra."""

    name: str
    module: str
    function: str

    def read(self, path: Path) -> Iterator[RecordedExchange | Unreadable]:
        reader: Reader = getattr(importlib.import_module(self.module), self.function)
        return reader(path)


_READERS = "promptlint_proxy.replay.readers"
FORMATS: dict[str, Format] = {
    "jsonl": Format("jsonl", f"{_READERS}.json_lines", "read_json_lines"),
    "har": Format("har", f"{_READERS}.har", "read_har"),
    "flows": Format("flows", f"{_READERS}.mitmproxy_flows", "read_flows"),
    "litellm": Format("litellm", f"{_READERS}.litellm", "read_litellm"),
    "langfuse": Format("langfuse", f"{_READERS}.langfuse", "read_langfuse"),
    "openai-batch": Format("openai-batch", f"{_READERS}.openai_batch", "read_openai_batch"),
    "vllm-log": Format("vllm-log", f"{_READERS}.vllm_log", "read_vllm_log"),
}


def read_recording(path: Path, told: str | None = None) -> Iterator[RecordedExchange | Unreadable]:
    """The exchanges of a recording; raises PromptlintError where the file cannot be opened or its format is unknown."""
    try:
        with path.open("rb") as file:
            start = file.read(_PEEK_BYTES)
    except OSError as error:
        raise PromptlintError(f"{path} cannot be read: {error.strerror or error}") from None
    if not start.strip():
        raise PromptlintError(f"{path} is empty")
    form = FORMATS[told or find_format(path, start)]
    try:
        return form.read(path)
    except ImportError as error:
        raise PromptlintError(
            f"{path}: reading {form.name} needs the module {error.name}: install promptlint-prefix[proxy]"
        ) from None


def find_format(path: Path, start: bytes) -> str:
    """The format of a file by its name and beginning; JSON lines where nothing else is recognised."""
    suffix = path.suffix.lower()
    if suffix == ".har":
        return "har"
    if suffix in (".flow", ".flows", ".mitm") or _is_tnetstring(start):
        return "flows"
    head = start.lstrip()
    entry = _first_object(head)
    if entry is not None:
        return _by_keys(entry)
    if head[:1] == b"{" and b'"log"' in head[:2000] and b'"entries"' in head:
        return "har"
    if head[:1] == b"[" or head.split(b"\n", 1)[0].strip() == b"{":  # a list, or one object written over many lines
        return _by_text(head)
    if b"Received request" in head or b"vllm" in head[:4000].lower():
        return "vllm-log"
    return "jsonl"


def _is_tnetstring(start: bytes) -> bool:
    length, colon, _rest = start[:20].partition(b":")
    return bool(colon) and length.isdigit()


def _first_object(head: bytes) -> dict[str, object] | None:
    try:
        entry = json.loads(head.split(b"\n", 1)[0])
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _by_keys(entry: dict[str, object]) -> str:
    for key in ("observations", "data"):  # a trace, or a page of an API
        records = entry.get(key)
        if isinstance(records, list) and records and isinstance(records[0], dict):
            return "langfuse" if key == "observations" else _by_keys(records[0])
    keys = set(entry)
    if "log" in keys and isinstance(entry["log"], dict) and "entries" in entry["log"]:
        return "har"
    if "request" in keys and "t" in keys:
        return "jsonl"
    if "custom_id" in keys and ("body" in keys or "response" in keys):
        return "openai-batch"
    if "litellm_call_id" in keys or {"call_type", "startTime"} <= keys or {"call_type", "messages"} <= keys:
        return "litellm"
    if ({"traceId", "type"} <= keys or {"trace_id", "type"} <= keys) and ("input" in keys or "usage" in keys):
        return "langfuse"
    return "jsonl"


def _by_text(head: bytes) -> str:
    if b'"litellm_call_id"' in head or b'"call_type"' in head:
        return "litellm"
    if b'"traceId"' in head or b'"trace_id"' in head:
        return "langfuse"
    return "jsonl"
