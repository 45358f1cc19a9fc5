"""What vLLM on the CPU says its cache holds, against ours, from the config alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from promptlint_core.kv import geometry_from_config, paged_layout

pytestmark = [
    pytest.mark.engine,
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("vllm") is None, reason="vLLM is not installed"),
]
POOL_BYTES = 1 << 30
CPU_ALIGNMENT = 128
PRINTED = re.compile(r"KV cache size: ([\d,]+) tokens, Maximum concurrency for ([\d,]+) tokens per request: ([\d.]+)x")
BLOCKS = re.compile(r"BLOCKS (\d+) (\d+) (\d+)")
TINY = {
    "vocab_size": 512,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "torch_dtype": "bfloat16",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "hidden_act": "silu",
}
MODELS = {
    "grouped-query attention": {
        **TINY, "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 4,
        "max_position_embeddings": 4096,
    },
    "full and sliding layers": {
        **TINY, "architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text", "num_hidden_layers": 12,
        "max_position_embeddings": 8192, "sliding_window": 512, "query_pre_attn_scalar": 64,
    },
    "attention and a recurrent state": {
        **TINY, "architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "num_hidden_layers": 8,
        "max_position_embeddings": 8192, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
        "linear_key_head_dim": 64, "linear_value_head_dim": 64, "linear_conv_kernel_dim": 4, "num_experts": 4,
        "num_experts_per_tok": 2, "moe_intermediate_size": 64, "shared_expert_intermediate_size": 64,
        "decoder_sparse_step": 1, "mlp_only_layers": [], "partial_rotary_factor": 0.25,
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", MODELS)
def test_vllm_holds_as_many_tokens_as_we_say(tmp_path: Path, kind: str) -> None:
    config = MODELS[kind]
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    script = Path(__file__).with_name("vllm_log.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, timeout=400, check=False
    )
    log = done.stdout + done.stderr
    printed, blocks = PRINTED.search(log), BLOCKS.search(log)
    assert printed is not None, log[-2000:]
    assert blocks is not None, log[-2000:]
    tokens, length, concurrency = (float(number.replace(",", "")) for number in printed.groups())
    block_count, block_size, budget = map(int, blocks.groups())

    layout = paged_layout(
        geometry_from_config(config), block_size=CPU_ALIGNMENT, mamba_mode="align", alignment=CPU_ALIGNMENT
    )
    needed = layout.blocks_per_request(int(length), max_num_batched_tokens=budget)

    assert layout.block_size == block_size
    assert layout.blocks(POOL_BYTES) == block_count
    assert block_count / needed == pytest.approx(concurrency, abs=0.006)
    assert block_count * int(length) // needed == tokens
