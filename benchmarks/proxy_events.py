"""Stream events a second on one core: many streams at once, an event at a time, 5 ms apart.

    python benchmarks/proxy_events.py [--streams 40] [--seconds 4]

The rate that one core carries = events ÷ processor time of the proxy; the analysis runs in a process of its own and is
told apart.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from proxy_load import child_of, cpu_s, generate, promptlint_proxy, upstream

GAP_S = 0.005


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args()
    events = int(options.seconds / GAP_S)
    with upstream(events, GAP_S) as direct, promptlint_proxy(direct, None) as (port, _, process_id):
        analysis_id = child_of(process_id)
        before_s, analysis_before_s = cpu_s(process_id), cpu_s(analysis_id)
        load = generate(port, options.streams, clients=options.streams)
        used_s = cpu_s(process_id) - before_s
        time.sleep(2)
        analysis_s = cpu_s(analysis_id) - analysis_before_s
    print(f"{load.events} events in {load.seconds:.1f} s: {load.events_per_s:.0f} a second through the proxy")
    print(f"proxy {used_s:.2f} s of one core: {load.events / used_s:.0f} events a second and core")
    print(f"analysis {analysis_s:.2f} s: {analysis_s / load.events * 1e6:.0f} µs an event")


if __name__ == "__main__":
    main()
