"""`promptlint simulate`: a workload on a modelled engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from promptlint_cli.options import Number

if TYPE_CHECKING:
    from promptlint_report.simulate.deployment import Deployment
    from promptlint_report.simulate.workload import Workload

_WHAT_IFS = ("prefix-fixed", "prompt-halved", "bound-added", "kv-fp8", "gpu-more", "long-apart", "prefill-apart")


@click.command("simulate")
@click.argument("workload", required=False, type=click.Path(path_type=Path), metavar="[TRACE|RECORDS]")
@click.option("--model", required=True, metavar="NAME|CONFIG.JSON|GGUF", help="The model that serves.")
@click.option("--gpu", required=True, help="H100, A100-40GB, L4, RTX-4090 …")
@click.option("--tp", type=click.IntRange(1), default=1, show_default=True, help="Tensor parallel size.")
@click.option("--dp", type=click.IntRange(1), default=1, show_default=True, help="Data-parallel ranks in lockstep.")
@click.option("--expert-parallel", is_flag=True, help="Spread routed experts over the data-parallel ranks.")
@click.option("--replicas", type=click.IntRange(1), default=1, show_default=True, help="Instances behind a balancer.")
@click.option("--kv-dtype", default="auto", show_default=True, help="fp8, int8_per_token_head, nvfp4 …")
@click.option("--block-size", type=click.IntRange(1), help="Tokens per block (default: the workload's, else 16).")
@click.option("--blocks", type=click.IntRange(2), help="Blocks of the pool (default: what the GPU's memory leaves).")
@click.option("--gpu-memory-utilization", type=Number(), help="Share of the GPU that the engine takes (0.92).")
@click.option("--max-num-seqs", type=click.IntRange(1), help="Requests in one step (default: vLLM's for the GPU).")
@click.option("--max-num-batched-tokens", type=click.IntRange(1), help="Token budget of one step.")
@click.option("--policy", type=click.Choice(["fcfs", "priority"]), default="fcfs", show_default=True)
@click.option("--no-prefix-caching", is_flag=True, help="As an engine without a prefix cache.")
@click.option(
    "--requests", type=click.IntRange(1), help="Only the first so many; without a TRACE: how many to generate."
)
@click.option("--rate", type=Number(0, min_open=True), help="Arrivals a second of a generated load.")
@click.option("--prompt", type=click.IntRange(1), help="Mean prompt tokens of a generated load.")
@click.option("--output", type=click.IntRange(1), help="Mean output tokens of a generated load.")
@click.option("--shared-prefix", type=click.IntRange(0), help="Tokens that all prompts share (load, prefix-fixed).")
@click.option("--seed", type=int, default=0, show_default=True, help="Of a generated load.")
@click.option("--speed", type=Number(0, min_open=True), help="Let the requests arrive so many times as fast.")
@click.option("--only-model", help="Of recorded traffic, only exchanges that asked for this model.")
@click.option(
    "--measured", type=click.Path(path_type=Path), help="Times of a measured run of this workload (LLMServingSim)."
)
@click.option("--calibrate", is_flag=True, help="Fit to the first 20 % of what was measured (records, --measured).")
@click.option("--what-if", "what_ifs", multiple=True, type=click.Choice([*_WHAT_IFS, "all"]), help="Also simulate …")
@click.option("--bound", type=click.IntRange(1), help="Output bound of bound-added (default: 95th percentile).")
@click.option("--long-output", type=click.IntRange(1), help="Outputs beyond are long (default: 90th percentile).")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--chart", metavar="FILE|-", help="Time line into a .png or .svg file, or `-`: in the terminal.")
def command(workload: Path | None, output_format: str, chart: str | None, **options: Any) -> None:
    """Serve a workload on a modelled engine and tell latency, throughput, hits and use of the KV pool.

    TRACE is a Mooncake, Azure, Vidur or LLMServingSim trace (plain or gzip), RECORDS a folder that the proxy writes
    to; without either, a load is generated from --requests, --rate, --prompt and --output.
    """
    from promptlint_report.simulate.as_json import document
    from promptlint_report.simulate.as_text import text
    from promptlint_report.simulate.what_if import Options, compare

    jobs = _workload(workload, options)
    deployment = _deployment(jobs, options)
    fit = None
    if options["calibrate"]:
        from promptlint_report.simulate.calibrate import calibrate

        fit = calibrate(jobs, deployment, in_engine=options["measured"] is not None)
        deployment = deployment.with_options(efficiency=fit.efficiency)
    names = _WHAT_IFS if "all" in options["what_ifs"] else tuple(dict.fromkeys(options["what_ifs"]))
    figures = Options(options["shared_prefix"], options["bound"], options["long_output"])
    variants, notes = compare(jobs, deployment, names, figures)
    if output_format == "json":
        click.echo(json.dumps(document(jobs, deployment, variants, fit, notes), indent=2, ensure_ascii=False))
    else:
        click.echo(text(jobs, deployment, variants, fit, notes), nl=False)
    if chart is not None:
        _draw(variants, chart, on_stderr=output_format == "json")


def _workload(path: Path | None, options: dict[str, Any]) -> Workload:
    from dataclasses import replace

    from promptlint_report.simulate.traces import read_measured, read_trace

    if path is None:
        jobs = _generated(options)
    elif path.is_dir():
        from promptlint_report.simulate.recorded import read_records

        jobs = read_records(path, model=options["only_model"])
    else:
        jobs = read_trace(path, block_size=options["block_size"] or 16, rate_per_s=options["rate"])
    if options["measured"] is not None:
        jobs = replace(jobs, measured=read_measured(options["measured"]))
    if options["requests"] is not None:
        jobs = jobs.first(options["requests"])
    return jobs.faster(options["speed"]) if options["speed"] else jobs


def _generated(options: dict[str, Any]) -> Workload:
    from promptlint_report.simulate.generate import Load, generated

    missing = [f"--{name}" for name in ("rate", "prompt", "output") if options[name] is None]
    if missing:
        raise click.UsageError(f"without a TRACE a load is generated: give {', '.join(missing)} too")
    load = Load(
        requests=options["requests"] or 1000,
        rate_per_s=options["rate"],
        prompt_tokens=options["prompt"],
        output_tokens=options["output"],
        shared_prefix_tokens=options["shared_prefix"] or 0,
        seed=options["seed"],
    )
    return generated(load, options["block_size"] or 16)


def _deployment(jobs: Workload, options: dict[str, Any]) -> Deployment:
    from promptlint_core.kv import geometry_of, gpu_of
    from promptlint_report.simulate.deployment import Deployment

    return Deployment(
        geometry=geometry_of(options["model"]),
        gpu=gpu_of(options["gpu"]),
        tp=options["tp"],
        dp=options["dp"],
        expert_parallel=options["expert_parallel"],
        replicas=options["replicas"],
        kv_dtype=options["kv_dtype"],
        block_size=options["block_size"] or (jobs.block_size if jobs.has_hashes else 16),
        blocks=options["blocks"],
        gpu_memory_utilization=options["gpu_memory_utilization"],
        max_num_seqs=options["max_num_seqs"],
        max_num_batched_tokens=options["max_num_batched_tokens"],
        policy=options["policy"],
        prefix_caching=not options["no_prefix_caching"],
    )


def _draw(variants: Any, chart: str, *, on_stderr: bool) -> None:
    from promptlint_core.errors import PromptlintError
    from promptlint_report.simulate.chart import terminal_chart, write_chart

    if chart == "-":
        click.echo("\n" + terminal_chart(variants), nl=False, err=on_stderr)
        return
    try:
        write_chart(variants, Path(chart))
    except PromptlintError:
        click.echo("\n" + terminal_chart(variants), nl=False, err=on_stderr)
        raise
    click.echo(f"wrote {chart}", err=True)
