"""The answer as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from promptlint_core.gpu_share import utilization_warning
from promptlint_core.kv import Pool
from promptlint_report.capacity.answer import Answer

_GIB = 1 << 30
_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_BAR = 30


def size(number_bytes: float) -> str:
    """Bytes in the largest unit that leaves a number of 1 or more: `1.00 GiB`, `68.6 KiB`."""
    for unit, unit_bytes in _UNITS:
        if number_bytes >= unit_bytes:
            value = number_bytes / unit_bytes
            return f"{value:,.2f} {unit}" if value < 10 else f"{value:,.1f} {unit}"
    return f"{number_bytes:,.0f} B"


def answer_text(answer: Answer) -> str:
    """Sizes first, then the GPU, then the what-ifs and the curve over gpu_memory_utilization."""
    lines = [_title(answer), "", *_sizes(answer)]
    if answer.pool is not None:
        lines += ["", *_gpu(answer, answer.pool)]
    if answer.what_ifs:
        lines += ["", *_what_ifs(answer)]
    if answer.curve:
        lines += ["", *_curve(answer)]
    notes = [*answer.notes, *(answer.pool.notes if answer.pool else ())]
    if notes:
        lines += ["", *(f"  note: {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def _title(answer: Answer) -> str:
    geometry = answer.geometry
    dtype = answer.question.kv_dtype
    if dtype == "auto":
        dtype = f"{geometry.element_bytes * 8}-bit"
    return f"{geometry.name}: {len(geometry.layers)} layers, {geometry.attention}, cache in {dtype}"


def _row(label: str, value: str, remark: str = "") -> str:
    return f"  {label:<24}{value:>12}{'   ' + remark if remark else ''}".rstrip()


def _sizes(answer: Answer) -> list[str]:
    question, block = answer.question, answer.last_block
    per_gpu = f" on each of {question.tp * question.pp} GPUs" if question.tp * question.pp > 1 else ""
    lines = [_row("per token", size(answer.kv_bytes_per_token), f"{answer.kv_bytes_per_token:,} B{per_gpu}")]
    window = answer.geometry.longest_window_tokens
    if window is not None:
        beyond = f"beyond {window:,} tokens"
        lines.append(_row("per further token", size(answer.marginal_bytes_per_token), beyond))
    each = f"{question.batch} × {question.tokens:,} tokens" if question.batch > 1 else f"{question.tokens:,} tokens"
    if question.block_size:
        each += f", rounded to blocks of {question.block_size}"
    lines.append(_row("keys and values", size(answer.kv_bytes), each))
    if answer.state_bytes:
        lines.append(_row("constant state", size(answer.state_bytes), "whatever the length"))
    unused = f"{block.unused_slots} of {block.block_size} slots of the last of {block.blocks:,} blocks"
    lines.append(_row("wasted in last block", size(block.unused_bytes), unused))
    if answer.weights_bytes is None:
        lines.append(_row("weights", "not known"))
    else:
        parameters = answer.geometry.parameters
        remark = f"{answer.weights_bytes / 1e9:,.2f} GB"
        if parameters:
            remark += f", {parameters.total / 1e9:,.2f} billion parameters"
            if parameters.active != parameters.total:
                remark += f", {parameters.active / 1e9:,.2f} active"
        lines.append(_row("weights", size(answer.weights_bytes), remark))
    return lines


def _gpu(answer: Answer, found: Pool) -> list[str]:
    held, question = found.held, answer.question
    names = {"vllm": "gpu_memory_utilization", "sglang": "mem_fraction_static"}
    share = f", {names[found.engine]} {found.utilization:g}" if found.engine in names else ""
    replica = f", {question.tp * question.pp} GPUs a replica" if question.tp * question.pp > 1 else ""
    lines = [f"{found.gpu} with {size(found.memory_bytes)}, {found.engine}{share}{replica}", ""]
    lines.append(_row("weights", size(found.weights_bytes)))
    if found.engine == "vllm":
        lines.append(_row("peak activation", size(found.activation_bytes), _how(question.activation_bytes)))
        lines.append(_row("non-torch, graphs", size(found.other_bytes), "estimated"))
    lines.append(_row("KV pool", size(found.kv_pool_bytes)))
    lines.append(_row("tokens", f"{held.tokens:,}", _tokens_remark(found)))
    lines.append(_row("blocks", f"{held.blocks:,}", f"of {held.block_size} token{'s' if held.block_size > 1 else ''}"))
    of = f"requests of {found.max_model_len:,} tokens ({held.blocks_per_request:,} blocks each)"
    lines.append(_row("max concurrency", f"{held.max_concurrency:,.2f}x", of))
    if answer.requests_alone is not None:
        shape = f"{question.prompt_tokens or 0:,} prompt + {question.output_tokens or 0:,} output"
        lines.append(_row("requests at once", f"{answer.requests_alone:,}", shape))
        if question.shared_prefix_tokens:
            shared = f"with {question.shared_prefix_tokens:,} tokens of prefix stored once"
            lines.append(_row("", f"{answer.requests_sharing:,}", shared))
    warning = utilization_warning(found.utilization) if found.engine == "vllm" else None
    if warning:
        lines.append(f"  warning: {warning}")
    return lines


def _how(stated: int | None) -> str:
    return "estimated" if stated is None else "given"


def _tokens_remark(found: Pool) -> str:
    old = found.held.tokens_before_0_21
    if old is None or old == found.held.tokens:
        return ""
    return f"GPU KV cache size since vLLM 0.21; {old:,} as printed before"


def _what_ifs(answer: Answer) -> list[str]:
    with_requests = answer.requests_alone is not None
    head = (
        f"  {'what if':<24}{'tokens':>12}{'concurrency':>14}{'requests':>12}"
        if with_requests
        else (f"  {'what if':<24}{'tokens':>12}{'concurrency':>14}")
    )
    lines = [head]
    for what_if in answer.what_ifs:
        line = f"  {what_if.name:<24}{what_if.tokens:>12,}{what_if.max_concurrency:>13,.2f}x"
        lines.append(line + (f"{what_if.requests:>12,}" if what_if.requests is not None else ""))
    return lines


def _curve(answer: Answer) -> list[str]:
    most = max(step.kv_pool_bytes for step in answer.curve) or 1
    name = "mem_fraction_static" if answer.question.engine == "sglang" else "gpu_memory_utilization"
    lines = [f"  {name:<24}{'KV pool':>12}{'tokens':>12}{'concurrency':>14}"]
    for step in answer.curve:
        bar = "█" * round(_BAR * step.kv_pool_bytes / most)
        mark = "  !" if step.warning else ""
        lines.append(
            f"  {step.utilization:<24.2f}{size(step.kv_pool_bytes):>12}{step.tokens:>12,}"
            f"{step.max_concurrency:>13,.2f}x  {bar}{mark}"
        )
    lines += [f"  ! {warning}" for warning in _ends([step.warning for step in answer.curve])]
    return lines


def _ends(warnings: Sequence[str | None]) -> list[str]:
    """The warning nearest to the usable range at each end."""
    said = [warning for warning in warnings if warning]
    low = [warning for warning in said if "unused" in warning][-1:]
    high = [warning for warning in said if "unused" not in warning][:1]
    return low + high
