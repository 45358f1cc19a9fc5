"""Loads a GGUF file with llama.cpp's server and leaves: its log says what it allocated. Run in a process of its own.

Usage: python llama_cpp_log.py MODEL.gguf CONTEXT_TOKENS K_TYPE V_TYPE
"""

from __future__ import annotations

import os
import socket
import sys

import xllamacpp


def main(model: str, context_tokens: str, k_type: str, v_type: str) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = int(context_tokens)
    params.n_parallel = 1
    params.warmup = False
    params.verbosity = 5
    params.cache_type_k = getattr(xllamacpp.ggml_type, f"GGML_TYPE_{k_type.upper()}")
    params.cache_type_v = getattr(xllamacpp.ggml_type, f"GGML_TYPE_{v_type.upper()}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        params.port = free.getsockname()[1]
    xllamacpp.Server(params)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # the server's threads would keep the process


if __name__ == "__main__":
    main(*sys.argv[1:])
