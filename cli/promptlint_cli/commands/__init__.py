"""One file a command. `COMMANDS` is the table of contents of the tool, in the order that `--help` shows."""

from __future__ import annotations

COMMANDS: dict[str, str] = {
    "check": "Find prompts that break the prefix cache in source (the default command).",
    "proxy": "Run a sidecar between clients and a model server: metrics, findings, records.",
    "replay": "Analyse recorded traffic: what the cache could and did give back, and what stopped it.",
    "top": "Watch a running proxy: groups, hit rates, TTFT and ITL, worst divergences.",
    "show": "Show prompts as strips of segments, with the place where a cache stops.",
    "rule": "Print the page of a rule.",
    "rules": "List all rules.",
    "config": "Show the effective configuration and where each value came from.",
    "completion": "Print the completion script of a shell.",
    "report": "What a week of traffic cost, what was missed, and which line to change.",
    "kv": "KV memory of a model: bytes per token and request, and what fits on a GPU.",
    "simulate": "What-ifs: a workload on a modelled engine: latency, hits, KV use, preemptions.",
    "demo": "All of it on this machine: example application, simulated server, proxy, report.",
    "docs": "Write the generated pages of the documentation.",
}
"""Name of a command to its one-line help. The command is the object `command` in the module of that name."""
