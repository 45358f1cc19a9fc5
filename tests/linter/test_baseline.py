"""Known findings are not shown until they change."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptlint_core.cadence import Evidence
from promptlint_core.errors import PromptlintError
from promptlint_linter.baseline import read_baseline, without_known, write_baseline
from promptlint_linter.reported import Reported
from promptlint_rules.base import Severity


def finding(fingerprint: str, line: int = 1) -> Reported:
    return Reported("KV101", "clock-first", Severity.ERROR, Evidence.PROVED, "m", "a.py", line, fingerprint=fingerprint)


def test_what_was_written_is_known_wherever_its_line_has_moved_to(tmp_path: Path) -> None:
    write_baseline(tmp_path / "known.json", [finding("a"), finding("b")])

    known = read_baseline(tmp_path / "known.json")

    assert without_known([finding("a", line=9), finding("b"), finding("c")], known) == [finding("c")]


def test_one_more_of_a_known_kind_is_new(tmp_path: Path) -> None:
    write_baseline(tmp_path / "known.json", [finding("a")])

    known = read_baseline(tmp_path / "known.json")

    assert without_known([finding("a", 1), finding("a", 2)], known) == [finding("a", 2)]


SENTENCES = {
    "not there": (None, "cannot read the baseline"),
    "no JSON": ("{", "is no baseline"),
    "other JSON": ("[1]", "is no baseline"),
    "other version": ('{"version": 99, "findings": []}', "baseline version 99 is not known"),
}


@pytest.mark.parametrize(("text", "sentence"), SENTENCES.values(), ids=SENTENCES.keys())
def test_a_file_that_is_no_baseline_is_told(tmp_path: Path, text: str | None, sentence: str) -> None:
    if text is not None:
        (tmp_path / "known.json").write_text(text)

    with pytest.raises(PromptlintError, match=sentence):
        read_baseline(tmp_path / "known.json")
