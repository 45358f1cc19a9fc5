"""Serves a GGUF file with llama.cpp's own server until its standard input ends; prints the address first.

Usage: python llama_cpp_server.py MODEL.gguf CONTEXT_TOKENS
"""

from __future__ import annotations

import os
import socket
import sys

import xllamacpp


def main(model: str, context_tokens: str) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx = int(context_tokens)
    params.n_parallel = 1
    params.warmup = False
    params.verbosity = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # tests run beside each other
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        params.port = free.getsockname()[1]
    server = xllamacpp.Server(params)
    print(f"address {server.listening_address}", flush=True)
    sys.stdin.read()
    os._exit(0)  # the server's threads would keep the process


if __name__ == "__main__":
    main(*sys.argv[1:])
