"""Answers of the proxy itself in the error shape that the client's SDK reads, instead of an HTML page."""

from __future__ import annotations

from contextvars import ContextVar

from mitmproxy import http
from mitmproxy.net.http.http1 import assemble_response
from mitmproxy.proxy.layers.http import _http1

from promptlint_proxy.protocols import find
from promptlint_proxy.protocols.errors import error_body

PATH_OF_ERROR: ContextVar[str | None] = ContextVar("path_of_error", default=None)
"""Path of the request whose error is being answered.

mitmproxy runs the error hook and, with no await between, the answer in one task, so a context variable that the hook
sets reaches the answer of this request and of no other.
"""

TIMEOUT_WORDS = ("timed out", "timeout")


def error_kind(message: str, *, answered: bool) -> str:
    """Our word for an error of mitmproxy: `client_closed`, `timeout`, `unreachable` or `cut`."""
    said = message.lower()
    if "client" in said and ("disconnect" in said or "closed" in said):
        return "client_closed"
    if any(word in said for word in TIMEOUT_WORDS):
        return "timeout"
    return "cut" if answered else "unreachable"


def error_status(status: int, message: str) -> int:
    """504 where the upstream took too long; mitmproxy says 502 for both."""
    return 504 if status == 502 and error_kind(message, answered=False) == "timeout" else status


def json_response(status: int, message: str, path: str) -> http.Response:
    """A whole response in the shape of the API that the path belongs to."""
    body, content_type = error_body(find("POST", "", path, {}), status, message)
    return http.Response.make(status, body, {"content-type": content_type, "server": "promptlint"})


def install() -> None:
    """Replace mitmproxy's error page for HTTP/1 clients, the only ones that this proxy offers."""

    def make_error_response(status_code: int, message: str = "") -> bytes:
        status = error_status(status_code, message)
        response = json_response(status, f"promptlint proxy: {message}", PATH_OF_ERROR.get() or "")
        response.headers["connection"] = "close"
        return bytes(assemble_response(response))

    # The page is a module function of mitmproxy without a hook (11.0 to 12.3).
    _http1.make_error_response = make_error_response
