"""Exit status of the command, in one place."""

from __future__ import annotations

CLEAN = 0
FINDINGS = 1
USAGE_ERROR = 2
INTERNAL_ERROR = 3
