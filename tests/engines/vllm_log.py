"""Starts vLLM on a model without weights and prints its blocks; its log says what the cache holds.

Usage: python vllm_log.py MODEL_FOLDER
"""

from __future__ import annotations

import os
import sys

os.environ["VLLM_CPU_KVCACHE_SPACE"] = "1"
os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
os.environ["HF_HUB_OFFLINE"] = "1"


def main(model: str) -> None:
    from vllm import LLM

    llm = LLM(model=model, load_format="dummy", skip_tokenizer_init=True, enforce_eager=True, dtype="bfloat16")
    config = llm.llm_engine.vllm_config
    print(
        "BLOCKS",
        config.cache_config.num_gpu_blocks,
        config.cache_config.block_size,
        config.scheduler_config.max_num_batched_tokens,
        flush=True,
    )
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
