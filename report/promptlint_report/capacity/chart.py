"""Memory over context for several models: in the terminal, or as PNG or SVG with matplotlib."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path

from promptlint_core.errors import PromptlintError
from promptlint_core.kv import kv_bytes, state_bytes
from promptlint_report.capacity.as_text import size
from promptlint_report.capacity.question import Question

_SHORTEST = 1024
_DEFAULT_LONGEST = 131_072
_WIDTH = 48


@dataclass(frozen=True, slots=True)
class Curve:
    """Bytes of one request, keys, values and states, over its length."""

    name: str
    tokens: tuple[int, ...]
    sizes_bytes: tuple[int, ...]


def curves(questions: Sequence[Question]) -> tuple[Curve, ...]:
    """One curve a model, from 1,024 tokens to the longest context asked for, at powers of two."""
    longest = max(max(question.tokens, question.geometry.max_tokens or 0) for question in questions)
    longest = min(longest, max(_DEFAULT_LONGEST, *(question.tokens for question in questions)))
    lengths = [_SHORTEST]
    while lengths[-1] * 2 <= longest:
        lengths.append(lengths[-1] * 2)
    if lengths[-1] < longest:
        lengths.append(longest)
    return tuple(Curve(question.geometry.name, tuple(lengths), _sizes(question, lengths)) for question in questions)


def _sizes(question: Question, lengths: Sequence[int]) -> tuple[int, ...]:
    geometry = question.geometry
    states = state_bytes(geometry, tp=question.tp, pp=question.pp)
    return tuple(
        states
        + kv_bytes(
            geometry,
            tokens,
            kv_dtype=question.kv_dtype,
            tp=question.tp,
            pp=question.pp,
            block_size=question.block_size,
            encoder_tokens=question.encoder_tokens,
        )
        for tokens in lengths
    )


def terminal_chart(found: Sequence[Curve]) -> str:
    """A bar for every model at every length; all bars share one logarithmic scale."""
    largest = max(curve.sizes_bytes[-1] for curve in found) or 1
    smallest = min((value for curve in found for value in curve.sizes_bytes if value), default=1)
    span = max(1.0, log2(largest / smallest))
    width = max(len(curve.name) for curve in found)
    lines = ["KV memory of one request over its length (logarithmic bars)"]
    for index, tokens in enumerate(found[0].tokens):
        lines.append(f"{tokens:,} tokens")
        for curve in found:
            value = curve.sizes_bytes[index]
            length = 1 + round((_WIDTH - 1) * log2(value / smallest) / span) if value else 0
            lines.append(f"  {curve.name:<{width}} {'█' * length} {size(value)}")
    return "\n".join(lines) + "\n"


def write_chart(found: Sequence[Curve], path: Path, gpu_pool_bytes: int | None = None) -> None:
    """Draw the curves into a PNG or SVG file; a dashed line marks the pool of the GPU where one is known.

    Raises:
        PromptlintError: another suffix, no matplotlib, or a place that cannot be written.
    """
    if path.suffix.lower() not in (".png", ".svg"):
        raise PromptlintError(f"{path}: a chart is written as .png or .svg")
    if importlib.util.find_spec("matplotlib") is None:
        raise PromptlintError(
            f"{path} was not written: charts in files need matplotlib, which comes with promptlint-prefix[report]"
        )
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for curve, mark in zip(found, "osDv^<>p" * len(found), strict=False):
        gib = [value / (1 << 30) for value in curve.sizes_bytes]
        axes.plot(curve.tokens, gib, marker=mark, markersize=4, linewidth=1.6, label=curve.name)
    if gpu_pool_bytes:
        axes.axhline(gpu_pool_bytes / (1 << 30), linestyle="--", linewidth=1, color="0.4", label="KV pool of the GPU")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=10)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xticks(found[0].tokens, [_short(tokens) for tokens in found[0].tokens])
    axes.set_xlabel("tokens in the cache of one request")
    axes.set_ylabel("GiB")
    axes.set_title("KV memory of one request")
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    try:
        figure.savefig(path, dpi=144)
    except OSError as error:
        raise PromptlintError(f"{path}: cannot be written: {error.strerror}") from None


def _short(tokens: int) -> str:
    return f"{tokens // 1024}K" if tokens % 1024 == 0 else f"{tokens:,}"
