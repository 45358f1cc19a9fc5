"""Memory of the proxy and of its analysis over many requests of many tenants.

python benchmarks/proxy_memory.py [--requests 100000]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from proxy_load import child_of, generate, promptlint_proxy, resident_mib, upstream

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    options = parser.parse_args()
    step = options.requests // STEPS
    with (
        tempfile.TemporaryDirectory() as folder,
        upstream(events=10) as direct,
        promptlint_proxy(direct, Path(folder)) as (port, metrics_port, process_id),
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
