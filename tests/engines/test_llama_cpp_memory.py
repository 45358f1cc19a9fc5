"""What llama.cpp's log says it allocates for the cache, against ours, from the GGUF header alone."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytestmark = pytest.mark.engine
pytest.importorskip("xllamacpp", exc_type=ImportError)
pytest.importorskip("gguf")

from engines.tiny_gguf import TinyModel, write_tiny_gguf  # noqa: E402

from promptlint_core.kv import geometry_of, llama_cpp_memory  # noqa: E402

ALLOCATED = re.compile(r"llama_kv_cache: size =\s+([\d.]+) MiB \(\s*(\d+) cells")
MIB = 1 << 20
MODELS = {
    "llama": TinyModel(layers=8, head_dim=64),
    "windowed": TinyModel("gemma3", layers=12, head_dim=64, window_tokens=512),
}


def allocated_bytes(model: Path, context_tokens: int, k_type: str, v_type: str) -> list[float]:
    """Of the full and, where there is one, the windowed cache, as logged when the first context is made."""
    script = Path(__file__).with_name("llama_cpp_log.py")
    command = [sys.executable, str(script), str(model), str(context_tokens), k_type, v_type]
    found: list[float] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        deadline = threading.Timer(60, process.kill)
        deadline.start()
        assert process.stdout is not None
        for line in process.stdout:
            found += [float(mib) * MIB for mib, _ in ALLOCATED.findall(line)]
            if found and not line.count("llama_kv_cache"):
                break  # what follows is not about the cache; some type pairs never finish loading
        deadline.cancel()
        process.kill()
    assert found
    return found


@pytest.mark.parametrize(
    ("name", "context_tokens", "k_type", "v_type"),
    [
        ("llama", 4096, "f16", "f16"),
        ("llama", 1000, "f16", "f16"),
        ("llama", 4096, "q8_0", "q8_0"),
        ("llama", 4096, "q8_0", "q4_0"),
        ("llama", 4096, "q5_1", "iq4_nl"),
        ("windowed", 3000, "f16", "f16"),
    ],
)
def test_the_log_of_llama_cpp_agrees(tmp_path: Path, name: str, context_tokens: int, k_type: str, v_type: str) -> None:
    path = tmp_path / "tiny.gguf"
    write_tiny_gguf(path, MODELS[name])
    expected = llama_cpp_memory(geometry_of(str(path)), context_tokens, kv_dtype=f"{k_type}/{v_type}")

    logged = allocated_bytes(path, context_tokens, k_type, v_type)

    rounding = 0.006 * MIB * len(logged)
    assert abs(sum(logged) - expected.total_bytes) <= rounding
    if len(logged) == 2:
        assert abs(logged[1] - expected.windowed_bytes) <= rounding
