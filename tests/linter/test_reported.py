"""A finding in the form of the JSON contract and back."""

from __future__ import annotations

from promptlint_core.cadence import Cadence, Evidence
from promptlint_core.prompt import Call, Place, Prompt, Segment, Step
from promptlint_linter.reported import from_finding, from_json, to_json, with_unique_fingerprints
from promptlint_rules.base import Edit, Finding, Fix, Severity

PROMPT = Prompt((Segment("You are a clerk.", Cadence.FIXED), Segment(None, Cadence.CALL)), Place("b.py", 9), "f")
FINDING = Finding(
    rule="KV101",
    name="clock-first",
    severity=Severity.ERROR,
    confidence=Evidence.PROVED,
    message="m",
    place=Place("a.py", 3, 5, 3, 19),
    expression="datetime.now()",
    cadence=Cadence.CALL,
    tokens_behind=1240,
    advice="do",
    flow=(Step(Place("a.py", 3, 5), "read here"), Step(Place("b.py", 9), "enters the prompt")),
    prompt=PROMPT,
    call=Call("openai.chat.completions.create", "openai", Place("b.py", 11), model="gpt-4o"),
    fix=Fix(False, (Edit(Place("a.py", 3, 5, 3, 19), "x"),), "n"),
    cost={"usd": 1.5},
)


def test_the_contract() -> None:
    assert to_json(from_finding(FINDING)) == {
        "rule": "KV101",
        "name": "clock-first",
        "severity": "error",
        "confidence": "proved",
        "message": "m",
        "path": "a.py",
        "line": 3,
        "column": 5,
        "end_line": 3,
        "end_column": 19,
        "expression": "datetime.now()",
        "cadence": "call",
        "tokens_behind": 1240,
        "advice": "do",
        "flow": [
            {"path": "a.py", "line": 3, "column": 5, "note": "read here"},
            {"path": "b.py", "line": 9, "column": 1, "note": "enters the prompt"},
        ],
        "prompt": {"path": "b.py", "line": 9, "call": "openai.chat.completions.create", "tokens": 5},
        "fix": {
            "safety": "unsafe",
            "note": "n",
            "edits": [{"path": "a.py", "line": 3, "column": 5, "end_line": 3, "end_column": 19, "text": "x"}],
        },
        "fingerprint": FINDING.fingerprint,
        "cost": {"usd": 1.5},
    }


def test_what_was_written_is_read_back_the_same() -> None:
    told = from_finding(FINDING)

    assert from_json(to_json(told)) == told


def test_equal_fingerprints_are_numbered() -> None:
    told = from_finding(FINDING)

    first, second, third = with_unique_fingerprints([told, told, told])

    assert first.fingerprint == told.fingerprint
    assert [second.fingerprint, third.fingerprint] == [f"{told.fingerprint}-2", f"{told.fingerprint}-3"]
