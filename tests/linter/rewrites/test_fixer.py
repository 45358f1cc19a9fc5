"""What a fix writes; and what looks alike and has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from promptlint_linter.check import check, check_text
from promptlint_linter.config import Config
from promptlint_linter.fixes import plan_fixes
from promptlint_linter.rewrites.clocks import date_part
from promptlint_linter.rewrites.fixer import FIXABLE
from promptlint_rules.base import Rule, Severity
from promptlint_rules.pages import page_of
from promptlint_rules.registry import RULES as RULE_CLASSES

RULES = (
    "You are the help desk of a library. Answer in two sentences. Name the shelf of every book you mention. "
    "Never promise a reservation. When a book is lent out, tell the day it comes back and the nearest branch."
)
HEAD = f"""\
import glob, json, os, random, time
from datetime import datetime, timezone
from pathlib import Path
from openai import OpenAI
from agno.agent import Agent
RULES = {RULES!r}
TOPICS = {{"loans", "fines", "rooms"}}
def send(system, **more):
    messages = [{{"role": "system", "content": system + RULES}}]
    return OpenAI().chat.completions.create(model="m", max_tokens=9, messages=messages, **more)
def ask(question, examples):
"""

SAFE = {
    "a joined set": ('send(", ".join(TOPICS))', 'send(", ".join(sorted(TOPICS)))'),
    "a listing of a folder": ("names = os.listdir('docs')\n    send(f'{names}')", "names = sorted(os.listdir('docs'))"),
    "a listing within a loop": (
        "for name in os.listdir('docs'):\n        send(name)",
        "for name in sorted(os.listdir('docs')):",
    ),
    "an iterator in a loop": (
        "send(''.join(path.name for path in Path('docs').rglob('*.md')))",
        "for path in sorted(Path('docs').rglob('*.md'))",
    ),
    "a listing by a pattern": ("send(f'{glob.glob(\"docs/*\")}')", "send(f'{sorted(glob.glob(\"docs/*\"))}')"),
}
UNSAFE = {
    "a format with the time behind": (
        'now = datetime.now().strftime("%A, %d %B %Y, %H:%M:%S")\n    send(f"{now}")',
        'now = datetime.now().strftime("%A, %d %B %Y")',
    ),
    "a format of time.strftime": ("send(time.strftime('%Y-%m-%dT%H:%M:%SZ'))", "send(time.strftime('%Y-%m-%d'))"),
    "a format of an instant elsewhere": (
        "now = datetime.now(timezone.utc)\n    send(f'{now.strftime(\"%d.%m.%Y %H:%M\")}')",
        "send(f'{now.strftime(\"%d.%m.%Y\")}')",
    ),
    "a specification": ("send(f'{datetime.now():%Y-%m-%d %H:%M}')", "send(f'{datetime.now():%Y-%m-%d}')"),
    "a specification of a name": (
        "now = datetime.now()\n    send(f'{now:%d %B, %H:%M}')",
        "send(f'{now:%d %B}')",
    ),
    "isoformat": ("send(datetime.now().isoformat(timespec='seconds'))", "send(datetime.now().date().isoformat())"),
    "isoformat in a time zone": (
        "send(datetime.now().astimezone(timezone.utc).isoformat())",
        "send(datetime.now().astimezone(timezone.utc).date().isoformat())",
    ),
    "a reading in an f-string": ("send(f'{datetime.now()}')", "send(f'{datetime.now().date()}')"),
    "a name of a reading": ("now = datetime.now()\n    send(f'{now}')", "send(f'{now.date()}')"),
    "str of a reading": ("send(str(datetime.now()))", "send(str(datetime.now().date()))"),
    "a joined generator": (
        "chosen = set(examples)\n    send(', '.join(f'- {one}' for one in chosen))",
        "send(', '.join(f'- {one}' for one in sorted(chosen)))",
    ),
    "an iterator that has a name": (
        "paths = Path('docs').iterdir()\n    send(''.join(path.name for path in paths))",
        "paths = sorted(Path('docs').iterdir())",
    ),
    "the set of two loops": (
        "send(', '.join(word for one in examples for word in set(one)))",
        "for one in examples for word in sorted(set(one))",
    ),
    "a format of a local time": (
        "send(time.strftime('%d.%m.%Y %H:%M', time.localtime()))",
        "send(time.strftime('%d.%m.%Y', time.localtime()))",
    ),
    "a name with its type": ("now: datetime = datetime.now()\n    send(f'{now}')", "send(f'{now.date()}')"),
    "the beginning of a text": (
        "send(datetime.now().isoformat()[:19])",
        "send(datetime.now().date().isoformat()[:19])",
    ),
    "the first part of a text": (
        "send(datetime.now().isoformat().split('.')[0])",
        "send(datetime.now().date().isoformat().split('.')[0])",
    ),
    "a draw by another name of the module": (
        "import random as chance\n    send(chance.choice(examples))",
        "send(chance.Random(0).choice(examples))",
    ),
    "a draw": ("send(', '.join(random.sample(examples, 3)))", "random.Random(0).sample(examples, 3)"),
    "a switch of a framework": (
        "Agent(add_datetime_to_context=True, instructions=RULES)",
        "Agent(add_datetime_to_context=False, instructions=RULES)",
    ),
    "tools out of a set": (
        "OpenAI().responses.create(model='m', max_output_tokens=9, tools=[{'name': name} for name in TOPICS])",
        "tools=[{'name': name} for name in sorted(TOPICS)])",
    ),
}
NONE = {
    "a time alone": "send(time.strftime('%H:%M:%S'))",
    "a time between": "send(time.strftime('%Y %H:%M %d'))",
    "a locale's own format": "send(time.strftime('%c'))",
    "a format that is not written here": "send(datetime.now().strftime(examples))",
    "seconds since 1970": "send(f'{time.time()}')",
    "a reading that is compared": "late = datetime.now() - question\n    send(f'{late}')",
    "a sorted set": "send(', '.join(sorted(TOPICS)))",
    "a structure of time, which has no date()": "send(f'{time.localtime()}')",
    "a name that is given text too": ("now = datetime.now()\n    now = now.strftime(examples)\n    send(f'{now}')"),
    "a parameter of the same name": (
        "def told(now):\n        return f'{now}'\n    now = datetime.now()\n    send(told(str(now)))"
    ),
    "the end of a text": "send(datetime.now().isoformat()[11:19])",
    "the second part of a text": "send(str(datetime.now()).split(' ')[1])",
    "parts of a text by name": "day, hour = datetime.now().isoformat().split('T')\n    send(hour)",
    "the second part of a format": "send(datetime.now().strftime('%Y-%m-%d %H:%M').split()[1])",
    "an iterator that is asked for its next": "send(next(Path('docs').iterdir()).read_text())",
    "a loop of a coroutine": (
        "async def told():\n        send(''.join([path.name async for path in Path('docs').iterdir()]))"
    ),
    "a list that holds a set": (
        "out = ''\n    for group in set(examples), TOPICS:\n        out += f'{group}'\n    send(out)"
    ),
    "arguments of a join": "send(', '.join(*[set(examples)]))",
    "keys for a dumps that sorts none": "import orjson\n    send(orjson.dumps(dict.fromkeys(TOPICS, 1)).decode())",
    "a draw again and again": "send(''.join(random.choice(examples) for _ in range(3)))",
    "a generator of its own": "send(random.Random().choice(examples))",
    "a random of another library": "from numpy import random as chance\n    send(chance.choice(examples))",
    "a date": "send(f'{datetime.now():%Y-%m-%d}')",
}


def _fixed(folder: Path, body: str, *, unsafe: bool) -> str:
    path = folder / "app.py"
    path.write_text(f"{HEAD}    {body}\n", encoding="utf-8")
    outcome = check([path], Config(root=folder, jobs=1, cache=False, min_severity=Severity.INFO))
    planned = plan_fixes(outcome.findings, unsafe=unsafe)
    return planned[0].after if planned else ""


@pytest.mark.parametrize(("body", "expected"), SAFE.values(), ids=SAFE.keys())
def test_a_safe_fix_orders_and_changes_nothing_else(folder: Path, body: str, expected: str) -> None:
    assert expected in _fixed(folder, body, unsafe=False)


@pytest.mark.parametrize(("body", "expected"), UNSAFE.values(), ids=UNSAFE.keys())
def test_a_fix_that_changes_what_is_told_is_unsafe(folder: Path, body: str, expected: str) -> None:
    assert _fixed(folder, body, unsafe=False) == ""
    assert expected in _fixed(folder, body, unsafe=True)


@pytest.mark.parametrize("body", [body for body, _ in (*SAFE.values(), *UNSAFE.values())])
def test_what_was_fixed_is_not_found_again(folder: Path, body: str) -> None:
    (folder / "app.py").write_text(_fixed(folder, body, unsafe=True), encoding="utf-8")

    outcome = check([folder / "app.py"], Config(root=folder, jobs=1, cache=False))

    assert [finding.message for finding in outcome.findings] == []


@pytest.mark.parametrize("body", NONE.values(), ids=NONE.keys())
def test_what_cannot_be_cut_or_sorted_surely_has_no_fix(folder: Path, body: str) -> None:
    assert _fixed(folder, body, unsafe=True) == ""


def test_a_value_of_another_module_is_fixed_there(folder: Path) -> None:
    (folder / "stamp.py").write_text(
        "from datetime import datetime\ndef stamp():\n    return datetime.now().isoformat()\n"
    )
    (folder / "app.py").write_text(f"from stamp import stamp\n{HEAD}    send(stamp())\n")

    outcome = check([folder], Config(root=folder, jobs=1, cache=False))
    (fix,) = plan_fixes(outcome.findings, unsafe=True)

    assert fix.path == "stamp.py"
    assert "datetime.now().date().isoformat()" in fix.after


DATES = {
    "%Y-%m-%d %H:%M:%S": "%Y-%m-%d",
    "%Y-%m-%dT%H:%M:%SZ": "%Y-%m-%d",
    "%A, %d %B %Y at %H:%M": "%A, %d %B %Y",
    "%H:%M, %d %B": "%d %B",
    "[%d/%b/%Y:%H:%M:%S %z]": "[%d/%b/%Y]",
    "%d %%B %H": "%d",
    "%Y-%m-%d": "",
    "%H:%M": "",
    "%d. %H Uhr, %Y": "",
    "%c": "",
    "%Q %H": "",
    "Today is %Y-%m-%d, time: %H:%M": "Today is %Y-%m-%d",
    "%Y年%m月%d日 %H時%M分": "%Y年%m月%d日",
    "%d de %B a las %H:%M": "%d de %B",
    "%H:%M (%A)": "(%A)",
    "%H:%M on %d.%m.": "%d.%m.",
    r"%H:%M\n%d %B": "%d %B",
    "%Y-%m-%d %H:%M. Answer in one sentence.": "",
    "": "",
}


@pytest.mark.parametrize(("form", "date"), DATES.items())
def test_the_date_of_a_format_is_what_stands_by_itself(form: str, date: str) -> None:
    assert date_part(form) == date


@pytest.mark.parametrize(
    "rule", [rule for rule in RULE_CLASSES if rule.id in FIXABLE - {"KV101"}], ids=lambda rule: rule.id
)
def test_the_example_of_a_rule_with_a_fix_is_clean_behind_it(folder: Path, rule: type[Rule]) -> None:
    """That of KV101 tells the time alone, of which no date can be made."""
    path = folder / "example.py"
    path.write_text(page_of(rule).code("Example") or "")
    config = Config(root=folder, jobs=1, cache=False, select=(rule.id,))

    (fix,) = plan_fixes(check([path], config).findings, unsafe=True)
    path.write_text(fix.after)

    assert check([path], config).findings == ()


def test_an_expression_over_several_lines_keeps_them(folder: Path) -> None:
    body = "send(\n        ', '.join(\n            {\n                f'- {one}'\n                for one in examples\n            }\n        )\n    )"

    assert "sorted({\n                f'- {one}'\n                for one in examples\n            })" in _fixed(
        folder, body, unsafe=True
    )


def test_what_is_told_as_information_has_no_fix(folder: Path) -> None:
    text = "import random\nfrom openai import OpenAI\ndef ask(moves):\n    move = random.choice(moves)\n"
    (folder / "app.py").write_text(
        f"{text}    OpenAI().responses.create(input=f'Explain {{move}}.', max_output_tokens=9)\n"
    )

    outcome = check([folder], Config(root=folder, jobs=1, cache=False, min_severity=Severity.INFO))

    assert [(finding.severity, finding.fix) for finding in outcome.findings if finding.fix] == []


def test_standard_input_without_a_name_is_fixed_as_python() -> None:
    text = f"{HEAD}    send(', '.join(TOPICS))\n"
    outcome = check_text(text.encode(), None, Config(cache=False))

    (fix,) = plan_fixes(outcome.findings, unsafe=False, texts=outcome.texts)

    assert "send(', '.join(sorted(TOPICS)))" in fix.after
