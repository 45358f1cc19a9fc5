"""The baseline: findings that were there when promptlint came, not shown until they change."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from promptlint_core.errors import PromptlintError
from promptlint_linter.reported import Reported

VERSION = 1


def write_baseline(path: Path, findings: Iterable[Reported]) -> int:
    """Write the findings as known; returns how many they are."""
    known = [{"fingerprint": f.fingerprint, "rule": f.rule, "path": f.path, "message": f.message} for f in findings]
    data = {"version": VERSION, "findings": known}
    try:
        path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise PromptlintError(f"cannot write the baseline {path}: {error.strerror}") from error
    return len(known)


def read_baseline(path: Path) -> Counter[str]:
    """How often each fingerprint is known.

    Raises PromptlintError for a file that is not there or no baseline.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["version"] != VERSION:
            raise PromptlintError(f"{path}: baseline version {data['version']!r} is not known; write it anew")
        return Counter(str(finding["fingerprint"]) for finding in data["findings"])
    except OSError as error:
        raise PromptlintError(f"cannot read the baseline {path}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError) as error:
        raise PromptlintError(f"{path} is no baseline: write it with --write-baseline") from error


def without_known(findings: Iterable[Reported], known: Counter[str]) -> list[Reported]:
    """The findings that the baseline does not hold; a second finding of one fingerprint is new."""
    left = Counter(known)
    new = []
    for finding in findings:
        if left[finding.fingerprint] > 0:
            left[finding.fingerprint] -= 1
        else:
            new.append(finding)
    return new
