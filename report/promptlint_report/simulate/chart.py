"""The time line of a run: KV use and batch, in the terminal or as PNG or SVG with matplotlib."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from promptlint_core.errors import PromptlintError
from promptlint_report.simulate.engine import Sample
from promptlint_report.simulate.what_if import Variant

_WIDTH = 72
_LEVELS = " ▁▂▃▄▅▆▇█"


def terminal_chart(variants: Sequence[Variant]) -> str:
    """Three lines a run: share of the KV pool, running and waiting requests; all runs share the time axis."""
    end_s = max((variant.outcome.samples[-1].at_s for variant in variants if variant.outcome.samples), default=0.0)
    lines = [f"time line over {end_s:,.0f} s (simulated)"]
    for variant in variants:
        lines.append(f"{variant.name}")
        columns = _columns(variant.outcome.samples, end_s)
        lines.append("  KV pool  " + _bars([s.kv_use if s else 0.0 for s in columns], 1.0) + " of 100 %")
        for label, pick in (("running", "running"), ("waiting", "waiting")):
            values = [float(getattr(s, pick)) if s else 0.0 for s in columns]
            most = max(values, default=0.0)
            lines.append(f"  {label:<8} " + _bars(values, most) + f" of {most:,.0f}")
    return "\n".join(lines) + "\n"


def _columns(samples: Sequence[Sample], end_s: float) -> list[Sample | None]:
    """The fullest sample of each column of time."""
    columns: list[Sample | None] = [None] * _WIDTH
    for sample in samples:
        index = min(_WIDTH - 1, int(sample.at_s / end_s * _WIDTH)) if end_s else 0
        known = columns[index]
        if known is None or (sample.kv_use, sample.running) > (known.kv_use, known.running):
            columns[index] = sample
    last: Sample | None = None
    for index, found in enumerate(columns):
        if found is None and last is not None and index < _last_index(samples, end_s):
            columns[index] = last
        last = columns[index]
    return columns


def _last_index(samples: Sequence[Sample], end_s: float) -> int:
    return int(samples[-1].at_s / end_s * _WIDTH) if samples and end_s else 0


def _bars(values: Sequence[float], most: float) -> str:
    if most <= 0:
        return " " * len(values)
    top = len(_LEVELS) - 1
    return "".join(_LEVELS[min(top, max(1, round(value / most * top))) if value > 0 else 0] for value in values)


def write_chart(variants: Sequence[Variant], path: Path) -> None:
    """Draw KV use above and batch and queue below, one line a run.

    Raises:
        PromptlintError: another suffix than .png or .svg, no matplotlib, or a place that cannot be written.
    """
    if path.suffix.lower() not in (".png", ".svg"):
        raise PromptlintError(f"{path}: a chart is written as .png or .svg")
    if importlib.util.find_spec("matplotlib") is None:
        raise PromptlintError(
            f"{path} was not written: charts in files need matplotlib, which comes with promptlint-prefix[report]"
        )
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    FigureCanvasAgg(figure)
    pool, batch = figure.subplots(2, 1, sharex=True)
    for variant in variants:
        samples = variant.outcome.samples
        at_s = [sample.at_s for sample in samples]
        pool.plot(at_s, [100 * s.kv_use for s in samples], linewidth=1.2, label=variant.name)
        (line,) = batch.plot(at_s, [s.running for s in samples], linewidth=1.2, label=f"{variant.name}: running")
        waiting = [s.waiting for s in samples]
        batch.plot(at_s, waiting, linewidth=1, linestyle=":", color=line.get_color(), label=f"{variant.name}: waiting")
    pool.set_ylabel("KV pool used, %")
    pool.set_ylim(0, 105)
    batch.set_ylabel("requests")
    batch.set_xlabel("seconds")
    pool.set_title("KV pool and batch over time (simulated)")
    for axes in (pool, batch):
        axes.grid(visible=True, alpha=0.3)
        axes.legend(frameon=False, fontsize="small")
    try:
        figure.savefig(path, dpi=144)
    except OSError as error:
        raise PromptlintError(f"{path}: cannot be written: {error.strerror}") from None
