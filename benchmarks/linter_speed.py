"""The linter's speed: cold on one and two cores, warm, one file, and beside other linters of prompts.

    python benchmarks/linter_speed.py [TREE ...] [--rounds N] [--rivals BIN]

Without a tree, the largest packages of this environment are read. All commands run in turn, `--rounds` times over. CPU
is user and system time of the command with all its processes; memory is that of its largest process. BIN is a folder
that holds `pcdlint` and `semgrep`; semgrep gets one rule, against text formatted into a prompt.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROMPTLINT = Path(sys.executable).parent / "promptlint"
LEAST_LINES = 300_000
SEMGREP_RULE = """rules:
- id: formatted-prompt
  languages: [python]
  severity: WARNING
  message: text is formatted into a prompt
  pattern-either:
  - pattern: '{..., "content": f"...", ...}'
  - pattern: '$CLIENT.messages.create(..., system=f"...", ...)'
"""


@dataclass(frozen=True, slots=True)
class Taken:
    wall_s: float
    cpu_s: float
    peak_mib: float


def lines_of(tree: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in tree.rglob("*.py"))


def default_trees(least_lines: int) -> list[Path]:
    """The largest packages installed here that together have so many lines."""
    folder = Path(sysconfig.get_path("purelib"))
    counted = ((lines_of(path), path) for path in folder.iterdir() if (path / "__init__.py").is_file())
    chosen, lines = [], 0
    for size, path in sorted(counted, reverse=True):
        if lines >= least_lines:
            break
        chosen.append(path)
        lines += size
    return chosen


def take(command: Sequence[str], environment: dict[str, str], *, worst: int = 1) -> Taken:
    """Run one command. Exit status 1 only says that there are findings; one above `worst` raises."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if not 0 <= process.returncode <= worst:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    unit = 1024 if sys.platform == "linux" else 1024 * 1024  # KiB there, bytes on macOS
    return Taken(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit)


def commands_of(trees: Sequence[Path], rivals: Path | None, rule: Path) -> dict[str, list[str]]:
    told = list(map(str, trees))
    largest = max((path for tree in trees for path in tree.rglob("*.py")), key=lambda path: path.stat().st_size)
    check = [str(PROMPTLINT), "check", "--isolated", "--exit-zero"]
    found = {
        "cold, -j 1": [*check, "-j", "1", "--no-cache", *told],
        "cold, -j 2": [*check, "-j", "2", "--no-cache", *told],
        "warm, -j 1": [*check, "-j", "1", *told],
        "largest file, warm": [*check, str(largest)],
        "--version": [str(PROMPTLINT), "--version"],
    }
    if rivals is not None:
        found["pcdlint"] = [str(rivals / "pcdlint"), *told]
        semgrep = [str(rivals / "semgrep"), "scan", "--jobs", "1", "--metrics", "off", "--disable-version-check"]
        found["semgrep, 1 rule"] = [*semgrep, "--no-git-ignore", "--config", str(rule), *told]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", type=int, default=LEAST_LINES, help="size of the default trees")
    parser.add_argument("--rivals", type=Path, metavar="BIN")
    given = parser.parse_args()
    trees = given.trees or default_trees(given.lines)
    lines = sum(map(lines_of, trees))
    with tempfile.TemporaryDirectory() as folder:
        rule = Path(folder) / "rule.yaml"
        rule.write_text(SEMGREP_RULE)
        commands = commands_of(trees, given.rivals, rule)
        environment = {**os.environ, "PROMPTLINT_RESULTS_DIR": f"{folder}/results"}
        for warmed in ("warm, -j 1", "largest file, warm"):
            take(commands[warmed], environment)
        taken: dict[str, list[Taken]] = {name: [] for name in commands}
        for _ in range(given.rounds):  # pcdlint ends with 2 where it cannot read a file
            for name, command in commands.items():
                taken[name].append(take(command, environment, worst=1 if command[0] == str(PROMPTLINT) else 2))
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    print(f"{', '.join(tree.name for tree in trees)}: {lines:,} lines of Python; {given.rounds} rounds in turn;")
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {load:.1f}; least / median, in seconds\n")
    print(f"{'':20}{'wall':>16}{'CPU':>16}{'CPU / 100,000 lines':>21}{'memory':>10}")
    for name, runs in taken.items():
        walls, cpus = [run.wall_s for run in runs], [run.cpu_s for run in runs]
        per = f"{min(cpus) / lines * 100_000:.2f}" if name not in ("--version", "largest file, warm") else ""
        wall = f"{min(walls):.2f} / {statistics.median(walls):.2f}"
        cpu = f"{min(cpus):.2f} / {statistics.median(cpus):.2f}"
        print(f"{name:20}{wall:>16}{cpu:>16}{per:>21}{max(run.peak_mib for run in runs):>6.0f} MiB")


if __name__ == "__main__":
    main()
