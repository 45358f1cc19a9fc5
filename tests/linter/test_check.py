"""Whole runs over Python: modules that import each other, kept results, notebooks, and files that are hard to read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from promptlint_linter.check import check, check_text
from promptlint_linter.config import Config
from promptlint_linter.lint_file import once_a_place
from promptlint_linter.reported import PromptRef, Reported
from promptlint_rules.base import Severity

RULES = (
    "You are the help desk of a library. Answer in two sentences. Name the shelf of every book you mention. "
    "Never promise a reservation. When a book is lent out, tell the day it comes back and the nearest branch."
)
ASK = f'''\
from openai import OpenAI

from app.stamp import stamp

RULES = """{RULES}"""


def ask(question):
    messages = [{{"role": "system", "content": f"{{stamp()}} {{RULES}}"}}, {{"role": "user", "content": question}}]
    return OpenAI().chat.completions.create(model="gpt-5.4-mini", messages=messages, max_tokens=200)
'''
CLOCK = "from datetime import datetime\n\n\ndef stamp():\n    return datetime.now().isoformat()\n"
CONSTANT = "def stamp():\n    return 'library'\n"


@pytest.fixture
def app(folder: Path) -> Path:
    (folder / "app").mkdir()
    (folder / "app" / "__init__.py").touch()
    (folder / "app" / "ask.py").write_text(ASK)
    (folder / "app" / "stamp.py").write_text(CLOCK)
    return folder


def found(folder: Path, *names: str, **settings: object) -> list[tuple[str, str, int]]:
    config = Config(root=folder, jobs=1, **settings)  # type: ignore[arg-type]
    outcome = check([folder / name for name in names] or [folder], config)
    return [(finding.rule, finding.path, finding.line) for finding in outcome.findings]


def test_a_value_is_followed_into_another_module(app: Path) -> None:
    assert found(app) == [("KV101", "app/stamp.py", 5)]


def test_a_file_named_alone_sees_the_modules_of_its_project(app: Path) -> None:
    assert found(app, "app/ask.py") == [("KV101", "app/stamp.py", 5)]


def test_a_file_outside_of_any_project_sees_its_package(app: Path) -> None:
    (app / ".git").rmdir()

    assert found(app, "app/ask.py") == [("KV101", "app/stamp.py", 5)]


def test_a_kept_result_falls_when_a_module_that_it_rests_on_changes(app: Path) -> None:
    assert found(app, cache=True) == [("KV101", "app/stamp.py", 5)]

    (app / "app" / "stamp.py").write_text(CONSTANT)
    assert found(app, cache=True) == []

    (app / "app" / "stamp.py").write_text("\n" + CLOCK)
    assert found(app, cache=True) == [("KV101", "app/stamp.py", 6)]


def test_a_kept_result_is_found_without_reading_the_source_again(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = found(app, cache=True)
    monkeypatch.setattr("promptlint_linter.lint_file.read_unit", lambda *_, **__: pytest.fail("read again"))

    assert found(app, cache=True) == before


def test_a_cache_that_cannot_be_written_or_read_costs_time_only(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (app / "no-folder").write_text("a file")
    monkeypatch.setenv("PROMPTLINT_RESULTS_DIR", str(app / "no-folder"))

    assert found(app, cache=True) == [("KV101", "app/stamp.py", 5)]


def test_a_comment_in_the_module_where_the_value_is_read_counts(app: Path) -> None:
    (app / "app" / "stamp.py").write_text(CLOCK.replace("isoformat()", "isoformat()  # promptlint: ignore[KV101] demo"))

    assert found(app) == []


def test_a_module_named_alone_is_not_asked_what_its_comments_are_of_use_for(app: Path) -> None:
    """Its clock enters a prompt of another module: only a run over both can tell."""
    (app / "app" / "stamp.py").write_text(CLOCK.replace("isoformat()", "isoformat()  # promptlint: ignore[KV101] demo"))

    assert found(app, "app/stamp.py") == []
    assert found(app, "app/ask.py") == []


def notebook(*cells: str, language: str = "python", kind: str = "code") -> str:
    told = [{"cell_type": kind, "metadata": {}, "source": cell.splitlines(keepends=True)} for cell in cells]
    data = {"cells": told, "metadata": {"language_info": {"name": language}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(data, indent=1, ensure_ascii=False)


CELLS = (
    "%pip install openai\nfrom datetime import datetime\nimport openai\n",
    f'RULES = """{RULES}"""\n!ls "ä"\n',
    (
        "def ask(question):\n"
        '    system = f"Ärger: {datetime.now().isoformat()} {RULES}"\n'
        '    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]\n'
        '    return openai.OpenAI().chat.completions.create(model="m", messages=messages, max_tokens=200)\n'
    ),
)


def test_a_notebook_is_read_cell_by_cell_and_told_in_lines_of_its_file(folder: Path) -> None:
    text = notebook(*CELLS)
    (folder / "desk.ipynb").write_text(text)
    line = next(n for n, line in enumerate(text.split("\n"), 1) if "datetime.now()" in line)

    [finding] = check([folder], Config(root=folder)).findings

    assert (finding.rule, finding.path, finding.line) == ("KV101", "desk.ipynb", line)
    assert text.split("\n")[line - 1][finding.column - 1 :].startswith("datetime.now()")


@pytest.mark.parametrize("indent", ["  ", "    ", "\t"])
def test_cells_that_start_with_an_indent_run_in_notebooks(folder: Path, indent: str) -> None:
    text = notebook(*("\n".join(indent + line if line else line for line in cell.split("\n")) for cell in CELLS))
    (folder / "desk.ipynb").write_text(text)

    [finding] = check([folder], Config(root=folder)).findings

    assert finding.rule == "KV101"
    assert text.split("\n")[finding.line - 1][finding.column - 1 :].startswith("datetime.now()")


def test_a_cell_that_cannot_be_parsed_is_told(folder: Path) -> None:
    (folder / "desk.ipynb").write_text(notebook(*CELLS, "x = 1\n  y = 2\n"))

    assert [finding.rule for finding in check([folder], Config(root=folder)).findings] == ["KV901"]


@pytest.mark.parametrize(
    "text",
    [
        notebook(*CELLS, language="julia"),
        notebook(*CELLS, kind="markdown"),
        notebook(*("%%bash\n" + cell for cell in CELLS)),
    ],
    ids=["other language", "no code", "other cell language"],
)
def test_what_is_no_python_in_a_notebook_is_left_out(folder: Path, text: str) -> None:
    (folder / "desk.ipynb").write_text(text)

    assert found(folder) == []


PROMPT = 'prompt = "You are a prompt"\n'
HARD: dict[str, tuple[str, str | None]] = {
    "syntax error": (PROMPT + "def f(:\n", "KV901"),
    "syntax error without a prompt": ("def f(:\n", "KV901"),
    "template named like a module": (PROMPT + "from {{ name }} import x\n", "KV901"),
    "2,000 nested parentheses": (PROMPT + f"x = {'(' * 2000}1{')' * 2000}\n", "KV901"),
    "100,000 open brackets": (PROMPT + f"x = {'[' * 100_000}\n", "KV901"),
    "a long sum": (PROMPT + "x = " + " + ".join(['"a"'] * 3000) + "\n", None),
    "functions that call each other for ever": (
        PROMPT + "def a(x): return b(x) + prompt\ndef b(x): return a(x)\n",
        None,
    ),
    "a module that imports itself": (PROMPT + "from hard import *\nimport hard\n", None),
    "empty": ("", None),
}


@pytest.mark.parametrize(("text", "rule"), HARD.values(), ids=HARD.keys())
def test_a_file_that_is_hard_to_read_is_told_and_never_ends_the_run(folder: Path, text: str, rule: str | None) -> None:
    (folder / "hard.py").write_text(text)
    (folder / "good.py").write_text(ASK.replace("from app.stamp import stamp", "from stamp import stamp"))
    (folder / "stamp.py").write_text(CLOCK)

    told = found(folder, "hard.py", "good.py", cache=False)

    assert told == ([(rule, "hard.py", told[0][2])] if rule else []) + [("KV101", "stamp.py", 5)]


def test_modules_that_import_each_other_are_read(folder: Path) -> None:
    (folder / "a.py").write_text(PROMPT + "from b import y\nx = y + prompt\n")
    (folder / "b.py").write_text(PROMPT + "from a import x\ny = x + prompt\n")

    assert found(folder, cache=False) == []


def test_a_file_that_is_too_large_is_told_only_when_it_may_hold_a_prompt(folder: Path) -> None:
    (folder / "large.py").write_text(PROMPT + "x = 1\n" * 1000)
    (folder / "data.py").write_text("x = 1\n" * 1000)

    outcome = check([folder], Config(root=folder, max_file_bytes=1000))

    assert [(f.path, f.rule, f.severity.value) for f in outcome.findings] == [("large.py", "KV901", "warning")]
    assert "more than max-file-bytes" in outcome.findings[0].message


def test_text_that_cannot_be_decoded_is_told_for_standard_input_too(folder: Path) -> None:
    outcome = check_text(b"\xff", Path("a.py"), Config(root=folder))

    assert [f.rule for f in outcome.findings] == ["KV901"]


def told(line: int, prompt: PromptRef | None, tokens: int = 1) -> Reported:
    base = Reported("KV101", "clock-first", Severity.ERROR, "proved", "m", "a.py", line)  # type: ignore[arg-type]
    return replace(base, prompt=prompt, tokens_behind=tokens)


MADE, SENT, SENT_ELSEWHERE = PromptRef("a.py", 3), PromptRef("a.py", 9, "x.create"), PromptRef("b.py", 9, "x.create")


def test_views_of_one_prompt_tell_a_fault_once_and_several_prompts_each() -> None:
    assert once_a_place([told(1, MADE), told(1, SENT)]) == [told(1, SENT)]
    assert once_a_place([told(1, SENT, 5), told(1, SENT, 9)]) == [told(1, SENT, 9)]
    assert once_a_place([told(1, SENT), told(1, SENT_ELSEWHERE)]) == [told(1, SENT), told(1, SENT_ELSEWHERE)]
    assert once_a_place([told(1, MADE), told(2, MADE)]) == [told(1, MADE), told(2, MADE)]
