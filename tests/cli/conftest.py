"""Runs the command in this process, as the shell would."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from promptlint_cli.main import main


@dataclass(frozen=True, slots=True)
class Ran:
    status: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run("check", "a.py", stdin=b"…")`."""

    def run_command(*args: str, stdin: bytes = b"") -> Ran:
        status, out, err = _ran(args, stdin, capfdbinary, monkeypatch)
        return Ran(status, out.decode(), err.decode())

    return run_command


@pytest.fixture
def run_bytes(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Callable[..., bytes]:
    """As `run`, for standard output that need not be UTF-8."""
    return lambda *args, stdin=b"": _ran(args, stdin, capfdbinary, monkeypatch)[1]


def _ran(
    args: Sequence[str], stdin: bytes, captured: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> tuple[int, bytes, bytes]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
    captured.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(args)
    return int(ended.value.code or 0), *captured.readouterr()
