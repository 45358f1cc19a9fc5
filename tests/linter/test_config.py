"""The configuration: where it is read from, and the sentences for what is wrong in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptlint_core.cadence import Evidence
from promptlint_core.errors import PromptlintError
from promptlint_linter.config import BY_NAME, Config, load_config, override, told_values
from promptlint_rules.base import Severity


def load(folder: Path, text: str, name: str = "promptlint.toml") -> Config:
    (folder / name).write_text(text)
    return load_config(folder)


def test_the_nearest_file_above_counts(folder: Path) -> None:
    (folder / "promptlint.toml").write_text('select = ["KV1"]')
    (folder / "pkg" / "deep").mkdir(parents=True)
    (folder / "pkg" / "pyproject.toml").write_text('[project]\nname = "x"\n')

    config = load_config(folder / "pkg" / "deep")

    assert (config.select, config.root) == (("KV1",), folder)


def test_the_table_of_a_pyproject_counts_and_one_without_it_does_not(folder: Path) -> None:
    config = load(folder, '[tool.promptlint]\nmin-severity = "info"\nmin-confidence = "proved"\n', "pyproject.toml")

    assert (config.min_severity, config.min_confidence) == (Severity.INFO, Evidence.PROVED)


def test_the_search_ends_at_the_top_of_a_repository(folder: Path) -> None:
    (folder / "promptlint.toml").write_text('select = ["KV1"]')
    (folder / "inner" / ".git").mkdir(parents=True)

    assert load_config(folder / "inner") == Config(root=folder / "inner")


def test_isolated_ignores_every_file_even_a_broken_one(folder: Path) -> None:
    (folder / "promptlint.toml").write_text("this is no TOML")

    assert load_config(folder, isolated=True) == Config(root=folder)


def test_a_broken_pyproject_without_a_word_of_promptlint_is_passed_over_with_a_sentence(folder: Path) -> None:
    config = load(folder, "[tool", "pyproject.toml")

    assert config.select == ("ALL",)
    [note] = config.notes
    assert note.startswith(f"{folder / 'pyproject.toml'} is no TOML: ")


SENTENCES = {
    "unknown key, nearest offered": ('selct = ["KV1"]', "unknown key selct; did you mean select?"),
    "underscores": ("min_severity = 'info'", "unknown key min_severity; did you mean min-severity?"),
    "unknown key, none near": ("zzz = 1", "unknown key zzz; the keys are select"),
    "string for a list": ('select = "KV1"', "select must be a list of strings, not 'KV1'"),
    "numbers in a list": ("ignore = [1]", "ignore must be a list of strings, not [1]"),
    "word for a switch": ('cache = "yes"', "cache must be true or false, not 'yes'"),
    "switch for a number": ("jobs = true", "jobs must be a number"),
    "negative number": ("jobs = -1", "jobs must be a number"),
    "list for a table": ("per-file-ignores = []", "per-file-ignores must be a table of patterns"),
    "table of strings": ('per-file-ignores = {"a" = "KV1"}', "per-file-ignores must be a table of patterns"),
    "unknown severity": ('min-severity = "loud"', "min-severity must be error, warning or info, not 'loud'"),
    "observed is for traffic": ('min-confidence = "observed"', "min-confidence must be proved or named"),
    "unknown format": ('output-format = "xml"', "output-format must be one of text"),
    "no TOML": ("select = [", "is no TOML"),
    "not UTF-8": (None, "is no TOML"),
}


@pytest.mark.parametrize(("text", "sentence"), SENTENCES.values(), ids=SENTENCES.keys())
def test_what_is_wrong_is_told_in_a_sentence(folder: Path, text: str | None, sentence: str) -> None:
    path = folder / "promptlint.toml"
    path.write_bytes(b"\xff\xfe" if text is None else text.encode())

    with pytest.raises(PromptlintError) as told:
        load_config(folder)

    assert sentence in str(told.value)
    assert "promptlint.toml" in str(told.value)


def test_a_tool_table_of_another_kind_is_told(folder: Path) -> None:
    with pytest.raises(PromptlintError, match=r"tool\.promptlint must be a table"):
        load(folder, "[tool]\npromptlint = 3\n", "pyproject.toml")


def test_a_file_that_was_asked_for_must_be_there(folder: Path) -> None:
    with pytest.raises(PromptlintError, match="cannot read"):
        load_config(folder, config_file=folder / "none.toml")


def test_options_lie_over_the_file_and_each_value_knows_where_it_came_from(folder: Path) -> None:
    config = override(load(folder, 'select = ["KV1"]\nignore = ["KV105"]'), ignore=("KV101",), jobs=None)

    origins = {key.name: (value, origin) for key, value, origin in told_values(config)}

    assert origins["select"] == ('["KV1"]', str(folder / "promptlint.toml"))
    assert origins["ignore"] == ('["KV101"]', "--ignore")
    assert origins["jobs"] == ("0", "default")


def test_every_key_is_a_field_of_the_configuration() -> None:
    fields = set(Config.__dataclass_fields__) - {"root", "origins", "notes"}

    assert fields == {key.field for key in BY_NAME.values()}
