"""Engines that are started in Python, judged by the rules of serving."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptlint_linter.check import check_text
from promptlint_linter.config import Config

FOUND = {
    "vLLM's class": ("from vllm import LLM\nllm = LLM(model='m', enable_prefix_caching=False)\n", ["KV701"]),
    "vLLM's arguments": (
        "from vllm.engine.arg_utils import AsyncEngineArgs\nargs = AsyncEngineArgs(gpu_memory_utilization=0.98)\n",
        ["KV702"],
    ),
    "in a function, by a constant": (
        "from vllm import LLM\nSHARE = 0.99\ndef start():\n    return LLM('m', gpu_memory_utilization=SHARE)\n",
        ["KV702"],
    ),
    "SGLang's engine": ("import sglang as sgl\ne = sgl.Engine(model_path='m', disable_radix_cache=True)\n", ["KV701"]),
    "TensorRT-LLM": (
        "from tensorrt_llm.llmapi import KvCacheConfig\nc = KvCacheConfig(enable_block_reuse=False)\n",
        ["KV701"],
    ),
    "more requests than the configured GPU holds": (
        "from vllm import LLM\nllm = LLM('x', model='Llama-3.1-8B', max_model_len=131072, max_num_seqs=64)\n",
        ["KV703"],
    ),
    "a value that is not written out": (
        "import os\nfrom vllm import LLM\nllm = LLM(model='m', gpu_memory_utilization=float(os.environ['SHARE']))\n",
        [],
    ),
    "another library's engine": ("from game import Engine\ne = Engine(gpu_memory_utilization=0.99)\n", []),
    "the defaults": ("from vllm import LLM\nllm = LLM(model='m', gpu_memory_utilization=0.9)\n", []),
}


@pytest.mark.parametrize(("text", "expected"), FOUND.values(), ids=FOUND)
def test_settings_in_python(text: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = Config(root=tmp_path, cache=False, gpu="H100")

    assert expected == [finding.rule for finding in check_text(text.encode(), Path("serve.py"), config).findings]
