"""Sends prompts one by one to vLLM on a model without weights and prints what each read from the prefix cache.

Usage: python vllm_hits.py MODEL_FOLDER BLOCKS < ASKS, where ASKS is a JSON list of [prompt token ids, tokens to generate]
"""

from __future__ import annotations

import json
import os
import sys

os.environ["VLLM_CPU_KVCACHE_SPACE"] = "1"
os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
os.environ["HF_HUB_OFFLINE"] = "1"


def main(model: str, blocks: str) -> None:
    from vllm import LLM, SamplingParams

    llm = LLM(
        model=model,
        load_format="dummy",
        skip_tokenizer_init=True,
        enforce_eager=True,
        dtype="bfloat16",
        num_gpu_blocks_override=int(blocks),
        max_model_len=1024,
    )
    told = []
    for prompt, generate in json.load(sys.stdin):
        params = SamplingParams(max_tokens=generate, ignore_eos=True, temperature=0, detokenize=False)
        (output,) = llm.generate([{"prompt_token_ids": prompt}], params, use_tqdm=False)
        told.append([output.num_cached_tokens, list(output.outputs[0].token_ids)])
    block_size = llm.llm_engine.vllm_config.cache_config.block_size
    print("HITS " + json.dumps([block_size, told]), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
