"""A llama.cpp server in a process of its own, for as long as a test needs it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LIFE_S = 240
"""No test takes nearly as long: a server that hangs is killed, and its test fails on the cut connection."""
_STARTS = 3
_END_S = 10


@contextmanager
def llama_cpp_server(model: Path, context_tokens: int) -> Iterator[str]:
    """Serve a GGUF file on a free port of the loopback; yields the address. Nothing is left running behind it."""
    process, address = _started(model, context_tokens)
    deadline = threading.Timer(LIFE_S, process.kill)
    deadline.daemon = True
    deadline.start()
    try:
        yield address
    finally:
        deadline.cancel()
        _end(process)


def _started(model: Path, context_tokens: int) -> tuple[subprocess.Popen[str], str]:
    """Another process may take the free port before the server does: then it is started again."""
    script = Path(__file__).with_name("llama_cpp_server.py")
    for _ in range(_STARTS):
        process = subprocess.Popen(
            [sys.executable, str(script), str(model), str(context_tokens)],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        deadline = threading.Timer(LIFE_S / _STARTS, process.kill)
        deadline.daemon = True
        deadline.start()
        address = next((line.split()[1] for line in process.stdout if line.startswith("address ")), None)
        deadline.cancel()
        if address is not None:
            return process, address
        _end(process)
    raise AssertionError(f"llama.cpp's server did not start: python {script} {model} {context_tokens}")


def _end(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
