"""Every benchmark in its quick form: `make bench`. Ends with a table of what ran and how long it took."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).parent
QUICK: dict[str, list[str]] = {
    "linter_speed.py": ["--rounds", "1", "--lines", "100000"],
    "proxy_overhead.py": ["--rounds", "1", "--requests", "300"],
    "proxy_events.py": ["--streams", "10", "--seconds", "2"],
    "proxy_memory.py": ["--requests", "2000", "--direct"],
    "report_scale.py": ["100000"],
    "simulator.py": ["--no-calibration"],
}
NO_BENCHMARK = frozenset({"run_all.py", "proxy_load.py"})
"""This script, and the load that others run."""


def main() -> int:
    scripts = sorted(path.name for path in FOLDER.glob("*.py") if path.name not in NO_BENCHMARK)
    rows = []
    for script in scripts:
        words = [script, *QUICK.get(script, [])]
        print(f"== {' '.join(words)}", flush=True)
        start = time.perf_counter()
        ended = subprocess.run([sys.executable, str(FOLDER / script), *words[1:]], check=False)
        rows.append((" ".join(words), time.perf_counter() - start, ended.returncode))
        print(flush=True)
    width = max(len(name) for name, _, _ in rows)
    for name, seconds, status in rows:
        print(f"{name:{width}}  {seconds:7.1f} s  {'ok' if status == 0 else f'failed ({status})'}")
    return int(any(status for _, _, status in rows))


if __name__ == "__main__":
    sys.exit(main())
