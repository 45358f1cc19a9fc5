"""Recorded traffic of the proxy as a workload: arrivals, lengths, block hashes, and what was measured."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from promptlint_core.errors import PromptlintError
from promptlint_report.simulate.workload import Job, Measured, Workload

_COLUMNS = (
    "started_at", "model", "prompt_group", "prompt_tokens", "output_tokens", "ttft_s", "e2e_s", "block_size",
    "block_hashes", "best_hit_tokens", "status",
)  # fmt: skip


def read_records(store: Path, *, model: str | None = None) -> Workload:
    """The exchanges of a record folder that have both token counts, in order of arrival.

    Args:
        store: folder that `promptlint proxy` writes to.
        model: only exchanges that asked for this model; None: all of them.

    Raises:
        PromptlintError: no such folder, or nothing in it that can be simulated.
    """
    from promptlint_proxy.records.read import view

    table = view(store).table("exchanges").select(list(_COLUMNS))
    rows: list[dict[str, Any]] = table.to_pylist()
    seen = len(rows)
    models = Counter(row["model"] for row in rows)
    rows = [row for row in rows if model is None or row["model"] == model]
    if not rows:
        known = ", ".join(str(name) for name, _ in models.most_common(5)) or "none"
        raise PromptlintError(f"{store} holds no exchange of {model or 'any model'} (models recorded: {known})")
    rows = [row for row in rows if row["prompt_tokens"] and row["output_tokens"] and (row["status"] or 200) < 400]
    if not rows:
        raise PromptlintError(f"none of the {seen:,} exchanges in {store} has both prompt and output tokens")
    rows.sort(key=lambda row: row["started_at"])
    sizes = Counter(row["block_size"] for row in rows if row["block_hashes"] and row["block_size"])
    block_size = sizes.most_common(1)[0][0] if sizes else 16
    start = _seconds(rows[0]["started_at"])
    jobs = tuple(_job(number, row, start, block_size) for number, row in enumerate(rows))
    notes = []
    if len(rows) < seen:
        notes.append(
            f"{seen - len(rows):,} of {seen:,} exchanges are left out: other model, failed, or no token counts"
        )
    if model is None and len(models) > 1:
        notes.append(f"{len(models)} models are simulated as one; choose one with --only-model")
    return Workload(
        str(store),
        jobs,
        block_size,
        has_hashes=bool(sizes),
        measured=tuple(_measured(row) for row in rows),
        notes=tuple(notes),
        best_hit_tokens=tuple(row["best_hit_tokens"] for row in rows),
    )


def _seconds(value: Any) -> float:
    return value.timestamp() if hasattr(value, "timestamp") else float(value) / 1e6


def _job(number: int, row: dict[str, Any], start: float, block_size: int) -> Job:
    hashes = row["block_hashes"] if row["block_hashes"] and row["block_size"] == block_size else ()
    prompt = int(row["prompt_tokens"])
    return Job(
        number,
        _seconds(row["started_at"]) - start,
        prompt,
        int(row["output_tokens"]),
        tuple(hashes[: prompt // block_size]),
        group=row["prompt_group"] or "",
    )


def _measured(row: dict[str, Any]) -> Measured:
    ttft, e2e, output = row["ttft_s"], row["e2e_s"], row["output_tokens"]
    tpot = (e2e - ttft) / (output - 1) if ttft is not None and e2e is not None and output > 1 else None
    return Measured(ttft, tpot, None, e2e)
