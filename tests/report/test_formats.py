"""Every format holds the week's figures, and each is what its readers take."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from email import message_from_string
from email.policy import default
from pathlib import Path

import pytest
from report_golden import asked

from promptlint_report.definitions import DEFINITIONS, render_page
from promptlint_report.document import Advice, Report
from promptlint_report.make import make_report
from promptlint_report.render import FORMATS, render

ROOT = Path(__file__).parents[2]
HOSTILE = '=cmd|"<script>`x`'


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    made = make_report(asked(tmp_path_factory.mktemp("formats"), charges=True))
    advice = Advice("g1", "KV101", "system", "app/p.py:7", "480 tokens behind", "-a\n+```b```\n")
    sections = [replace(section, advice=(advice,)) if section.id == "missed" else section for section in made.sections]
    return replace(made, sections=tuple(sections))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_tells_spend_and_requests(report: Report, name: str) -> None:
    text = render(report, name)

    assert text.endswith("\n")
    if name != "focus":
        assert "KV301" in text
    assert "\x1b" not in text


def test_json_is_versioned_and_keeps_unknown_as_null(report: Report) -> None:
    data = json.loads(render(report, "json"))

    assert (1, "2026-W48") == (data["version"], data["week"])
    assert data["prices"][0]["source"] == "written for the tests"
    figures = {figure["id"]: figure for section in data["sections"] for figure in section["figures"]}
    assert figures["spend"]["value"] == pytest.approx(0.1196)
    assert figures["retrieved_share"]["before"] is None


def test_csv_has_a_line_for_every_figure(report: Report) -> None:
    lines = list(csv.DictReader(io.StringIO(render(report, "csv"))))

    assert [figure.id for _, figure in report.figures()] == [line["id"] for line in lines if not line["table"]]
    missed = [line for line in lines if line["table"] == "missed" and line["id"] == "missed_tokens"]
    assert ["3000", "900", "300", "300"] == [line["value"] for line in missed]


def test_slack_keeps_its_limits(report: Report) -> None:
    message = json.loads(render(report, "slack"))

    assert message["text"] == report.summary
    assert all(len(block.get("fields", ())) <= 10 for block in message["blocks"])


def test_teams_takes_an_adaptive_card(report: Report) -> None:
    (attachment,) = json.loads(render(report, "teams"))["attachments"]

    assert attachment["content"]["type"] == "AdaptiveCard"


def test_a_mail_has_a_subject_and_readable_text(report: Report) -> None:
    mail = message_from_string(render(report, "email"), policy=default)

    assert str(mail["Subject"]).startswith("promptlint report 2026-W48: 7 requests cost $0.12")
    assert "Missed savings" in render(report, "email")


def test_labels_of_clients_cannot_break_out(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    table = report.table("spend_by_route")
    hostile = replace(table, rows=((HOSTILE, *table.rows[0][1:]), *table.rows[1:]))
    spend = report.sections[0]
    tables = tuple(hostile if item is table else item for item in spend.tables)
    changed = replace(report, sections=(replace(spend, tables=tables), *report.sections[1:]))

    page = render(changed, "html")
    assert "<script>`x`" not in page
    assert "&lt;script&gt;" in page
    assert all(not cell.startswith("=") for row in csv.reader(io.StringIO(render(changed, "csv"))) for cell in row)
    assert '=cmd\\|"&lt;script>' in render(changed, "markdown")
    assert HOSTILE in render(changed, "terminal")


def test_a_diff_with_backquotes_stays_one_block_in_markdown(report: Report) -> None:
    text = render(report, "markdown")

    assert "````diff\n-a\n+```b```\n````" in text


def test_markdown_draws_prompts_to_scale_and_trends_in_characters(report: Report) -> None:
    text = render(report, "markdown")

    strip = "│c│fixed─────────────────────────────────────│append────────────────────│"
    assert f"g1 · openai test-model, 800 tokens\n{strip}\n" in text
    assert "  call 20 (system), fixed 480 (system), append 300 (messages)\n" in text
    assert "- Spend by day, this week `▄█▃···▁` Mon 23 to Sun 29, at most $0.07\n" in text
    assert "- Spend by day, last week `▆·····█` at most $0.02\n" in text


def test_the_terminal_without_colours_parts_segments_with_bars(report: Report) -> None:
    text = render(report, "terminal")

    assert "│fixed───" in text
    assert "Spend by day, this week  ▄█▃···▁" in text


def test_a_strip_with_a_hostile_name_stays_in_its_block(report: Report) -> None:
    sections = [
        replace(section, strips=(replace(section.strips[0], title="```\n# big"),)) if section.strips else section
        for section in report.sections
    ]

    text = render(replace(report, sections=tuple(sections)), "markdown")

    (block,) = text.split("```text\n")[1:]
    assert block.startswith("''' # big, 800 tokens\n│")


def test_a_finding_of_another_rule_is_named_beside_the_rule_of_the_wire(report: Report) -> None:
    advice = Advice("g1", "KV110", "system", "app/p.py:9", "move it", "", "KV105")
    sections = [
        replace(section, advice=(advice,)) if section.id == "missed" else section for section in report.sections
    ]
    told = replace(report, sections=tuple(sections))

    assert "**app/p.py:9** KV110, in the source KV105: move it" in render(told, "markdown")
    assert "app/p.py:9 KV110 (in the source KV105)  move it" in render(told, "terminal")
    assert "KV110, in the source KV105" in render(told, "html")


def test_the_page_needs_no_network(report: Report) -> None:
    page = render(report, "html")

    for mark in ("http://", "https://", "src=", "@import", "url("):
        assert mark not in page


def test_every_figure_and_column_is_defined(report: Report) -> None:
    shown = {figure.id for _, figure in report.figures()}
    shown |= {column.id for section in report.sections for table in section.tables for column in table.columns}

    assert sorted(shown - DEFINITIONS.keys()) == []


def test_the_page_of_definitions_is_up_to_date() -> None:
    assert render_page() == (ROOT / "docs/report-definitions.md").read_text(encoding="utf-8")
