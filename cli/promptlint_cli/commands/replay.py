"""`promptlint replay`: the analysis of the proxy over recorded traffic."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from promptlint_core import exit_status

if TYPE_CHECKING:
    from promptlint_proxy.replay.before_after import BeforeAfter
    from promptlint_proxy.replay.recorded import RecordedExchange
    from promptlint_proxy.replay.run import ReplayResult
    from promptlint_rules.base import Severity

_FORMATS = ("jsonl", "har", "flows", "litellm", "langfuse", "openai-batch", "vllm-log")


@click.command("replay", short_help="Analyse recorded traffic.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--isolated", is_flag=True, help="Ignore configuration files.")
@click.option(
    "--pairs",
    type=click.Choice(["told", "all"]),
    default="told",
    show_default=True,
    help="Comparisons told: with the predecessor, or every pair of up to 50 requests.",
)
@click.option(
    "--min-severity",
    type=click.Choice(["info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="Leave out findings below this level.",
)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--format", "form", type=click.Choice(_FORMATS), help="Format of the files (default: recognised).")
@click.option("--provider", help="Who serves, where host and path do not tell: vllm, sglang, llamacpp, anthropic …")
@click.option("--capacity", help="Pool sizes in tokens, for block traces and --rewrite: 10k,100k,1M,infinite.")
@click.option(
    "--rewrite", is_flag=True, help="Tell what the fixes would give: hits, tokens and money before and after."
)
@click.option("--validate", metavar="URL", help="Send the requests to a live engine: predicted against reported.")
@click.option("--model", help="With --validate: name of the model at the engine.")
@click.option("--key-from", metavar="VARIABLE", help="With --validate: environment variable that holds the API key.")
def command(
    files: tuple[Path, ...],
    isolated: bool,
    pairs: str,
    min_severity: str,
    output_format: str,
    form: str | None,
    provider: str | None,
    capacity: str | None,
    rewrite: bool,
    validate: str | None,
    model: str | None,
    key_from: str | None,
) -> int:
    """Analyse recorded traffic: what a prefix cache could and did give back, and what stopped it.

    FILES are JSON lines (one request with `t`, `path`, `headers`, `request`, `usage`, `response` a line), HAR files,
    mitmproxy flows, LiteLLM and Langfuse exports, OpenAI batch files or vLLM request logs; or block traces
    (`hash_ids`), of which the hit rates by capacity and eviction policy are told.
    """
    from promptlint_proxy.analysis import AnalysisSettings
    from promptlint_proxy.replay.run import read_all, replay
    from promptlint_rules.base import Severity

    del isolated
    if _tell_block_traces(files, capacity, output_format):
        return exit_status.CLEAN
    exchanges, unreadable, recorded = read_all(files, form, provider)
    for entry in unreadable:
        click.echo(f"promptlint: {entry.place}: {entry.sentence}", err=True)
    if validate:
        return _validate(recorded, validate, model, key_from, provider, output_format)
    result = replay(exchanges, AnalysisSettings(), all_pairs=pairs == "all", unreadable=unreadable)
    _tell(result, Severity(min_severity), output_format, _fixes(result, capacity) if rewrite else None)
    shown = any(f.severity.rank <= Severity(min_severity).rank for f in result.findings)
    return exit_status.FINDINGS if shown else exit_status.CLEAN


def _tell_block_traces(files: tuple[Path, ...], capacity: str | None, output_format: str) -> bool:
    """Tell the hit tables when the files are block traces; False when they are other recordings."""
    from promptlint_core.errors import PromptlintError
    from promptlint_proxy.replay import block_traces

    traces = [path for path in files if block_traces.is_block_trace(path)]
    if not traces:
        return False
    if len(traces) < len(files):
        raise PromptlintError(f"{traces[0]} is a block trace and others are not: replay them apart")
    capacities = block_traces.parse_capacities(capacity) if capacity else None
    render = block_traces.render_json if output_format == "json" else block_traces.render_text
    for path in traces:
        click.echo(render(block_traces.hit_tables(path, capacities)))
    return True


def _fixes(result: ReplayResult, capacity: str | None) -> tuple[BeforeAfter, ...]:
    from promptlint_proxy.replay.before_after import compare_fixes
    from promptlint_proxy.replay.block_traces import parse_capacities

    return compare_fixes(result, parse_capacities(capacity) if capacity else (None,))


def _validate(
    recorded: list[RecordedExchange],
    url: str,
    model: str | None,
    key_from: str | None,
    provider: str | None,
    output_format: str,
) -> int:
    from promptlint_core.errors import PromptlintError
    from promptlint_proxy.replay.validate import Target, render_rows, render_text, validate

    key = os.environ.get(key_from) if key_from else None
    if key_from and not key:
        raise PromptlintError(f"the environment variable {key_from} is not set")
    rows = list(validate(recorded, Target(url, model, key, provider)))
    click.echo(json.dumps(render_rows(rows), indent=1) if output_format == "json" else render_text(rows))
    return exit_status.CLEAN if all(row.equal is not False for row in rows) else exit_status.FINDINGS


def _tell(
    result: ReplayResult, least: Severity, output_format: str, fixes: tuple[BeforeAfter, ...] | None = None
) -> None:
    from promptlint_proxy.replay import before_after
    from promptlint_proxy.replay.json_output import render_json
    from promptlint_proxy.replay.text_output import render_text

    if output_format == "json":
        report = render_json(result, least)
        if fixes is not None:
            report["rewrite"] = before_after.render_rows(fixes)
        click.echo(json.dumps(report, ensure_ascii=False, indent=1))
        return
    click.echo(render_text(result, least))
    if fixes is not None:
        click.echo(f"\n{before_after.render_text(fixes)}")
