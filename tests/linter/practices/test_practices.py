"""What code does around its prompts is told; what looks like it and is harmless is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from promptlint_linter.check import check_text
from promptlint_linter.config import Config
from promptlint_rules.base import Severity

DATA = Path(__file__).parents[2] / "data" / "practices"


def sections(name: str) -> dict[str, str]:
    """The code blocks of a data file by their headings."""
    text = (DATA / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^## ([^\n]+)\n\n```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


FAULTY = sections("faulty.md")
HARMLESS = sections("harmless.md")


def rules_of(code: str, folder: Path) -> dict[str, Severity]:
    """The rules that find something, with a severity each."""
    config = Config(root=folder, min_severity=Severity.INFO, cache=False)
    outcome = check_text(code.encode(), folder / "app.py", config)
    return {finding.rule: finding.severity for finding in outcome.findings}


@pytest.mark.parametrize("what", FAULTY)
def test_a_faulty_practice_is_told(what: str, tmp_path: Path) -> None:
    assert what.split(" ", 1)[0] in rules_of(FAULTY[what], tmp_path)


@pytest.mark.parametrize("what", HARMLESS)
def test_a_harmless_practice_is_not_told(what: str, tmp_path: Path) -> None:
    told = rules_of(HARMLESS[what], tmp_path)

    assert [rule for rule, severity in told.items() if severity is not Severity.INFO] == []
