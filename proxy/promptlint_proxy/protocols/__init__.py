"""Wire formats: bytes in; Request, Response and stream events out. One file a format; `find` tells which one it is."""

from __future__ import annotations

from promptlint_proxy.protocols.classify import PROTOCOLS, find

__all__ = ["PROTOCOLS", "find"]
