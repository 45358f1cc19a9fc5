"""The demonstration waits for what it started, and says in one sentence what went wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from promptlint_cli.demo import processes, stages
from promptlint_cli.main import cli
from promptlint_core import exit_status
from promptlint_core.errors import PromptlintError


def overview(requests: int, in_flight: int = 0) -> dict[str, Any]:
    return {"routes": [{"requests": requests}], "health": {"in_flight": in_flight}}


@pytest.mark.parametrize(
    ("told", "requests"),
    [
        ([overview(3), overview(3), overview(9)], 3),
        ([overview(1), overview(2), overview(3), overview(3), overview(9)], 3),
        ([overview(3), overview(3, in_flight=1), overview(4), overview(4), overview(9)], 4),
        ([overview(n) for n in range(50)], stages.MOST_LOOKS),
    ],
    ids=["at once", "when all are counted", "when the last stream has ended", "not for ever"],
)
def test_it_waits_until_the_last_answers_are_counted(
    told: list[dict[str, Any]], requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter(told)
    monkeypatch.setattr(stages, "fetch_overview", lambda _metrics: next(looks))
    monkeypatch.setattr(stages, "LOOK_S", 0.0)

    assert stages._settled("")["routes"] == [{"requests": requests}]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("rule", "KV101"), exit_status.CLEAN),
        (("check", "no/such/file.py"), exit_status.USAGE_ERROR),
        (("show", "no/such/file.py"), exit_status.USAGE_ERROR),
    ],
)
def test_commands_run_in_this_process_and_tell_their_status(arguments: tuple[str, ...], status: int) -> None:
    assert stages._promptlint(*arguments) == status


@pytest.mark.parametrize(("raised", "status"), [(KeyboardInterrupt(), 130), (SystemExit(143), 143)])
def test_a_signal_during_a_command_ends_the_demonstration(
    raised: BaseException, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def command(*_args: object, **_options: object) -> None:
        raise raised

    monkeypatch.setattr(cli, "main", command)
    with pytest.raises(SystemExit) as ended:
        stages._promptlint("rules")
    assert ended.value.code == status


def test_an_application_that_fails_is_told_in_one_sentence(tmp_path: Path) -> None:
    package = tmp_path / "support_desk"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('no shop today')\n")
    with (
        processes.Workers() as workers,
        pytest.raises(PromptlintError, match="ended with an error: RuntimeError: no shop today"),
    ):
        workers.run(tmp_path, "http://127.0.0.1:9")


def test_a_process_that_does_not_start_is_told_in_one_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(PromptlintError, match="did not start: it said port taken"),
        processes._running([processes.sys.executable, "-c", "print('port taken')"]) as started,
    ):
        processes._wait_for(started, "listens on ")
