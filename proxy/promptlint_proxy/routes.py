"""Where a request goes: one upstream, or several told apart by path prefix or by the host that was asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from promptlint_core.errors import PromptlintError

DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server that requests are sent on to."""

    scheme: str
    host: str
    port: int
    base: str = ""
    """Path that goes before the request's own; without a slash at its end."""
    prefix: str = ""
    """Requests whose path begins with it go here; it is taken off."""
    asked_host: str = ""
    """Requests for this host go here."""

    @property
    def name(self) -> str:
        """For labels: what tells this upstream from the others."""
        return self.prefix.strip("/") or self.asked_host or self.host

    @property
    def host_header(self) -> str:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return shown if self.port == DEFAULT_PORTS[self.scheme] else f"{shown}:{self.port}"

    def rewrite(self, path: str) -> str:
        """The request path with its query as the upstream knows it.

        >>> parse_upstream("/openai=https://api.openai.com/v9").rewrite("/openai/v1/models?a=1")
        '/v9/v1/models?a=1'
        """
        rest = path[len(self.prefix) :] if self.prefix else path
        if not rest.startswith("/"):
            rest = f"/{rest}"
        return f"{self.base}{rest}"


def parse_upstream(spec: str) -> Upstream:
    """`URL`, `/prefix=URL` or `host=URL`. Raises PromptlintError for anything else."""
    left, equals, url = spec.partition("=")
    if not equals or "://" in left:
        left, url = "", spec
    parts = urlsplit(url)
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise PromptlintError(
            f"--upstream {left + '=' if left else ''}…: give a URL that begins with http:// or https://"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise PromptlintError(
            f"--upstream for {parts.hostname}: give scheme, host, port and path only; keys go into the client's headers"
        )
    try:
        port = parts.port or DEFAULT_PORTS[parts.scheme]
    except ValueError:
        raise PromptlintError(f"--upstream for {parts.hostname}: the port is no number up to 65535") from None
    return Upstream(
        scheme=parts.scheme,
        host=parts.hostname,
        port=port,
        base=parts.path.rstrip("/"),
        prefix=left.rstrip("/") if left.startswith("/") else "",
        asked_host="" if left.startswith("/") else left.lower(),
    )


@dataclass(frozen=True, slots=True)
class Routes:
    """All upstreams; of several prefixes that fit the longest counts."""

    upstreams: tuple[Upstream, ...]

    def find(self, host: str, path: str) -> Upstream | None:
        """The upstream of a request by the host it asked for (with or without port) and its path; None: no route."""
        asked = host.lower()
        without_port = asked.rsplit(":", 1)[0] if not asked.endswith("]") else asked
        default: Upstream | None = None
        best: Upstream | None = None
        for upstream in self.upstreams:
            if upstream.asked_host:
                if upstream.asked_host in (asked, without_port):
                    return upstream
            elif not upstream.prefix:
                default = default or upstream
            elif _is_below(path, upstream.prefix) and (best is None or len(upstream.prefix) > len(best.prefix)):
                best = upstream
        return best or default


def _is_below(path: str, prefix: str) -> bool:
    return path.startswith(prefix) and path[len(prefix) : len(prefix) + 1] in ("", "/", "?")


def parse_routes(specs: Iterable[str]) -> Routes:
    """Raises PromptlintError when two upstreams would answer the same requests."""
    upstreams = tuple(parse_upstream(spec) for spec in specs)
    seen: set[tuple[str, str]] = set()
    for upstream in upstreams:
        key = (upstream.prefix, upstream.asked_host)
        if key in seen:
            said = upstream.prefix or upstream.asked_host or "all paths"
            raise PromptlintError(f"two upstreams for {said}: give each its own prefix (--upstream /name=URL)")
        seen.add(key)
    return Routes(upstreams)
