"""What all tests share: nothing of the user's environment or cache reaches them, and chance does not decide."""

from __future__ import annotations

from pathlib import Path

import pytest
from random_examples import load_profile

load_profile()


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Results are cached in a folder of the test run, and colours are not asked for."""
    monkeypatch.setenv("PROMPTLINT_RESULTS_DIR", str(tmp_path_factory.getbasetemp() / "results"))
    for name in ("NO_COLOR", "FORCE_COLOR", "PROMPTLINT_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the working directory and looks like the top of a repository."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path
