"""`promptlint proxy`: the sidecar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from promptlint_cli.options import Number
from promptlint_core.errors import PromptlintError

if TYPE_CHECKING:
    from promptlint_proxy.master import Sidecar
    from promptlint_proxy.settings import ProxySettings

CONFIGURATION = ("promptlint.toml", "pyproject.toml")


@click.command("proxy")
@click.option(
    "--upstream", multiple=True, metavar="[/PREFIX=|HOST=]URL", help="Where requests go; several by path or host."
)
@click.option("--forward", is_flag=True, help="Forward proxy: clients name the host; TLS is read with a CA of its own.")
@click.option("--listen", metavar="HOST:PORT", help="Where clients connect.  [default: 127.0.0.1:8080]")
@click.option(
    "--metrics-listen", metavar="HOST:PORT|off", help="/metrics, /healthz, /findings.  [default: 127.0.0.1:9464]"
)
@click.option("--store", type=click.Path(path_type=Path, file_okay=False), help="Folder of the records.")
@click.option("--record-text/--no-record-text", default=None, help="Also keep prompts and answers as text.")
@click.option(
    "--hash-key-file", type=click.Path(path_type=Path, dir_okay=False), help="Key of the hashes, shared by sidecars."
)
@click.option("--environment", help="Label of all records.")
@click.option("--team", help="Label of all records; else a keyed hash of the API key.")
@click.option(
    "--provider", multiple=True, metavar="[UPSTREAM=]NAME", help="Who serves: vllm, sglang, llamacpp, openai …"
)
@click.option("--block-size", type=click.IntRange(1), help="Tokens per cache block of the engine.")
@click.option("--capacity-tokens", type=click.IntRange(1), help="Tokens that the engine's prefix cache holds.")
@click.option("--tokenizer", type=click.Path(path_type=Path), help="tokenizer.json of the model behind.")
@click.option("--chat-template", type=click.Path(path_type=Path), help="Chat template of the model behind.")
@click.option("--kv-model", metavar="NAME|config.json", help="Project the KV memory of requests in flight.")
@click.option("--kv-pool-bytes", metavar="SIZE", help="KV pool of the engine, for example 40GiB.")
@click.option("--gpu", help="GPU that the pool is computed for.")
@click.option("--kv-dtype", help="Type of the KV cache.  [default: auto]")
@click.option(
    "--slo", multiple=True, metavar="ttft=200ms|itl=50ms", help="Objective; the share inside is told per group."
)
@click.option("--cap-output", type=click.IntRange(1), metavar="TOKENS", help="Action: bound requests that send none.")
@click.option("--refuse-unbounded", is_flag=True, help="Action: refuse requests without an output bound.")
@click.option("--ask-usage", is_flag=True, help="Action: ask for usage in chat streams; the extra chunk is taken out.")
@click.option("--sort-tools", is_flag=True, help="Action: sort tools by name.")
@click.option("--add-markers", is_flag=True, help="Action: set Anthropic cache markers where there are none.")
@click.option("--upstream-ca", type=click.Path(path_type=Path), help="CA bundle to verify upstreams with.")
@click.option(
    "--ca-dir", type=click.Path(path_type=Path), help="Folder of the forward mode's CA.  [default: ~/.mitmproxy]"
)
@click.option("--intercept", multiple=True, metavar="PATTERN", help="Hosts that forward mode reads.")
@click.option(
    "--drain", "drain_s", type=Number(0), metavar="SECONDS", help="Time for open streams on SIGTERM.  [default: 30]"
)
@click.option("--otel", is_flag=True, default=None, help="Export spans and metrics (OTEL_ variables; extra `otel`).")
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="TOML with a [proxy] table.")
@click.option("--isolated", is_flag=True, help="Read no configuration file.")
def command(config: Path | None, *, isolated: bool, **options: Any) -> None:
    """Run a sidecar between your clients and a model server.

    Every byte goes on at once and unchanged; what the prefix cache could and did give back, and why it stopped, is
    told by metrics, findings and records.

    \b
      promptlint proxy --upstream http://127.0.0.1:8000 --store records/
      promptlint proxy --upstream /openai=https://api.openai.com --upstream /anthropic=https://api.anthropic.com
    """
    try:
        from promptlint_proxy.master import serve
    except ImportError as error:
        raise PromptlintError(
            f"the proxy needs its extra: pip install 'promptlint-prefix[proxy]' ({error.name})"
        ) from None
    serve(settings_of(configuration(config, isolated=isolated), options), announce)


def configuration(path: Path | None, *, isolated: bool) -> ProxySettings:
    """The settings of the file that is named, else of the first one here that has a proxy table."""
    from promptlint_proxy.settings import ProxySettings, read_settings

    if path is not None:
        return read_settings(path)
    found = [] if isolated else [Path(name) for name in CONFIGURATION if Path(name).is_file()]
    return read_settings(found[0]) if found else ProxySettings()


def settings_of(base: ProxySettings, options: Mapping[str, Any]) -> ProxySettings:
    """Options that were given win over the file."""
    from promptlint_proxy.settings import parse_bytes

    given = {name: value for name, value in options.items() if value is not None and value is not False and value != ()}
    if options.get("record_text") is False:
        given["record_text"] = False
    actions = replace(
        base.actions,
        cap_output_tokens=given.pop("cap_output", None) or base.actions.cap_output_tokens,
        **{name: given.pop(name, False) or getattr(base.actions, name) for name in _ACTIONS},
    )
    if "kv_pool_bytes" in given:
        given["kv_pool_bytes"] = parse_bytes(given["kv_pool_bytes"])
    if given.pop("forward", False):
        given["mode"] = "forward"
    return replace(base, actions=actions, **given)


_ACTIONS = ("refuse_unbounded", "ask_usage", "sort_tools", "add_markers")


def announce(sidecar: Sidecar) -> None:
    """Say where things are, once clients can connect."""
    host, port = sidecar.listen_address
    upstreams = sidecar.routes.upstreams
    click.echo(f"promptlint proxy listens on http://{host}:{port}", err=True)
    for upstream in upstreams:
        asked = upstream.prefix or upstream.asked_host or "/"
        click.echo(f"  {asked} → {upstream.scheme}://{upstream.host_header}{upstream.base}", err=True)
    if sidecar.analyst.metrics_address:
        click.echo(f"  metrics on http://{sidecar.analyst.metrics_address}/metrics", err=True)
    if host not in ("127.0.0.1", "::1", "localhost"):
        click.echo(
            "  reachable from other machines: whoever connects uses the upstream with the keys they send", err=True
        )
