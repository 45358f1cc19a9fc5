"""Source and traffic joined: a missed saving names its line and change, a finding its cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from report_golden import TEMPLATE, asked

from promptlint_core.sketch import sketch
from promptlint_linter.check import check
from promptlint_linter.config import Config, load_config
from promptlint_proxy.records.keys import load_key
from promptlint_report.document import Advice
from promptlint_report.join import price_findings
from promptlint_report.make import make_report
from promptlint_report.templates import find_templates, match_group

RULES = " ".join(f"Rule {n}: never promise the customer thing number {n * n}." for n in range(60))
SOURCE = f'''"""The prompts of the shop."""

from datetime import datetime


def system_prompt() -> str:
    return f"Now {{datetime.now():%H:%M:%S}}. {TEMPLATE} {RULES}"
'''
OTHER = """def translation_prompt(text: str) -> str:
    return f"You translate contracts into formal French and keep every name as it is written. {text}"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("join")
    (base / "src").mkdir()
    (base / "src" / "prompts.py").write_text(SOURCE)
    (base / "src" / "other.py").write_text(OTHER)
    return base


def _config(folder: Path) -> Config:
    return replace(load_config(folder / "src", isolated=True), cache=False)


def test_a_group_is_matched_with_its_template_and_no_other(folder: Path) -> None:
    key = load_key(folder / "keyed")
    templates = find_templates([folder / "src"], _config(folder), key)
    prompt = f"Now 10:31:07. {TEMPLATE} {RULES} Customer: where is my parcel?"

    names = [Path(match.template.path).name for match in match_group(sketch(prompt, key), templates)]

    assert set(names) == {"prompts.py"}
    assert match_group(sketch("A prompt of quite another program with other words in it.", key), templates) == []


def _asked_with_rules(folder: Path) -> object:
    """The golden week, its group g1 made of the template of the source."""
    from report_golden import write_week
    from report_traffic import at, write

    store = write_week(folder)
    text = f"Now 10:31:07. {TEMPLATE} {RULES} The customer asks where the parcel is."
    row = {"prompt_group": "g1", "updated_at": at(1), "sketch": list(sketch(text, load_key(store)))}
    write(store, "groups", [row], "later-000000")
    return store


def test_a_missed_saving_names_line_rule_and_change(folder: Path) -> None:
    store = _asked_with_rules(folder)

    report = make_report(replace(asked(folder), store=store, sources=(folder / "src",)))

    advice = [item for section in report.sections for item in section.advice]
    (found,) = [item for item in advice if item.rule == "KV101"]
    assert isinstance(found, Advice)
    assert found.place.endswith("prompts.py:7")
    assert "datetime.now" in found.diff or found.text
    table = report.table("missed")
    columns = [column.id for column in table.columns]
    rows = {(row[0], row[1]): dict(zip(columns, row, strict=True)) for row in table.rows}
    assert rows["g1", "KV101"]["source_line"] == found.place
    assert rows["g2", "KV301"]["source_line"] is None


def test_a_finding_gets_what_its_fault_cost(folder: Path) -> None:
    store = _asked_with_rules(folder)
    config = _config(folder)
    found = check([folder / "src"], config).findings

    told = price_findings(found, Path(str(store)), config, week="2026-W48").findings

    (clock,) = [finding for finding in told if finding.rule == "KV101"]
    assert clock.cost is not None
    # A1 of the golden week: 900 tokens in one request; its model has no list price
    assert (900, 1, ["g1"], "2026-W48") == tuple(clock.cost[key] for key in ("tokens", "requests", "groups", "week"))
    assert clock.cost["usd"] is None
    assert all(finding.cost is None for finding in told if finding.rule not in {"KV101", "KV501"})


def test_findings_of_templates_that_no_traffic_shows_keep_no_cost(folder: Path) -> None:
    store = _asked_with_rules(folder)
    config = _config(folder)
    other = check([folder / "src" / "other.py"], config).findings

    assert other == price_findings(other, Path(str(store)), config, week="2026-W48").findings
