"""`promptlint kv`: what a model's KV cache takes, and what fits on a GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from promptlint_cli.options import Number

GIB = 1 << 30


@click.command("kv")
@click.argument("models", nargs=-1, required=True, metavar="MODEL|CONFIG.JSON|GGUF...")
@click.option("--tokens", type=click.IntRange(1), help="Tokens of one request (default: prompt + output, else 4,096).")
@click.option("--batch", type=click.IntRange(1), default=1, show_default=True, help="Requests of that length.")
@click.option(
    "--kv-dtype", default="auto", show_default=True, help="fp8, int8_per_token_head, nvfp4, q8_0/q4_0, int4 …"
)
@click.option("--tp", type=click.IntRange(1), default=1, show_default=True, help="Tensor parallel size.")
@click.option("--pp", type=click.IntRange(1), default=1, show_default=True, help="Pipeline parallel size.")
@click.option("--dp", type=click.IntRange(1), default=1, show_default=True, help="Data parallel replicas.")
@click.option("--block-size", type=click.IntRange(1), help="Round up to blocks of that many tokens.")
@click.option("--gpu", help="Say what fits on this GPU: H100, A100-40GB, L4, RTX-4090 …")
@click.option("--gpu-memory-utilization", type=Number(), help="Share of the GPU the engine takes (vLLM: 0.92).")
@click.option("--engine", type=click.Choice(["vllm", "sglang", "llamacpp"]), default="vllm", show_default=True)
@click.option("--prompt", type=click.IntRange(0), help="Prompt tokens of a request, for requests at once.")
@click.option("--output", type=click.IntRange(0), help="Output tokens of a request.")
@click.option("--shared-prefix", type=click.IntRange(0), default=0, help="Prompt tokens that all requests share.")
@click.option(
    "--max-model-len", type=click.IntRange(1), help="Length that concurrency is told for (default: --tokens)."
)
@click.option("--encoder-tokens", type=click.IntRange(0), help="Encoder length of an encoder-decoder model.")
@click.option("--speculative-tokens", type=click.IntRange(0), default=0, help="Use the built-in draft with so many.")
@click.option("--weights", type=Number(0, 1e6), metavar="GIB", help="Weights of the whole model, as loaded.")
@click.option("--activation", type=Number(0, 1e6), metavar="GIB", help="Measured peak activation of one GPU.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--chart", metavar="FILE|-", help="Memory over context into a .png or .svg file, or `-`: in the terminal."
)
def command(models: tuple[str, ...], output_format: str, chart: str | None, **options: Any) -> None:
    """Tell what keys and values of MODEL take, and what fits on a GPU.

    MODEL is a name of the shipped table, a config.json or the folder it lies in, or a .gguf file.
    """
    from promptlint_report.capacity.answer import answer
    from promptlint_report.capacity.as_json import answers_document
    from promptlint_report.capacity.as_text import answer_text

    questions = [_question(model, options) for model in models]
    answers = [answer(question) for question in questions]
    if output_format == "json":
        click.echo(json.dumps(answers_document(answers), indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(answer_text(found) for found in answers), nl=False)
    if chart is not None:
        _draw(questions, answers, chart, on_stderr=output_format == "json")


def _question(model: str, options: dict[str, Any]) -> Any:
    from promptlint_core.kv import geometry_of
    from promptlint_report.capacity.question import DEFAULT_TOKENS, Question

    prompt, output = options["prompt"], options["output"]
    stated = (prompt or 0) + (output or 0)
    weights, activation = options["weights"], options["activation"]
    return Question(
        geometry=geometry_of(model),
        tokens=options["tokens"] or stated or DEFAULT_TOKENS,
        batch=options["batch"],
        kv_dtype=options["kv_dtype"],
        tp=options["tp"],
        pp=options["pp"],
        dp=options["dp"],
        block_size=options["block_size"],
        gpu=options["gpu"],
        utilization=options["gpu_memory_utilization"],
        engine=options["engine"],
        prompt_tokens=prompt,
        output_tokens=output,
        shared_prefix_tokens=options["shared_prefix"],
        max_model_len=options["max_model_len"],
        weights_bytes=None if weights is None else int(weights * GIB),
        activation_bytes=None if activation is None else int(activation * GIB),
        encoder_tokens=options["encoder_tokens"],
        speculative_tokens=options["speculative_tokens"],
    )


def _draw(questions: list[Any], answers: list[Any], chart: str, *, on_stderr: bool) -> None:
    from promptlint_core.errors import PromptlintError
    from promptlint_report.capacity.chart import curves, terminal_chart, write_chart

    found = curves(questions)
    if chart == "-":
        click.echo("\n" + terminal_chart(found), nl=False, err=on_stderr)
        return
    pools = [answered.pool.kv_pool_bytes for answered in answers if answered.pool is not None]
    try:
        write_chart(found, Path(chart), pools[0] if len(pools) == 1 else None)
    except PromptlintError:
        click.echo("\n" + terminal_chart(found), nl=False, err=on_stderr)
        raise
    click.echo(f"wrote {chart}", err=True)
