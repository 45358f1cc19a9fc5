"""The second port: /metrics, /healthz, /findings and /overview, on loopback unless told otherwise."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, cast

from promptlint_core import __version__
from promptlint_core.errors import PromptlintError
from promptlint_proxy.capture import Pulse
from promptlint_proxy.findings_log import document_of

if TYPE_CHECKING:
    from promptlint_proxy.analyst import Analyst

SILENT_S = 5.0
"""The proxy says every second that it is alive; after this much silence it is taken for hung."""


@dataclass(slots=True)
class Status:
    """What the proxy last said of itself."""

    clock: Callable[[], float] = time.monotonic
    started_at_s: float = field(default=0.0)
    heard_at_s: float | None = field(default=None)
    """None: clients cannot connect yet."""
    pulse: Pulse = field(default_factory=Pulse)

    def __post_init__(self) -> None:
        self.started_at_s = self.clock()

    def beat(self, pulse: Pulse) -> None:
        self.pulse = pulse
        self.heard_at_s = self.clock()

    def health(self) -> tuple[int, dict[str, object]]:
        """HTTP status and document: 503 when the proxy does not listen yet, is silent or draining."""
        if self.heard_at_s is None:
            state = "starting"
        elif self.clock() - self.heard_at_s > SILENT_S:
            state = "silent"
        else:
            state = "draining" if self.pulse.draining else "ok"
        document: dict[str, object] = {
            "status": state,
            "version": __version__,
            "uptime_s": round(self.clock() - self.started_at_s, 1),
            "in_flight": self.pulse.in_flight,
            "queue_depth": self.pulse.queue_depth,
            "dropped": self.pulse.dropped,
        }
        return (200 if state == "ok" else 503), document


class MetricsServer:
    """Serves an analyst's figures from threads of its own."""

    def __init__(self, host: str, port: int, analyst: Analyst) -> None:
        self._address = (host, port)
        self._analyst = analyst
        self._server: ThreadingHTTPServer | None = None

    def start(self) -> str:
        """Listen; returns `host:port`. Raises PromptlintError when the port is taken."""
        handler = type("Handler", (_Handler,), {"analyst": self._analyst})
        try:
            self._server = _server_class(self._address[0])(self._address, handler)
        except OSError as error:
            host, port = self._address
            raise PromptlintError(f"cannot listen on {host}:{port} for metrics: {error.strerror}") from None
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        host, port = cast("tuple[str, int]", self._server.server_address[:2])
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


class _Server6(ThreadingHTTPServer):
    address_family = socket.AF_INET6


def _server_class(host: str) -> type[ThreadingHTTPServer]:
    return _Server6 if ":" in host else ThreadingHTTPServer


class _Handler(BaseHTTPRequestHandler):
    analyst: Analyst
    server_version = "promptlint"
    sys_version = ""

    def do_GET(self) -> None:
        page = self.path.partition("?")[0]
        analyst = self.analyst
        if page == "/metrics":
            with analyst.figures():
                body = analyst.metrics.exposition()
            self._send(200, "text/plain; version=0.0.4; charset=utf-8", body)
        elif page == "/healthz":
            status, document = analyst.status.health()
            self._send_json(status, document)
        elif page == "/findings":
            with analyst.figures():
                findings = [document_of(finding) for finding in analyst.analysis.findings()]
            self._send_json(200, {"version": 1, "findings": findings})
        elif page == "/overview":
            with analyst.figures():
                document = analyst.overview.document(analyst.status.health()[1])
            self._send_json(200, document)
        else:
            self._send_json(404, {"error": "try /metrics, /healthz, /findings or /overview"})

    def _send_json(self, status: int, document: dict[str, object]) -> None:
        self._send(status, "application/json", json.dumps(document).encode())

    def _send(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the base class's name
        """Scrapes are not worth a line."""
