"""Readers of request traces: Mooncake, Bailian, Azure, Vidur, LLMServingSim; plain or gzip."""

from __future__ import annotations

import csv
import gzip
import json
import math
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from promptlint_core.errors import PromptlintError
from promptlint_core.prefix_caches.block_hashes import chain
from promptlint_report.simulate.workload import Job, Measured, Workload, in_arrival_order

_MOST_TOKENS = 1 << 32
_BLOCK_SIZES = (512, 256, 128, 64, 32, 16)


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a text file, unpacking gzip by its first bytes. Raises PromptlintError for what goes wrong in reading it."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rt", encoding="utf-8") if packed else path.open(encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise PromptlintError(f"{path} cannot be read: {error.strerror or error}") from error
    except (EOFError, UnicodeDecodeError, zlib.error, csv.Error) as error:
        raise PromptlintError(f"{path} cannot be read: {error}") from error


def read_trace(path: Path, *, block_size: int = 16, rate_per_s: float | None = None) -> Workload:
    """Read a trace; the kind is told from its first line.

    Args:
        path: JSON lines or CSV.
        block_size: tokens per block, for traces that carry token ids; block traces bring their own.
        rate_per_s: arrivals a second, for traces without times.

    Raises:
        PromptlintError: no such file, or no kind of trace that is known.
    """
    with open_text(path) as file:
        first = file.readline().strip()
    if first.startswith("{"):
        try:
            row = json.loads(first)
        except (ValueError, RecursionError) as error:
            raise PromptlintError(f"{path}: the first line is not JSON: {error}") from error
        if "hash_ids" in row:
            return _read_blocks(path, row)
        if "input_toks" in row:
            return _read_serving(path, block_size)
    elif "ContextTokens" in first:
        return _read_azure(path)
    elif "num_prefill_tokens" in first:
        return _read_vidur(path, rate_per_s)
    raise PromptlintError(
        f"{path} is no trace that is known: JSON lines with hash_ids (Mooncake, Bailian) or input_toks "
        "(LLMServingSim), CSV with ContextTokens (Azure) or num_prefill_tokens (Vidur)"
    )


def _json_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise PromptlintError(f"{path}:{number} is not JSON: {error}") from error
            if not isinstance(row, dict):
                raise PromptlintError(f"{path}:{number} is not a JSON object")
            yield number, row


def _jobs(path: Path, rows: Iterator[tuple[int, Any]], read: Callable[[int, Any], Job]) -> tuple[Job, ...]:
    jobs: list[Job] = []
    for number, row in rows:
        try:
            job = read(len(jobs), row)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise PromptlintError(f"{path}:{number} lacks a field or holds a wrong value: {error}") from error
        if job.prompt_tokens > 0:
            jobs.append(job if job.output_tokens > 0 else job._replace(output_tokens=1))
    if not jobs:
        raise PromptlintError(f"{path} holds no request")
    return in_arrival_order(jobs)


def _read_blocks(path: Path, first: dict[str, Any]) -> Workload:
    """Mooncake (times in milliseconds) and Bailian (`chat_id`, times in seconds); ids of full blocks count.

    `block_size` in a line says what an id stands for, and that ids go on over the output; otherwise the first line
    that fits only one size tells it.
    """
    per_second = 1.0 if "chat_id" in first else 1000.0
    stated = first.get("block_size")
    if stated is not None and (not isinstance(stated, int) or stated < 1):
        raise PromptlintError(f"{path}: block_size is {stated!r}, not a count of tokens")
    size = stated or _block_size_of(path)

    def read(index: int, row: dict[str, Any]) -> Job:
        prompt, output = _count(row["input_length"]), _count(row["output_length"])
        full = ((prompt + output) if stated else prompt) // size  # the last id of a prompt is a partial block
        return Job(index, _seconds(row["timestamp"] / per_second), prompt, output, _ids(row["hash_ids"])[:full])

    return Workload(path.name, _jobs(path, _json_rows(path), read), size, has_hashes=True)


def _block_size_of(path: Path) -> int:
    fitting = list(_BLOCK_SIZES)
    for _, row in _json_rows(path):
        length, ids = row.get("input_length"), row.get("hash_ids")
        if isinstance(length, int) and isinstance(ids, list):
            fitting = [size for size in fitting if -(-length // size) == len(ids)]
        if len(fitting) == 1:
            return fitting[0]
        if not fitting:
            break
    raise PromptlintError(f"{path}: it cannot be told how many tokens a hash id stands for")


def _read_azure(path: Path) -> Workload:
    def read(index: int, row: dict[str, str]) -> Job:
        at = datetime.fromisoformat(row["TIMESTAMP"][:26].rstrip("Z"))
        seconds = (at - datetime(2020, 1, 1)).total_seconds()  # noqa: DTZ001 - only differences count
        return Job(index, seconds, _count(row["ContextTokens"]), _count(row["GeneratedTokens"]))

    with open_text(path) as file:
        jobs = _jobs(path, iter(enumerate(csv.DictReader(file), start=2)), read)
    return Workload(path.name, jobs, 16, notes=("the trace tells nothing of shared prefixes: no hits are simulated",))


def _read_vidur(path: Path, rate_per_s: float | None) -> Workload:
    rate = rate_per_s or 1.0

    def read(index: int, row: dict[str, str]) -> Job:
        return Job(index, index / rate, _count(row["num_prefill_tokens"]), _count(row["num_decode_tokens"]))

    with open_text(path) as file:
        jobs = _jobs(path, iter(enumerate(csv.DictReader(file), start=2)), read)
    notes = (
        "the trace tells nothing of shared prefixes: no hits are simulated",
        f"the trace has no times: one request each {1 / rate:g} s",
    )
    return Workload(path.name, jobs, 16, notes=notes)


def _read_serving(path: Path, block_size: int) -> Workload:
    def read(index: int, row: dict[str, Any]) -> Job:
        ids = _ids(row.get("input_tok_ids") or [])
        arrival = row["arrival_time_ns"] / 1e9 if "arrival_time_ns" in row else float(row["arrival_time"])
        hashes = chain([*ids, *_ids(row.get("output_tok_ids") or [])], block_size) if ids else ()
        return Job(index, _seconds(arrival), _count(row["input_toks"]), _count(row["output_toks"]), hashes)

    jobs = _jobs(path, _json_rows(path), read)
    return Workload(path.name, jobs, block_size, has_hashes=any(job.hashes for job in jobs))


def _count(value: str | float) -> int:
    number = int(value)
    if not 0 <= number <= _MOST_TOKENS:
        raise ValueError(f"{value} is no count of tokens")
    return number


def _seconds(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"{value} is no time")
    return value


def _ids(values: object) -> tuple[int, ...]:
    if not isinstance(values, list) or not all(isinstance(value, int | str) for value in values):
        raise ValueError("a list of ids is expected")
    return tuple(values)


def read_measured(path: Path) -> tuple[Measured, ...]:
    """What was measured of each request of an LLMServingSim run (`*-requests.jsonl`), in order of its numbering."""
    measured = []
    for number, row in _json_rows(path):
        try:
            queued, scheduled = float(row["queued_ts"]), float(row["scheduled_ts"])
            first, last = float(row["first_token_ts"]), float(row["last_token_ts"])
            output = int(row["output_toks"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise PromptlintError(f"{path}:{number} lacks a field or holds a wrong value: {error}") from error
        tpot = (last - first) / (output - 1) if output > 1 else None
        measured.append(Measured(first - queued, tpot, scheduled - queued, last - queued))
    return tuple(measured)
