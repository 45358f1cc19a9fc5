"""Hits of vLLM itself on the CPU against our model of its block pool: shared heads, replayed answers, evictions."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from promptlint_core.prefix_caches.block_hashes import chain
from promptlint_core.prefix_caches.vllm_blocks import VllmBlocks

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("vllm") is None, reason="vLLM is not installed"),
]
MODEL = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 2, "vocab_size": 512,
    "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 32,
    "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "torch_dtype": "bfloat16", "bos_token_id": 1, "eos_token_id": 2,
    "hidden_act": "silu", "max_position_embeddings": 4096,
}  # fmt: skip
BLOCKS = 14


def asks() -> list[tuple[list[int], int]]:
    """Prompts that share heads of any length with earlier ones, longer together than the pool."""
    random_ = random.Random(7)
    heads = [[random_.randrange(3, 500) for _ in range(700)] for _ in range(3)]
    found = []
    for _ in range(40):
        shared = random_.choice((0, 100, 128, 256, 300, 500, 640))
        tail = [random_.randrange(3, 500) for _ in range(random_.choice((1, 50, 128, 200)))]
        found.append((random_.choice(heads)[:shared] + tail, random_.choice((1, 2, 60, 130))))
    whole = heads[0][:384]
    return [*found, (whole, 1), (whole, 1), (heads[0][:385], 1)]


def test_vllm_reads_what_we_predict(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(MODEL), encoding="utf-8")
    script = Path(__file__).with_name("vllm_hits.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), str(BLOCKS)],
        input=json.dumps(asks()),
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    line = next((line for line in done.stdout.splitlines() if line.startswith("HITS ")), None)
    assert line is not None, (done.stdout + done.stderr)[-3000:]
    block_size, told = json.loads(line.removeprefix("HITS "))
    cache = VllmBlocks(BLOCKS, block_size, version=(0, 32))
    predicted = []
    for number, ((prompt, _), (_, generated)) in enumerate(zip(asks(), told, strict=True)):
        whole = chain([*prompt, *generated], block_size)
        full = len(prompt) // block_size
        predicted.append(cache.start(number, whole[:full], len(prompt)))
        assert cache.grow(number, len(prompt) + len(generated) - 1, whole[full:])
        cache.finish(number)

    assert predicted == [hit for hit, _ in told]
    assert any(predicted)
    assert cache.pool.evictions > 20
