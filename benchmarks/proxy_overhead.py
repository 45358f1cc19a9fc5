"""The proxy against mitmproxy itself with an addon that only streams, and against no proxy at all; paired in one run.

    python benchmarks/proxy_overhead.py [--rounds 3] [--requests 1500]

Prints requests per second with 2 KB and 200 KB bodies, time to first token at one request at a time, and what each
proxy adds to it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from proxy_load import generate, plain_mitmdump, promptlint_proxy, upstream


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=1500)
    options = parser.parse_args()
    rates: dict[tuple[str, int], list[float]] = {}
    ttft: dict[str, list[float]] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        upstream() as direct,
        plain_mitmdump(direct) as plain,
        promptlint_proxy(direct, Path(folder)) as (ours, _, _),
    ):
        ports = {"direct": direct, "mitmdump": plain, "promptlint": ours}
        for port in ports.values():
            generate(port, 100)
        for _ in range(options.rounds):
            for name, port in ports.items():
                for size_bytes, requests in ((2_000, options.requests), (200_000, options.requests // 10)):
                    load = generate(port, requests, size_bytes=size_bytes)
                    rates.setdefault((name, size_bytes), []).append(load.requests_per_s)
    # A stream that comes token by token: what the first event waits for in the proxy.
    with (
        tempfile.TemporaryDirectory() as folder,
        upstream(events=4, gap_s=0.002) as direct,
        plain_mitmdump(direct) as plain,
        promptlint_proxy(direct, Path(folder)) as (ours, _, _),
    ):
        ports = {"direct": direct, "mitmdump": plain, "promptlint": ours}
        for _ in range(2 * options.rounds):
            for name, port in ports.items():
                ttft.setdefault(name, []).append(generate(port, 80, clients=1).ttft_ms(0.5))
    print("| | requests/s, 2 KB | requests/s, 200 KB | TTFT p50 ms | added ms |")
    print("|---|---|---|---|---|")
    for name in ("direct", "mitmdump", "promptlint"):
        small, large = (statistics.median(rates[name, size]) for size in (2_000, 200_000))
        middle = statistics.median(ttft[name])
        added = middle - statistics.median(ttft["direct"])
        print(f"| {name} | {small:.0f} | {large:.0f} | {middle:.2f} | {added:.2f} |")


if __name__ == "__main__":
    main()
