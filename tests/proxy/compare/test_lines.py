"""Requests are sorted into conversations and templates by their content."""

from __future__ import annotations

import json
from typing import Any

from factories import exchange, request
from wire_cases import OPENAI, assistant, chat, entries, rules, system, user

from promptlint_proxy.analysis import Analysis, AnalysisSettings, Observation
from promptlint_proxy.replay.readers.json_lines import read_line
from promptlint_proxy.replay.recorded import RecordedExchange, to_exchange
from promptlint_rules.traffic import Relation

R = rules()


def observe(lines: list[dict[str, Any]], settings: AnalysisSettings | None = None) -> list[Observation]:
    analysis = Analysis(settings or AnalysisSettings(predict=False))
    seen = []
    for index, line in enumerate(lines):
        recorded = read_line(json.dumps(line).encode(), "line")
        assert isinstance(recorded, RecordedExchange)
        exchange = to_exchange(recorded, index)
        assert exchange is not None
        seen.append(analysis.observe(exchange))
    return seen


def talk(name: str, turns: int) -> list[list[dict[str, Any]]]:
    """The messages of each turn of a conversation."""
    history: list[dict[str, Any]] = []
    told = []
    for n in range(turns):
        history = [*history, user(f"{name} asks {n}: {entries(n + len(name) * 9, 1)}")]
        told.append([system(R), *history])
        history = [*history, assistant(f"{name} hears {n}: {entries(n + len(name) * 31, 1)}")]
    return told


def test_interleaved_conversations_keep_their_lines() -> None:
    names = ("Ines", "Pavel X", "Chiara Y Z")
    lines = [chat(n, talk(name, 3)[turn], OPENAI) for turn in range(3) for n, name in enumerate(names, turn * 9)]
    seen = [o.seen for o in observe(lines)]

    assert [0, 0, 0, 1, 1, 1, 2, 2, 2] == [s.turn for s in seen]
    assert 3 == len({s.line for s in seen})
    assert 1 == len({s.group for s in seen})


def test_one_question_of_two_users_is_two_conversations() -> None:
    seen = [o.seen for o in observe([chat(n, [system(R), user("Opening hours?")], OPENAI) for n in range(2)])]

    assert seen[0].line != seen[1].line


def test_a_retry_belongs_to_the_turn_that_failed() -> None:
    lines = [
        chat(0, [system(R), user("Find it.")], OPENAI, response={"status": 429}),
        chat(2, [system(R), user("Find it.")], OPENAI, response={"status": 200}),
    ]
    first, second = observe(lines)

    assert 0 == second.seen.retry_of
    assert (first.seen.line, first.seen.turn) == (second.seen.line, second.seen.turn)
    assert [Relation.RETRY] == [pair.relation for pair in second.pairs]


def test_a_branch_is_a_line_of_its_own_that_continues_the_common_turn() -> None:
    turns = talk("Ines", 2)
    other = [*turns[0], assistant("Another answer altogether."), user("And then?")]
    first, second, third = observe([chat(0, turns[0]), chat(9, turns[1]), chat(18, other)])

    assert first.seen.line == second.seen.line != third.seen.line
    assert [0] == [pair.earlier.index for pair in third.pairs]
    assert 1 == third.seen.turn


def test_agents_with_other_system_texts_are_other_groups() -> None:
    lines = [chat(n, [system(text), user("Go.")]) for n, text in enumerate((R, "You judge. " + entries(300, 40)))]
    seen = [o.seen for o in observe(lines)]

    assert seen[0].group != seen[1].group


def test_a_group_keeps_its_key_from_process_to_process() -> None:
    lines = [chat(0, talk("Ines", 1)[0])]

    assert observe(lines)[0].seen.group == observe(lines)[0].seen.group
    other_key = observe(lines, AnalysisSettings(hash_key=b"other", predict=False))[0].seen.group
    assert observe(lines)[0].seen.group != other_key


def test_text_beyond_the_budget_is_forgotten_and_nothing_breaks() -> None:
    analysis = Analysis(AnalysisSettings(budget_chars=60_000, predict=False))
    for n in range(200):
        recorded = read_line(
            json.dumps(chat(n, [system(R), user(f"Ticket {n}: {entries(n)}")], OPENAI)).encode(), "line"
        )
        assert isinstance(recorded, RecordedExchange)
        exchange = to_exchange(recorded, n)
        assert exchange is not None
        observation = analysis.observe(exchange)

    kept = analysis._lines._kept
    assert sum(known.seen.chars for known in kept) <= 60_000
    assert len(analysis._lines._message_index) <= 2 * len(kept)
    assert 1 == len(observation.pairs)


def test_first_requests_are_compared_within_their_api_where_there_are_such() -> None:
    """A gateway serves one template over two APIs: places have other names there."""
    observer = Analysis(AnalysisSettings(predict=False))
    compared = []
    for number, api in enumerate(("chat", "messages", "chat", "messages", "responses")):
        asked = request(turns=(f"Question {number}?",), api=api)
        told = observer.observe(exchange(number, asked))
        compared.append({pair.earlier.index for pair in told.pairs})

    assert compared[2] == {0}
    assert compared[3] == {1}
    assert compared[1] == {0}  # nothing else is there to compare with
    assert compared[4]
