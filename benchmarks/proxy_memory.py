"""Memory of the proxy and of its analysis over many requests of many tenants.

python benchmarks/proxy_memory.py [--requests 100000] [--direct]

Without `--direct` a real proxy is driven over sockets, and both of its processes are measured. With it the captures are
handed to the analysis in this process, with the times they would have had and no waiting: 100,000 requests then take
minutes of processor time. Its traffic is made to fill every table: five providers, 90 models, 300 templates with no
text in common, 3,000 routing keys, 25,000 conversations of four turns; records are written and sealed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import os
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from proxy_load import child_of, generate, promptlint_proxy, resident_mib, upstream

from promptlint_proxy.analyst import Analyst
from promptlint_proxy.capture import Finished, Started
from promptlint_proxy.settings import ProxySettings

STEPS = 10
FILLER = "The cache gives back everything up to the first byte that changed. "


def body(number: int) -> bytes:
    """Thousands of tenants with prompts of their own, so that every table of the analysis fills up."""
    system = f"You serve tenant {number % 4001}. Reference {number}. {FILLER * (10 + number % 7)}"
    turn = [{"role": "system", "content": system}, {"role": "user", "content": f"question {number}"}]
    return json.dumps({"model": f"m{number % 90}", "stream": True, "max_tokens": 50, "messages": turn}).encode()


def wait_until_analysed(metrics_port: int) -> int:
    """Returns the analyses that were dropped so far."""
    while True:
        with urllib.request.urlopen(f"http://127.0.0.1:{metrics_port}/healthz", timeout=30) as answer:
            health = json.load(answer)
        if not health["queue_depth"]:
            return int(health["dropped"])
        time.sleep(0.2)


NAMES = [f"{first}{second}{third}" for first in "bdfghklm" for second in "aeiou" for third in ("ndor", "rtil", "lvem")]
PROVIDERS = (
    ("vllm:8000", "llama-{}"),
    ("api.openai.com", "gpt-4o-{}"),
    ("api.anthropic.com", "claude-sonnet-4-6"),
    ("api.mistral.ai", "mistral-large"),
    ("api.deepseek.com", "deepseek-chat"),
)
USAGE = {
    "prompt_tokens": 300,
    "completion_tokens": 20,
    "prompt_tokens_details": {"cached_tokens": 64},
    "input_tokens": 100,
    "output_tokens": 20,
    "cache_read_input_tokens": 200,
    "cache_creation_input_tokens": 0,
}


def words(seed: int, count: int) -> str:
    """Words that another seed does not give in this order."""
    return " ".join(
        NAMES[(seed * 7919 + n * (seed % 113 + 1)) % len(NAMES)] + ". " * (n % 9 == 8) for n in range(count)
    )


def conversation_turn(number: int) -> tuple[str, str, bytes]:
    """(host, path, body) of one request."""
    conversation, turn = divmod(number, 4)
    host, model = PROVIDERS[conversation % len(PROVIDERS)]
    messages = [{"role": "user", "content": f"{words(conversation, 20)} {conversation}?"}]
    for n in range(turn):
        messages.append({"role": "assistant", "content": f"{words(conversation + n, 15)} {number - turn + n}."})
        messages.append({"role": "user", "content": f"{words(number, 15)} {n}?"})
    system = words(conversation % 300 + 200_000, 120)
    told: dict[str, object] = {"model": model.format(conversation % 90), "max_tokens": 50}
    if host == "api.anthropic.com":
        block = {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
        return host, "/v1/messages", json.dumps(told | {"system": [block], "messages": messages}).encode()
    told |= {"prompt_cache_key": f"key-{conversation % 3000}"}
    return (
        host,
        "/v1/chat/completions",
        json.dumps(told | {"messages": [{"role": "system", "content": system}, *messages]}).encode(),
    )


def answer(path: str, number: int) -> bytes:
    text = f"{words(number, 15)} {number}."
    if path == "/v1/messages":
        content = [{"type": "text", "text": text}]
        told: dict[str, object] = {"type": "message", "role": "assistant", "content": content}
    else:
        told = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    return json.dumps(told | {"usage": USAGE}).encode()


def direct(requests: int) -> None:
    """The analysis alone, in this process."""
    headers = (("content-type", "application/json"),)
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        analyst = Analyst(ProxySettings(store=Path(folder) / "store", metrics_listen="off", upstream=("http://a",)))
        print("| requests | analysis MiB | compared requests | caches MB | ms of processor time each |")
        print("|---|---|---|---|---|")
        began_s = time.process_time()
        for number in range(requests):
            host, path, data = conversation_turn(number)
            started_at = 1_790_000_000.0 + number / 20
            analyst.take(Started(str(number), started_at, "POST", host, path, (("host", host), *headers), data))
            chunks = [(0.1, answer(path, number))]
            analyst.take(Finished(str(number), 200, headers, chunks, first_byte_s=0.1, e2e_s=0.2))
            if number % 200 == 199:
                analyst.tick()
            if (number + 1) % (requests // STEPS) == 0:
                each_ms = (time.process_time() - began_s) / (requests // STEPS) * 1000
                began_s = time.process_time()
                compared, kept_bytes = analyst.analysis.kept
                sizes = f"{resident_mib(os.getpid()):.0f} | {compared} | {kept_bytes / 1e6:.0f}"
                print(f"| {number + 1} | {sizes} | {each_ms:.2f} |", flush=True)
        analyst.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--direct", action="store_true", help="hand captures to the analysis, without sockets")
    options = parser.parse_args()
    if options.direct:
        direct(options.requests)
        return
    step = options.requests // STEPS
    with (
        tempfile.TemporaryDirectory() as folder,
        upstream(events=10) as canned,
        promptlint_proxy(canned, Path(folder)) as (port, metrics_port, process_id),
    ):
        analysis_id = child_of(process_id)
        print("| requests | proxy MiB | analysis MiB | dropped |")
        print("|---|---|---|---|")
        for number in range(STEPS):
            generate(port, range(number * step, (number + 1) * step), body_of=body)
            dropped = wait_until_analysed(metrics_port)
            sizes = f"{resident_mib(process_id):.0f} | {resident_mib(analysis_id):.0f}"
            print(f"| {(number + 1) * step} | {sizes} | {dropped} |", flush=True)


if __name__ == "__main__":
    main()
