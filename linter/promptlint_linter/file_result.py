"""What one file gave, before anything is selected, lowered or suppressed."""

from __future__ import annotations

from dataclasses import dataclass

from promptlint_linter.reported import Reported
from promptlint_linter.suppress import Suppression


@dataclass(frozen=True, slots=True)
class FileResult:
    path: str
    findings: tuple[Reported, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    prompts: int = 0
    read: bool = False
    """False when the gate turned the file away or it could not be decoded."""
