"""`promptlint check` as a user meets it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

CLOCK = (
    "It is {{ now() }}.\n" + "You are a clerk of the city library. Answer in two sentences, name the shelf. " * 4 + "\n"
)
CLEAN = "You are a clerk of the city library. Answer in two sentences, name the shelf.\nIt is {{ now() }}.\n"


@pytest.fixture
def prompts(folder: Path) -> Path:
    (folder / "prompts").mkdir()
    (folder / "prompts" / "clock.j2").write_text(CLOCK)
    (folder / "prompts" / "clean.j2").write_text(CLEAN)
    return folder


def findings(ran: Any) -> list[tuple[str, str, int, str]]:
    return [(f["rule"], f["path"], f["line"], f["severity"]) for f in json.loads(ran.out)["findings"]]


def test_the_short_form_lints_the_path(prompts: Path, run: Run) -> None:
    ran = run("prompts/", "--output-format", "concise")

    assert (ran.status, ran.out.split(": ")[0], ran.err) == (1, "prompts/clock.j2:1:10", "")


def test_without_paths_the_working_directory_is_linted(prompts: Path, run: Run) -> None:
    assert findings(run("check", "--output-format", "json")) == [("KV101", "prompts/clock.j2", 1, "error")]


def test_the_exit_status_says_clean_findings_or_wrong_use(prompts: Path, run: Run) -> None:
    assert run("check", "prompts/clean.j2").status == 0
    assert run("check", "prompts/clock.j2").status == 1
    assert run("check", "prompts/clock.j2", "--exit-zero").status == 0
    assert run("check", "gone.j2").status == 2
    assert run("check", "--unknown").status == 2
    assert run("check", "--select", "KV000").status == 2


def test_an_internal_error_is_a_sentence_and_status_3(prompts: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptlint_linter.check.find_files", lambda *_, **__: 1 / 0)

    ran = run("check", ".")

    assert ran.status == 3
    assert "internal error: ZeroDivisionError" in ran.err
    assert "Traceback" not in ran.err


def test_text_without_a_terminal_has_no_colours(prompts: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in run("prompts").out

    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("prompts").out

    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run("prompts").out


def test_rules_are_selected_and_ignored(prompts: Path, run: Run) -> None:
    assert run("prompts", "--select", "KV5,KV104").status == 0
    assert run("prompts", "--select", "KV5", "--extend-select", "clock-first").status == 1
    assert run("prompts", "--ignore", "KV101").status == 0


def test_the_configuration_of_the_project_counts_unless_isolated(prompts: Path, run: Run) -> None:
    (prompts / "pyproject.toml").write_text('[tool.promptlint]\nignore = ["KV1"]\n')

    assert run("prompts").status == 0
    assert run("prompts", "--isolated").status == 1


def test_a_wrong_configuration_is_a_sentence_and_status_2(prompts: Path, run: Run) -> None:
    (prompts / "promptlint.toml").write_text('ignroe = ["KV1"]\n')

    ran = run("prompts")

    assert ran.status == 2
    assert "unknown key ignroe; did you mean ignore?" in ran.err


def test_rules_are_ignored_for_some_files(prompts: Path, run: Run) -> None:
    (prompts / "promptlint.toml").write_text('[per-file-ignores]\n"prompts/cl*.j2" = ["clock-first"]\n')

    assert run("prompts").status == 0


@pytest.mark.parametrize(
    "place",
    [
        "tests/prompts",
        "docs/prompts",
        "benchmarks/prompts",
        "a/fixtures/prompts",
        "Shop.UnitTests/TestData/prompts",
        "releasenotes/prompts",
    ],
)
def test_tests_and_docs_are_quieter(folder: Path, run: Run, place: str) -> None:
    (folder / place).mkdir(parents=True)
    (folder / place / "a.j2").write_text(CLOCK)

    assert run(".").status == 0
    assert findings(run(".", "--min-severity", "info", "--output-format", "json"))[0][3] == "info"
    (folder / "promptlint.toml").write_text("quiet-files = []\n")
    assert run(".").status == 1


def test_standard_input_is_linted_under_the_name_that_is_given(folder: Path, run: Run) -> None:
    ran = run("check", "-", "--stdin-filename", "prompts/x.j2", "--output-format", "json", stdin=CLOCK.encode())

    assert findings(ran) == [("KV101", "prompts/x.j2", 1, "error")]


def test_standard_input_is_shown_in_the_text(folder: Path, run: Run) -> None:
    ran = run("check", "-", "--stdin-filename", "x.j2", stdin=CLOCK.encode())

    assert "1 | It is {{ now() }}." in ran.out


def test_standard_input_stands_alone(prompts: Path, run: Run) -> None:
    assert run("check", "-", "prompts").status == 2


def test_a_comment_suppresses_and_a_useless_one_is_told_and_fixed(prompts: Path, run: Run) -> None:
    (prompts / "prompts" / "clock.j2").write_text("{# promptlint: ignore[KV101] for the log #}\n" + CLOCK)
    (prompts / "prompts" / "clean.j2").write_text("{# promptlint: ignore[KV101] #}\n" + CLEAN)

    ran = run("prompts", "--output-format", "json")
    assert findings(ran) == [("KV902", "prompts/clean.j2", 1, "warning")]
    assert json.loads(ran.out)["summary"]["suppressed"] == 1

    diff = run("prompts", "--diff")
    assert (diff.status, "-{# promptlint: ignore[KV101] #}" in diff.out) == (1, True)

    fixed = run("prompts", "--fix")
    assert (fixed.status, fixed.err) == (0, "fixed 1 finding\n")
    assert (prompts / "prompts" / "clean.j2").read_text() == CLEAN
    assert run("prompts", "--diff").status == 0


def test_a_fix_of_standard_input_prints_the_text(folder: Path, run: Run) -> None:
    ran = run(
        "check", "-", "--stdin-filename", "x.j2", "--fix", stdin=b"{# promptlint: ignore[KV101] #}\n" + CLEAN.encode()
    )

    assert (ran.status, ran.out) == (0, CLEAN)


@pytest.mark.parametrize(
    ("stdin", "expected"),
    [
        (
            b"\xff\xfe" + "{# promptlint: ignore[KV101] #}\nä\n".encode("utf-16-le"),
            b"\xff\xfe" + "ä\n".encode("utf-16-le"),
        ),
        (b"\xef\xbb\xbf{# promptlint: ignore[KV101] #}\r\nx\r\n", b"\xef\xbb\xbfx\r\n"),
        (b"a\0b", None),
        (b"\xff", None),
        (b"", None),
    ],
    ids=["UTF-16", "a mark and line ends", "a NUL byte", "not UTF-8", "nothing"],
)
def test_a_fix_of_standard_input_gives_all_other_bytes_back(
    folder: Path, run_bytes: Callable[..., bytes], stdin: bytes, expected: bytes | None
) -> None:
    """An editor writes what comes back into its buffer."""
    assert run_bytes("check", "-", "--stdin-filename", "x.j2", "--fix", stdin=stdin) == (expected or stdin)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("chek", "chek is no command and no file; did you mean check?"),
        ("prox", "did you mean proxy?"),
        ("top.py", "top.py: no such file or directory"),
        ("src", "src: no such file or directory"),
    ],
)
def test_a_word_that_is_no_path_and_nearly_a_command_is_told(folder: Path, run: Run, word: str, said: str) -> None:
    ran = run(word)

    assert (ran.status, said in ran.err) == (2, True)


def test_a_path_named_nearly_like_a_command_is_linted(folder: Path, run: Run) -> None:
    (folder / "prox").mkdir()

    assert run("prox").status == 0


def test_a_broken_pyproject_that_is_another_tools_is_told_and_passed_over(prompts: Path, run: Run) -> None:
    (prompts / "pyproject.toml").write_text("[[[")

    ran = run("prompts", "--output-format", "json")
    assert findings(ran) == [("KV101", "prompts/clock.j2", 1, "error")]
    assert "is no TOML" in ran.err


def test_a_file_that_cannot_be_shown_is_told_by_the_status(prompts: Path, run: Run) -> None:
    (prompts / "broken.py").write_text("import openai\nopenai.chat.completions.create(messages=[\n")

    broken, here, good = run("show", "broken.py"), run("show", "."), run("show", "prompts/clock.j2")

    assert (broken.status, broken.out, "cannot be parsed" in broken.err) == (1, "", True)
    assert (here.status, here.err) == (2, "promptlint: .: a folder; name one file in it\n")
    assert good.status == 0


def test_a_baseline_hides_what_is_known(prompts: Path, run: Run) -> None:
    wrote = run("prompts", "--write-baseline", "known.json")
    assert (wrote.status, wrote.err) == (0, "wrote 1 finding to known.json\n")

    ran = run("prompts", "--baseline", "known.json", "--output-format", "json")
    assert (ran.status, json.loads(ran.out)["summary"]["known"]) == (0, 1)

    (prompts / "prompts" / "new.j2").write_text(CLOCK)
    assert [f[1] for f in findings(run("prompts", "--baseline", "known.json", "--output-format", "json"))] == [
        "prompts/new.j2"
    ]


def test_the_output_goes_to_a_file(prompts: Path, run: Run) -> None:
    ran = run("prompts", "--output-format", "sarif", "-o", "out/report.sarif")

    assert (ran.status, ran.out) == (1, "")
    assert json.loads((prompts / "out" / "report.sarif").read_text())["version"] == "2.1.0"


def test_statistics_count(prompts: Path, run: Run) -> None:
    assert run("prompts", "--statistics").out == "1  KV101  clock-first\n"


def test_processes_give_the_same_in_the_same_order(folder: Path, run: Run) -> None:
    (folder / "prompts").mkdir()
    for number in range(100):
        (folder / "prompts" / f"p{number}.j2").write_text(CLOCK if number % 3 else CLEAN)

    one, two = (run(".", "-j", jobs, "--no-cache", "--output-format", "json") for jobs in ("1", "2"))

    assert len(findings(one)) == 66
    assert one.out == two.out


def test_a_kept_result_is_the_same_and_a_change_is_seen(prompts: Path, run: Run) -> None:
    first, second = run("prompts", "--output-format", "json"), run("prompts", "--output-format", "json")
    assert first.out == second.out

    (prompts / "prompts" / "clock.j2").write_text("\n" + CLOCK)
    assert findings(run("prompts", "--output-format", "json"))[0][2] == 2


def test_watching_without_its_package_is_a_sentence(prompts: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "watchfiles", None)

    ran = run("prompts", "--watch")

    assert (ran.status, "install promptlint-prefix[watch]" in ran.err) == (2, True)


def test_bad_files_are_findings_and_the_rest_goes_on(prompts: Path, run: Run) -> None:
    bad = prompts / "prompts"
    (bad / "utf16.py").write_bytes("x = 'You are a prompt'".encode("utf-16"))
    (bad / "nul.py").write_bytes(b"prompt = 'You are'\0")
    (bad / "latin.py").write_bytes(b"prompt = 'You are \xe4'")
    (bad / "wrong.j2").write_text("You are the clerk. {% if x %} {{ now(")
    (bad / "wrong.ipynb").write_text('{"cells": [')
    (bad / "other.ipynb").write_text("[]")
    (bad / "wrong.yaml").write_text("a: [")
    (bad / "round.py").symlink_to(bad / "round.py")

    ran = run("prompts", "--output-format", "json")

    assert "Traceback" not in ran.err
    assert {path.removeprefix("prompts/"): rule for rule, path, _, _ in findings(ran)} == {
        "clock.j2": "KV101",
        "latin.py": "KV901",
        "nul.py": "KV901",
        "other.ipynb": "KV901",
        "round.py": "KV901",
        "utf16.py": "KV901",
        "wrong.ipynb": "KV901",
        "wrong.j2": "KV901",
        "wrong.yaml": "KV901",
    }


@pytest.mark.parametrize("name", ["x" * 300 + ".py", "x" * 300 + "/a.py"])
def test_a_path_that_cannot_even_be_looked_at_is_a_finding_and_the_rest_goes_on(
    prompts: Path, run: Run, name: str
) -> None:
    """The system refuses so long a name as it refuses a folder that may not be entered."""
    ran = run(name, "prompts", "--output-format", "json")

    assert [(rule, severity) for rule, _, _, severity in findings(ran)] == [("KV101", "error"), ("KV901", "error")]


def test_what_may_not_be_read_is_a_finding_and_the_rest_goes_on(prompts: Path, run: Run) -> None:
    (prompts / "closed").mkdir()
    (prompts / "closed" / "a.py").touch()
    (prompts / "secret.py").touch()
    (prompts / "secret.py").chmod(0)
    if os.access(prompts / "secret.py", os.R_OK):
        pytest.skip("the superuser may read everything")
    (prompts / "closed").chmod(0)
    try:
        ran = run("secret.py", "closed", "closed/a.py", "prompts", "--output-format", "json")
    finally:
        (prompts / "closed").chmod(0o700)

    assert [rule for rule, *_ in findings(ran)] == ["KV901", "KV901", "KV101", "KV901"]


def test_a_crash_on_one_file_is_a_finding_for_it(prompts: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promptlint_linter.sources.jinja.parse", lambda text: {}["tag"])

    ran = run("prompts/clean.j2", "--no-cache")

    assert ran.status == 1
    assert "internal error in the reader: KeyError: 'tag'; please report it" in ran.out


def test_a_process_that_dies_takes_only_its_file_with_it(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    from promptlint_linter import lint_file

    (folder / "prompts").mkdir()
    for number in range(100):
        (folder / "prompts" / f"p{number:02}.j2").write_text(CLOCK)
    read = lint_file.read_unit
    monkeypatch.setattr(
        lint_file, "read_unit", lambda source, *a, **k: os._exit(1) if "p42" in source.path else read(source, *a, **k)
    )

    told = findings(run(".", "-j", "2", "--no-cache", "--output-format", "json"))

    assert [(rule, path) for rule, path, _, _ in told if rule != "KV101"] == [("KV901", "prompts/p42.j2")]
    assert len(told) == 100
