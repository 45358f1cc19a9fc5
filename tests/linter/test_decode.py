"""Bytes to text as the compiler would read them, and sentences for the rest."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

import pytest

from promptlint_linter.decode import Encoded, as_source, decode, read_source
from promptlint_linter.sources.unit import Problem

READ = {
    "plain": (b"x = '\xc3\xa4'", "x = 'ä'"),
    "mark": (codecs.BOM_UTF8 + b"x", "x"),
    "PEP 263": (b"# -*- coding: latin-1 -*-\nx = '\xe4'", "# -*- coding: latin-1 -*-\nx = 'ä'"),
    "PEP 263 behind a shebang": (
        b"#!/usr/bin/python\n# coding=cp1251\n'\xe4'",
        "#!/usr/bin/python\n# coding=cp1251\n'д'",
    ),
    "no declaration on a third line": (b"#\n#\n# coding: latin-1\n'\xc3\xa4'", "#\n#\n# coding: latin-1\n'ä'"),
    "no declaration behind code": (b"x = 1\n# coding: latin-1\n'\xc3\xa4'", "x = 1\n# coding: latin-1\n'ä'"),
    "line ends": (b"a\r\nb\rc\n", "a\nb\nc\n"),
    "empty": (b"", ""),
}


@pytest.mark.parametrize(("data", "text"), READ.values(), ids=READ.keys())
def test_python_is_decoded_as_the_compiler_would(data: bytes, text: str) -> None:
    decoded = decode(data, "a.py", python=True)

    assert isinstance(decoded, Encoded)
    assert as_source(decoded, "a.py").text == text


PROBLEMS = {
    "not UTF-8": (b"a\nb = '\xe4'\n", 2, "not UTF-8"),
    "NUL byte": (b"a\n\nb\0", 3, "NUL byte"),
    "unknown encoding": (b"# coding: klingon\n", 1, "unknown source encoding 'klingon'"),
    "no text encoding": (b"# coding: base64\n'\xff'", 1, "unknown source encoding 'base64'"),
    "UTF-16 source": ("x".encode("utf-16"), 1, "UTF-16 is no source encoding"),
    "UTF-32 source": ("x".encode("utf-32"), 1, "UTF-32 is no source encoding"),
}


@pytest.mark.parametrize(("data", "line", "sentence"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_what_cannot_be_decoded_is_told_with_its_line(data: bytes, line: int, sentence: str) -> None:
    problem = decode(data, "a.py", python=True)

    assert isinstance(problem, Problem)
    assert (problem.place.path, problem.place.line) == ("a.py", line)
    assert sentence in problem.message


def test_other_text_may_be_utf_16_with_a_mark() -> None:
    decoded = decode("Ärger".encode("utf-16"), "a.md", python=False)

    assert isinstance(decoded, Encoded)
    assert decoded.text == "Ärger"


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    problem = read_source(tmp_path, "folder.py", 10**9)

    assert isinstance(problem, Problem)
    assert "cannot read the file" in problem.message


def test_a_pipe_is_told_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")

    problem = read_source(tmp_path / "pipe.py", "pipe.py", 10**9)

    assert isinstance(problem, Problem)
    assert "no regular file" in problem.message
