"""`promptlint replay`: the analysis of the proxy over recorded traffic."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from promptlint_core import exit_status

if TYPE_CHECKING:
    from promptlint_proxy.predict import PredictorSettings
    from promptlint_proxy.replay.before_after import BeforeAfter
    from promptlint_proxy.replay.memory import ReplayedMemory
    from promptlint_proxy.replay.price import Price
    from promptlint_proxy.replay.recorded import RecordedExchange
    from promptlint_proxy.replay.run import ReplayResult
    from promptlint_proxy.replay.validate import Target
    from promptlint_proxy.settings import ProxySettings
    from promptlint_rules.base import Severity

_ENGINES = (
    *("vllm", "sglang", "llamacpp", "ollama", "tgi"),
    *("openai", "azure", "anthropic", "bedrock", "gemini", "deepseek", "mistral", "xai", "groq", "together"),
    *("fireworks", "moonshot", "qwen", "zai", "minimax"),
)
_FORMATS = ("jsonl", "har", "flows", "litellm", "langfuse", "openai-batch", "vllm-log")


@click.command("replay", short_help="Analyse recorded traffic.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--isolated", is_flag=True, help="Ignore configuration files.")
@click.option(
    "--config", type=click.Path(path_type=Path, dir_okay=False), help="TOML whose [proxy] table tells of the engine."
)
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
@click.option("--engine", type=click.Choice(_ENGINES), help="Whose prefix cache to predict (default: as recorded).")
@click.option("--capacity", help="Pool size in tokens; several for block traces and --rewrite: 10k,100k,1M,infinite.")
@click.option("--block-size", type=click.IntRange(1), help="Tokens per cache block of vLLM.  [default: 16]")
@click.option("--page-size", type=click.IntRange(1), default=1, show_default=True, help="Of SGLang.")
@click.option("--slots", type=click.IntRange(1), default=1, show_default=True, help="Of llama.cpp (--parallel).")
@click.option("--tokenizer", type=click.Path(path_type=Path), help="tokenizer.json of the model, or its folder.")
@click.option(
    "--chat-template", type=click.Path(path_type=Path), help="Jinja template; by default the one beside the tokenizer."
)
@click.option("--kv-model", metavar="NAME|config.json", help="Tell the KV memory of each request.")
@click.option("--kv-pool-bytes", metavar="SIZE", help="KV pool of the engine, for example 40GiB.")
@click.option("--gpu", help="GPU that the pool is computed for.")
@click.option("--kv-dtype", help="Type of the KV cache.  [default: auto]")
@click.option(
    "--rewrite", is_flag=True, help="Tell what the fixes would give: hits, tokens and money before and after."
)
@click.option("--validate", metavar="URL", help="Send the requests to a live engine: predicted against reported.")
@click.option("--model", help="With --validate: name of the model at the engine.")
@click.option("--key-from", metavar="VARIABLE", help="With --validate: environment variable that holds the API key.")
def command(
    files: tuple[Path, ...],
    *,
    isolated: bool,
    config: Path | None,
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
    **engine: Any,
) -> int:
    """Analyse recorded traffic: what a prefix cache could and did give back, and what stopped it.

    FILES are JSON lines (one request with `t`, `path`, `headers`, `request`, `usage`, `response` a line), HAR files,
    mitmproxy flows, LiteLLM and Langfuse exports, OpenAI batch files or vLLM request logs; or block traces
    (`hash_ids`), of which the hit rates by capacity and eviction policy are told.

    The [proxy] table of the configuration tells of the engine, as it does to `promptlint proxy`: tokenizer,
    chat-template, block-size, capacity-tokens, kv-model, kv-pool-bytes, gpu, kv-dtype. Options win over it; prices
    need the extra `report`.
    """
    from promptlint_proxy.analysis import AnalysisSettings
    from promptlint_proxy.replay.before_after import compare_fixes
    from promptlint_proxy.replay.run import read_all, replay
    from promptlint_proxy.replay.validate import Target
    from promptlint_report.exchange_cost import ExchangePrices
    from promptlint_rules.base import Severity

    if _tell_block_traces(files, capacity, output_format):
        return exit_status.CLEAN
    capacities = _capacities(capacity, several=rewrite)
    settings = _engine_settings(config, isolated=isolated, **engine)
    predictor = _predictor(settings, capacities, **engine)
    exchanges, unreadable, recorded = read_all(files, form, provider)
    for entry in unreadable:
        click.echo(f"promptlint: {entry.place}: {entry.sentence}", err=True)
    if validate:
        return _validate(recorded, Target(validate, model, _key(key_from), provider), predictor, output_format)
    result = replay(
        exchanges,
        AnalysisSettings(predictor=predictor),
        all_pairs=pairs == "all",
        unreadable=unreadable,
        memory=_memory(settings, predictor),
    )
    price = ExchangePrices()
    fixes = compare_fixes(result, capacities or [predictor.capacity_tokens], predictor, price) if rewrite else None
    _tell(result, Severity(min_severity), output_format, price, fixes)
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


def _capacities(text: str | None, *, several: bool) -> list[int | None]:
    from promptlint_core.errors import PromptlintError
    from promptlint_proxy.replay.block_traces import parse_capacities

    capacities = parse_capacities(text) if text else []
    if len(capacities) > 1 and not several:
        raise PromptlintError("--capacity takes several sizes with --rewrite and for block traces; give one here")
    return capacities


def _engine_settings(config: Path | None, *, isolated: bool, **given: Any) -> ProxySettings:
    """What the configuration and the options tell of the engine."""
    from promptlint_cli.commands.proxy import configuration
    from promptlint_core.errors import PromptlintError
    from promptlint_proxy.settings import parse_bytes

    base = configuration(config, isolated=isolated)
    names = ("block_size", "tokenizer", "chat_template", "kv_model", "kv_pool_bytes", "gpu", "kv_dtype")
    options = {name: given[name] for name in names if given[name] is not None}
    if "kv_pool_bytes" in options:
        options["kv_pool_bytes"] = parse_bytes(options["kv_pool_bytes"])
    settings = replace(base, **options)
    if settings.chat_template is not None and settings.tokenizer is None:
        raise PromptlintError("--chat-template needs the model's tokenizer too: --tokenizer tokenizer.json")
    return settings


def _predictor(settings: ProxySettings, capacities: Sequence[int | None], **given: Any) -> PredictorSettings:
    from promptlint_proxy.predict import PredictorSettings

    own = PredictorSettings()
    return replace(
        own,
        engine=given["engine"],
        block_size=settings.block_size or own.block_size,
        page_size=given["page_size"],
        slots=given["slots"],
        capacity_tokens=capacities[0] if capacities else settings.capacity_tokens,
        tokenizer=settings.tokenizer,
        chat_template=settings.chat_template,
    )


def _memory(settings: ProxySettings, predictor: PredictorSettings) -> ReplayedMemory | None:
    from promptlint_proxy.kv_in_flight import kv_memory
    from promptlint_proxy.replay.memory import ReplayedMemory

    in_flight = kv_memory(
        settings.kv_model,
        settings.kv_pool_bytes,
        settings.gpu,
        block_size=predictor.block_size,
        kv_dtype=settings.kv_dtype,
    )
    return ReplayedMemory(in_flight, predictor) if in_flight is not None else None


def _key(variable: str | None) -> str | None:
    from promptlint_core.errors import PromptlintError

    key = os.environ.get(variable) if variable else None
    if variable and not key:
        raise PromptlintError(f"the environment variable {variable} is not set")
    return key


def _validate(
    recorded: list[RecordedExchange], target: Target, predictor: PredictorSettings, output_format: str
) -> int:
    from promptlint_proxy.replay.validate import render_rows, render_text, validate

    rows = list(validate(recorded, target, predictor))
    click.echo(json.dumps(render_rows(rows), indent=1) if output_format == "json" else render_text(rows))
    return exit_status.CLEAN if all(row.equal is not False for row in rows) else exit_status.FINDINGS


def _tell(
    result: ReplayResult, least: Severity, output_format: str, price: Price, fixes: tuple[BeforeAfter, ...] | None
) -> None:
    from promptlint_proxy.replay import before_after
    from promptlint_proxy.replay.json_output import render_json
    from promptlint_proxy.replay.text_output import render_text

    if output_format == "json":
        report = render_json(result, least, price)
        if fixes is not None:
            report["rewrite"] = before_after.render_rows(fixes)
        click.echo(json.dumps(report, ensure_ascii=False, indent=1))
        return
    click.echo(render_text(result, least, price))
    if fixes is not None:
        click.echo(f"\n{before_after.render_text(fixes)}")
