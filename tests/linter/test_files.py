"""Which files are found: git-aware, excludes, links, what is named one by one."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from promptlint_core.errors import PromptlintError
from promptlint_linter.check import check
from promptlint_linter.config import Config, load_config
from promptlint_linter.files import find_files


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")


def found(folder: Path, config: Config | None = None, *paths: str, **options: bool) -> list[str]:
    named = [Path(path) for path in paths] or [folder]
    return [target.shown for target in find_files(named, config or Config(root=folder), **options).targets]


def test_a_folder_gives_the_files_that_have_a_reader_sorted(folder: Path) -> None:
    write(folder, "b.py", "a/c.py", "a/notes.csv", "n.ipynb", "t.j2", "prompts/x.md", "README.md", "k.yaml")

    assert found(folder) == ["a/c.py", "b.py", "k.yaml", "n.ipynb", "prompts/x.md", "t.j2"]


@pytest.mark.parametrize("name", ["node_modules", ".venv", "build", "__pycache__", ".git", "site-packages"])
def test_folders_of_other_peoples_code_are_left_out(folder: Path, name: str) -> None:
    write(folder, f"{name}/lib.py", f"deep/{name}/lib.py", "mine.py")

    assert found(folder) == ["mine.py"]


def test_gitignore_files_are_respected_from_the_top_of_the_repository_down(folder: Path) -> None:
    (folder / ".gitignore").write_text("*.gen.py\n/top.py\n")
    write(folder, "top.py", "sub/top.py", "sub/x.gen.py", "sub/keep.gen.py", "sub/inner/y.py")
    (folder / "sub" / ".gitignore").write_text("!keep.gen.py\ninner/\n")

    assert found(folder) == ["sub/keep.gen.py", "sub/top.py"]
    assert found(folder, None, "sub") == ["sub/keep.gen.py", "sub/top.py"]


def test_gitignore_can_be_left_aside(folder: Path) -> None:
    (folder / ".gitignore").write_text("*.py\n")
    write(folder, "a.py")

    assert found(folder) == []
    assert found(folder, Config(root=folder, respect_gitignore=False)) == ["a.py"]


def test_excludes_take_patterns_and_add_to_the_defaults(folder: Path) -> None:
    write(folder, "a.py", "gen/b.py", "x/gen/c.py", "x/d_pb2.py", ".venv/e.py")

    assert found(folder, Config(root=folder, extend_exclude=("/gen", "*_pb2.py"))) == ["a.py", "x/gen/c.py"]


def test_a_file_named_by_the_user_is_linted_although_excluded_unless_excludes_are_forced(folder: Path) -> None:
    write(folder, "gen/b.py")
    config = Config(root=folder, extend_exclude=("gen",))

    assert found(folder, config, "gen/b.py") == ["gen/b.py"]
    assert found(folder, config, "gen/b.py", force_exclude=True) == []


def test_an_excluded_folder_that_the_user_names_is_walked(folder: Path) -> None:
    write(folder, "node_modules/lib/a.py", "node_modules/lib/node_modules/b.py")

    assert found(folder, None, "node_modules/lib") == ["node_modules/lib/a.py"]
    for pattern in ("node_modules/lib", "node_modules/lib/", "node_modules/**"):
        config = Config(root=folder, exclude=(pattern,))
        assert found(folder, config, "node_modules/lib")[0] == "node_modules/lib/a.py"


def test_an_ignored_folder_that_the_user_names_is_walked(folder: Path) -> None:
    (folder / ".gitignore").write_text("out/\n")
    write(folder, "out/deep/a.py")

    assert found(folder) == []
    assert found(folder, None, "out") == found(folder, None, "out/deep") == ["out/deep/a.py"]


def test_a_file_is_found_once_however_often_it_is_named(folder: Path) -> None:
    write(folder, "a.py")

    assert found(folder, None, ".", "a.py", "./a.py") == ["a.py"]


def test_a_text_file_named_by_the_user_is_a_prompt_whatever_its_name(folder: Path) -> None:
    write(folder, "notes.md")

    assert found(folder) == []
    assert found(folder, None, "notes.md") == ["notes.md"]


def test_the_configuration_names_more_prompt_files(folder: Path) -> None:
    write(folder, "texts/greeting.html", "texts/other.html")

    assert found(folder, Config(root=folder, prompt_files=("texts/greeting.*",))) == ["texts/greeting.html"]


def test_links_to_folders_are_not_followed_and_links_to_files_are(folder: Path) -> None:
    write(folder, "real/a.py")
    (folder / "loop").symlink_to(folder)
    (folder / "link.py").symlink_to(folder / "real" / "a.py")
    (folder / "nowhere.py").symlink_to(folder / "gone.py")

    assert found(folder) == ["link.py", "real/a.py"]


def test_a_link_that_goes_round_in_a_circle_is_told(folder: Path) -> None:
    (folder / "a.py").symlink_to(folder / "b.py")
    (folder / "b.py").symlink_to(folder / "a.py")
    write(folder, "c.py")

    result = find_files([folder], Config(root=folder))

    assert [target.shown for target in result.targets] == ["c.py"]
    assert [(p.place.path, "circle" in p.message) for p in result.problems] == [("a.py", True), ("b.py", True)]


def test_a_circle_that_is_named_is_told(folder: Path) -> None:
    link = folder / "round.py"
    link.symlink_to(link)

    result = find_files([link], load_config(link, isolated=True))

    assert result.targets == ()
    assert [p.message for p in result.problems] == ["cannot read the file: the symbolic link goes round in a circle"]


def test_a_path_that_does_not_exist_is_a_clear_sentence(folder: Path) -> None:
    with pytest.raises(PromptlintError, match=r"gone\.py: no such file or directory"):
        find_files([Path("gone.py")], Config(root=folder))


def test_a_pattern_that_is_none_is_a_clear_sentence(folder: Path) -> None:
    for wrong in ("!", "[z-a]", "back\\"):
        with pytest.raises(PromptlintError, match=re.escape(f"not a pattern: {wrong!r}")):
            find_files([folder], Config(root=folder, extend_exclude=("*.md", wrong)))


def test_a_line_of_a_gitignore_that_is_no_pattern_leaves_the_others_in_force(folder: Path) -> None:
    (folder / ".gitignore").write_text("[z-a]\n!\nout/\n[[:alpha:]].py\n")
    (folder / "out").mkdir()
    for name in ("out/a.py", "kept.py"):
        (folder / name).touch()

    assert [target.shown for target in find_files([folder], Config(root=folder)).targets] == ["kept.py"]


def test_a_name_that_is_not_utf_8_is_shown_and_linted_and_kept(folder: Path) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    try:
        (folder / name).write_text("import openai\nopenai.chat.completions.create(messages=[])\n")
    except OSError:
        pytest.skip("this file system takes UTF-8 alone")

    first, again = (check([folder], Config(root=folder)) for _ in range(2))

    assert {finding.path for finding in first.findings} == {"caf\\xe9.py"}
    assert again == first
