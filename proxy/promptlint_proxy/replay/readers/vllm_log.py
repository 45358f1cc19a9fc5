r"""vLLM's request log (`--enable-log-requests`, with `--enable-log-outputs` its answers too).

Lines that are read, each behind a level and a time such as `INFO 09-09 08:00:00 [logger.py:43]`:

    Received request cmpl-1: prompt: '…', params: SamplingParams(n=1, …), prompt_token_ids: […], …
    Request cmpl-2 details: prompt: '…', prompt_token_ids: […], …             (newer releases, level DEBUG)
    Received request cmpl-2: params: SamplingParams(n=1, …), …
    Generated response cmpl-1: output: '…', output_token_ids: […], finish_reason: stop
    Generated response cmpl-2 (streaming delta): output: '…', …
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from promptlint_proxy.replay.readers.json_records import Object, as_json
from promptlint_proxy.replay.recorded import RecordedExchange, Unreadable

HOST = "vllm:8000"
"""The log names no host; this one tells the engine."""

_STAMP = re.compile(r"\b(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)\b")
_RECEIVED = re.compile(r"Received request (?P<id>\S+?): ")
_DETAILS = re.compile(r"Request (?P<id>\S+) details: ")
_GENERATED = re.compile(r"Generated response (?P<id>[^\s:]+)(?P<delta> \(streaming \w+\))?: output: ")
_PROMPT = re.compile(r"prompt: (?P<rest>None|['\"].*)", re.DOTALL)
_IDS = re.compile(r"prompt_token_ids: (\[[\d, ]*\])")
_PARAMETER = re.compile(r"\b(n|max_tokens)=(None|-?\d+)")
_FINISH = re.compile(r"finish_reason: (\w+)")
_OUTPUT_IDS = re.compile(r"output_token_ids: \[([\d, ]*)\]")


def read_vllm_log(path: Path) -> Iterator[RecordedExchange | Unreadable]:
    """The requests of a log, in its order. Prompts are told as the engine saw them: rendered by the chat template.

    Times have no year: that of the file's last change is taken, in UTC.
    """
    year = datetime.fromtimestamp(path.stat().st_mtime, UTC).year
    requests: dict[str, _Entry] = {}
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            _take(line, f"{path}:{number}", year, requests)
    if not requests:
        yield Unreadable(str(path), "no line `Received request …`: start vLLM with --enable-log-requests")
    for entry in requests.values():
        if entry.body.get("prompt") is None:
            yield Unreadable(entry.place, "the prompt is not in the log: newer releases tell it at level DEBUG only")
        else:
            yield entry.recorded()


class _Entry:
    def __init__(self, place: str, at: float) -> None:
        self.place = place
        self.at = at
        self.body: Object = {"prompt": None}
        self.output_tokens: int | None = None
        self.prompt_tokens: int | None = None
        self.ended_at: float | None = None
        self.output: str | None = None
        self.told: Object = {}

    def recorded(self) -> RecordedExchange:
        if self.output is not None:
            self.told |= {"content_chars": len(self.output), "content_tail": self.output[-400:]}
        counts = {"prompt_tokens": self.prompt_tokens, "completion_tokens": self.output_tokens}
        return RecordedExchange(
            at=self.at,
            path="/v1/completions",
            body=as_json(self.body),
            host=HOST,
            usage=counts if any(count is not None for count in counts.values()) else None,
            told=self.told or None,
            status=200 if self.told else None,
            e2e_s=None if self.ended_at is None else self.ended_at - self.at,
            place=self.place,
        )


def _take(line: str, place: str, year: int, requests: dict[str, _Entry]) -> None:
    stamp = _STAMP.search(line)
    at = _seconds(stamp, year) if stamp else float(len(requests))
    if match := _RECEIVED.search(line) or _DETAILS.search(line):
        entry = requests.setdefault(match["id"], _Entry(place, at))
        _take_prompt(line[match.end() :], entry)
    elif match := _GENERATED.search(line):
        asked = requests.get(match["id"]) or requests.get(f"{match['id']}-0")
        if asked is not None:
            _take_output(line[match.end() :], asked, at, is_delta=match["delta"] == " (streaming delta)")


def _take_output(rest: str, entry: _Entry, at: float, *, is_delta: bool) -> None:
    """An answer, or a piece of a streamed one; the line that ends a stream repeats its whole text, without ids."""
    output, end = _literal(rest)
    behind = rest[end:]
    entry.ended_at = at
    entry.output = (entry.output or "" if is_delta else "") + (output or "")
    ids = _OUTPUT_IDS.search(behind)
    if ids and ids[1].strip():
        entry.output_tokens = len(ids[1].split(",")) + ((entry.output_tokens or 0) if is_delta else 0)
    finish = _FINISH.search(behind)
    if finish and finish[1] not in {"None", "streaming_complete"}:
        entry.told["finish_reason"] = finish[1]


def _take_prompt(rest: str, entry: _Entry) -> None:
    end = 0
    found = _PROMPT.match(rest)
    if found:
        text, length = _literal(found["rest"])
        end = found.start("rest") + length
        if text:
            entry.body["prompt"] = text
    behind = rest[end:]  # what the prompt itself says of tokens is not read
    ids = _IDS.search(behind)
    if ids:
        listed = ast.literal_eval(ids[1])
        if listed:
            entry.prompt_tokens = len(listed)
            if entry.body["prompt"] is None:
                entry.body["prompt"] = listed
    for name, value in _PARAMETER.findall(behind):
        entry.body[name] = None if value == "None" else int(value)


def _literal(text: str) -> tuple[str | None, int]:
    """The Python string literal at the beginning of a text and where it ends; (None, 0) where there is none."""
    quote = text[:1]
    if quote not in {"'", '"'}:
        return None, 0
    at = 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        if text[at] == quote:
            value: Any = ast.literal_eval(text[: at + 1])
            return value, at + 1
        at += 1
    return None, 0


def _seconds(stamp: re.Match[str], year: int) -> float:
    month, day, hour, minute, second = map(int, stamp.groups())
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0
