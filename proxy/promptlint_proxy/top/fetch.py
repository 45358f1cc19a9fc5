"""Asks a running proxy for its overview."""

from __future__ import annotations

import http.client
import json
from typing import Any

from promptlint_core.errors import PromptlintError
from promptlint_proxy.settings import parse_address

TIMEOUT_S = 3.0


def fetch_overview(address: str) -> dict[str, Any]:
    """The document of `/overview`. Raises PromptlintError when nobody answers there."""
    host, port = parse_address(address, "--metrics")
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", "/overview")
        document = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException) as error:
        raise PromptlintError(
            f"no proxy answers on {address} ({type(error).__name__}): is it running, and is this its --metrics-listen?"
        ) from None
    except ValueError:
        document = None
    finally:
        connection.close()
    if not isinstance(document, dict) or document.get("version") != 1:
        raise PromptlintError(f"what answers on {address} is no promptlint proxy")
    return document
