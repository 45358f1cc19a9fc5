"""One line of JSON on standard error for each new fault, at a bounded rate."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from typing import TextIO

from promptlint_rules.base import WireFinding

LINES_PER_MINUTE = 30
WINDOW_S = 60.0


class FindingsLog:
    """Says what is new; what is beyond the rate is counted and told with the next line."""

    def __init__(
        self,
        out: TextIO | None = None,
        lines_per_minute: int = LINES_PER_MINUTE,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.suppressed = 0
        self._out = out
        self._lines_per_minute = lines_per_minute
        self._clock = clock
        self._wall = wall
        self._window_began_s = clock()
        self._lines = 0

    def take(self, findings: Iterable[WireFinding]) -> None:
        for finding in findings:
            now_s = self._clock()
            if now_s - self._window_began_s >= WINDOW_S:
                self._window_began_s, self._lines = now_s, 0
            if self._lines >= self._lines_per_minute:
                self.suppressed += 1
                continue
            self._lines += 1
            line = document_of(finding) | {"at": round(self._wall(), 3)}
            if self.suppressed:
                line["suppressed_before"] = self.suppressed
                self.suppressed = 0
            out = self._out or sys.stderr
            out.write(json.dumps({"event": "finding", **line}, ensure_ascii=False) + "\n")
            out.flush()


def document_of(finding: WireFinding) -> dict[str, object]:
    """A finding as it is logged and served."""
    return {
        "rule": finding.rule,
        "name": finding.name,
        "severity": str(finding.severity),
        "message": finding.message,
        "path": finding.path,
        "group": finding.group,
        "tokens_behind": finding.tokens_behind,
        "exchanges": len(finding.exchanges),
    }
