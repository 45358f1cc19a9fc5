"""The embedded mitmproxy: the few of its parts that are needed, our addon, and an end that lets open streams finish.

The stock tool gives every hook to 31 addons; with these five it serves about twice the requests.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from mitmproxy import master, options
from mitmproxy.addons import core, disable_h2c, next_layer, proxyserver, tlsconfig
from mitmproxy.proxy import server as proxy_server

from promptlint_core.errors import PromptlintError
from promptlint_proxy import error_page
from promptlint_proxy.addon import PromptlintAddon
from promptlint_proxy.analyst_process import AnalystProcess
from promptlint_proxy.direct_hooks import DirectHooks
from promptlint_proxy.heartbeat import beat, wake
from promptlint_proxy.records.keys import hash_key
from promptlint_proxy.routes import Routes, parse_routes
from promptlint_proxy.settings import ProxySettings, parse_address
from promptlint_proxy.worker import Worker

logger = logging.getLogger(__name__)

SILENCE_S = 3600
"""Silence after which a connection is closed; mitmproxy's own 600 s cut long prefills and slow reasoning."""

KNOWN_HOSTS = (
    r"api\.openai\.com",
    r".*\.openai\.azure\.com",
    r".*\.cognitiveservices\.azure\.com",
    r".*\.services\.ai\.azure\.com",
    r"api\.anthropic\.com",
    r"generativelanguage\.googleapis\.com",
    r".*aiplatform\.googleapis\.com",
    r"bedrock-runtime\..*\.amazonaws\.com",
    r"api\.deepseek\.com",
    r"api\.mistral\.ai",
    r"api\.x\.ai",
    r"api\.groq\.com",
    r"api\.together\.(xyz|ai)",
    r"api\.fireworks\.ai",
    r"openrouter\.ai",
    r"api\.cohere\.com",
)
"""What forward mode reads when nothing is said: the hosts of the known APIs. All others pass through unread."""


class Sidecar(master.Master):
    """mitmproxy with our addon alone."""

    def __init__(self, settings: ProxySettings, analyst: AnalystProcess | None = None) -> None:
        super().__init__(options.Options())
        self.addons = DirectHooks(self)
        self._settings = settings
        self.analyst = analyst or AnalystProcess(settings)
        self.worker = Worker(self.analyst.send, settings.queue_messages, settings.queue_bytes)
        self.routes = parse_routes(settings.upstream)
        self.addon = PromptlintAddon(settings, self.routes, self.worker, hash_key(settings))
        self.proxyserver = proxyserver.Proxyserver()
        self._pulses: asyncio.Task[None] | None = None
        self._drain: asyncio.Task[None] | None = None
        self.addons.add(
            core.Core(),
            self.proxyserver,
            next_layer.NextLayer(),
            tlsconfig.TlsConfig(),
            disable_h2c.DisableH2C(),
            self.addon,
        )
        error_page.install()
        configure(self.options, settings, self.routes)

    @property
    def listen_address(self) -> tuple[str, int]:
        """Where clients are served, once running."""
        host, port, *_ = self.proxyserver.listen_addrs()[0]
        return host, port

    async def running(self) -> None:
        await super().running()
        for instance in self.proxyserver.servers:
            if instance.last_exception is not None:
                raise PromptlintError(f"cannot listen on {self._settings.listen}: {_reason(instance.last_exception)}")
        self.worker.start()
        self.analyst.on_end = lambda: wake(self.worker)
        self._pulses = asyncio.create_task(beat(self.addon, self.worker, self.analyst))

    async def done(self) -> None:
        if self._pulses is not None:
            self._pulses.cancel()
        await self.proxyserver.servers.update([])
        await super().done()
        await asyncio.to_thread(self.worker.close)
        await asyncio.to_thread(self.analyst.close)

    def stop(self) -> None:
        """Finish open exchanges, then leave; asked twice, leave at once."""
        if self._drain is not None:
            self.shutdown()
            return
        self._drain = asyncio.create_task(self._finish_open())

    async def _finish_open(self) -> None:
        self.addon.draining = True
        self.options.update(server=False)
        end_s = self.event_loop.time() + self._settings.drain_s
        while self.addon.counters.in_flight and self.event_loop.time() < end_s:
            await asyncio.sleep(0.05)
        self.shutdown()


def _reason(error: Exception) -> str:
    """Without mitmproxy's advice, which names options that are not ours."""
    if isinstance(error, OSError) and error.errno and error.errno > 0:
        return os.strerror(error.errno)
    return str(error).partition("\n")[0]


def configure(opts: options.Options, settings: ProxySettings, routes: Routes) -> None:
    """Tell mitmproxy what the settings ask for."""
    host, port = parse_address(settings.listen, "--listen")
    values: dict[str, object] = {
        "listen_host": host,
        "listen_port": port,
        # Five parallel calls is all that a client's HTTP/2 connection gets in front of an HTTP/1.1 upstream.
        "http2": False,
        "http3": False,
        # An upstream that is down must be an answer with status 502, not a closed connection.
        "connection_strategy": "lazy",
        "keep_host_header": True,
        "ssl_insecure": False,
    }
    if settings.upstream_ca is not None:
        values["ssl_verify_upstream_trusted_ca"] = str(settings.upstream_ca)
    if settings.ca_dir is not None:
        values["confdir"] = str(settings.ca_dir)
    if settings.mode == "forward":
        values["mode"] = ["regular"]
        values["allow_hosts"] = list(settings.intercept or KNOWN_HOSTS)
    else:
        first = routes.upstreams[0]
        shown = f"[{first.host}]" if ":" in first.host else first.host
        values["mode"] = [f"reverse:{first.scheme}://{shown}:{first.port}"]
    if "tcp_timeout" in opts:
        values["tcp_timeout"] = SILENCE_S
    else:
        proxy_server.TCP_TIMEOUT = SILENCE_S
    opts.update(**{name: value for name, value in values.items() if name in opts})


_QUERY = re.compile(r"\?[^\s'\"]*")


_SAID_BY_US = "failed to listen on"


class _WithoutQueries(logging.Filter):
    """Takes queries out of what mitmproxy itself logs: they may hold keys. What we say ourselves is not said twice."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if not message.strip() or _SAID_BY_US in message:
            return False
        record.msg = _QUERY.sub("?…", message)
        record.args = ()
        record.exc_info = None
        return True


def quiet_logs() -> None:
    """mitmproxy logs every connection; only its errors are of interest, and never their URLs."""
    logging.getLogger("mitmproxy").setLevel(logging.ERROR)
    for name in ("asyncio", "hpack", "quic", "tornado"):
        logging.getLogger(name).setLevel(logging.ERROR)
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_WithoutQueries())
    handler.setFormatter(logging.Formatter("promptlint: %(message)s"))
    logging.getLogger().handlers = [handler]


def serve(settings: ProxySettings, announce: Callable[[Sidecar], None]) -> None:
    """Run the proxy until it is told to stop. Raises PromptlintError when it cannot start."""
    check(settings)
    quiet_logs()
    run(_serve(settings, announce))


async def _serve(settings: ProxySettings, announce: Callable[[Sidecar], None]) -> None:
    sidecar = Sidecar(settings)
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, sidecar.stop)
    await asyncio.to_thread(sidecar.analyst.start)
    started = asyncio.create_task(_announce_when_listening(sidecar, announce))
    try:
        await sidecar.run()
    finally:
        started.cancel()
        sidecar.analyst.close()


async def _announce_when_listening(sidecar: Sidecar, announce: Callable[[Sidecar], None]) -> None:
    while not sidecar.proxyserver.listen_addrs():
        await asyncio.sleep(0.01)
    announce(sidecar)


def check(settings: ProxySettings) -> None:
    """Raises PromptlintError for settings that cannot work together."""
    if settings.mode not in ("reverse", "forward"):
        raise PromptlintError(f"mode {settings.mode!r}: reverse or forward")
    if settings.mode == "reverse" and not settings.upstream:
        raise PromptlintError("name the server to send requests on to: --upstream http://127.0.0.1:8000")
    if settings.mode == "forward" and settings.upstream:
        raise PromptlintError("forward mode takes no --upstream: clients say where they want to go")
    for path, what in ((settings.upstream_ca, "--upstream-ca"), (settings.tokenizer, "--tokenizer")):
        if path is not None and not Path(path).is_file():
            raise PromptlintError(f"{what} {path}: no such file")


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run on uvloop where it is there: about a third more requests a second."""
    try:
        import uvloop  # noqa: PLC0415 - not on Windows
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)
