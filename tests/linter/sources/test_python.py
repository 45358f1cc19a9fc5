"""A Python file gives its prompts and calls, whatever is in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from linter_reading import changing, read, read_tree, spelled

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.prompt import BoundKind, Part
from promptlint_linter.project import Project
from promptlint_linter.sources import python
from promptlint_linter.sources.unit import SourceFile

CALL = """
import {package}
client = {client}
def ask(question, history):
    return client.{method}(model='m', {arguments})
"""

CALLS = {
    "openai": ("openai", "openai.OpenAI()", "chat.completions.create", "messages=history", BoundKind.ABSENT),
    "openai, bounded": (
        "openai", "openai.OpenAI()", "chat.completions.create", "messages=history, max_tokens=9", BoundKind.LIMITED,
    ),
    "openai, lifted": (
        "openai", "openai.OpenAI()", "chat.completions.create", "messages=history, max_tokens=None",
        BoundKind.UNLIMITED,
    ),
    "openai, a variable": (
        "openai", "openai.OpenAI()", "chat.completions.create", "messages=history, max_tokens=question",
        BoundKind.UNKNOWN,
    ),
    "openai, keywords": (
        "openai", "openai.OpenAI()", "chat.completions.create", "messages=history, **question", BoundKind.UNKNOWN,
    ),
    "responses": ("openai", "openai.AsyncOpenAI()", "responses.create", "input=history", BoundKind.ABSENT),
    "anthropic": ("anthropic", "anthropic.Anthropic()", "messages.create", "messages=history", BoundKind.UNKNOWN),
    "a nested bound": (
        "boto3", "boto3.client('bedrock-runtime')", "converse", "messages=history, inferenceConfig={'maxTokens': 5}",
        BoundKind.LIMITED,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("package", "client", "method", "arguments", "expected"), CALLS.values(), ids=CALLS)
def test_a_call_tells_its_bound(package: str, client: str, method: str, arguments: str, expected: BoundKind) -> None:
    unit = read(CALL.format(package=package, client=client, method=method, arguments=arguments))

    assert [expected] == [call.bound.kind for call in unit.calls]


OTHERS = {
    "short messages": "def notify(sms):\n    sms.messages.create(to='1', body='role= the prompt')\n",
    "another package's client": "import twilio\nc = twilio.Client()\nc.messages.create(messages='prompt', model='m')\n",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_the_same_method_on_another_object_is_no_call_of_a_model(text: str) -> None:
    assert () == read(text).calls


def test_messages_come_in_the_order_in_which_the_model_reads_them() -> None:
    unit = read("""
        from openai import OpenAI
        client = OpenAI()
        def ask(question, history, tools):
            return client.chat.completions.create(
                model="m", max_tokens=5, tools=[{"name": "a"}],
                messages=[{"role": "system", "content": "S"}, *history, {"role": "user", "content": question}],
            )
    """)

    (prompt,) = unit.prompts
    assert [Part.TOOLS, Part.SYSTEM, Part.MESSAGES, Part.MESSAGES] == [s.part for s in prompt.segments]
    assert ["literal", "literal", "history/append", "task/turn"] == spelled(prompt)
    assert prompt.complete
    assert prompt.multi_turn


def test_the_flow_tells_where_a_value_is_read_returned_and_sent(tmp_path: Path) -> None:
    unit = read_tree(
        tmp_path,
        "app.py",
        clock="from datetime import datetime\ndef stamp():\n    return datetime.now().strftime('%H:%M')\n",
        texts="ANSWER_PROMPT = 'It is {now}. <RULES>'\n",
        app="""
            from clock import stamp as now
            from texts import ANSWER_PROMPT
            def build():
                return ANSWER_PROMPT.format(now=now())
        """,
    )

    (segment,) = [s for p in unit.prompts for s in p.segments if s.text is None]
    assert segment.place is not None
    assert (str(tmp_path / "clock.py"), 3) == (segment.place.path, segment.place.line)
    assert ["read here", "enters the prompt"] == [step.note for step in segment.flow]
    assert "to the minute" == segment.detail


FROZEN = {
    "a module constant": ("NOW = datetime.now()\ndef build_prompt():\n    return f'{NOW} <RULES>'\n", Cadence.DEPLOY),
    "an attribute of __init__": (
        (
            "class Chat:\n    def __init__(self):\n        self.started = datetime.now()\n"
            "    def build_prompt(self):\n        return f'{self.started} <RULES>'\n"
        ),
        Cadence.SESSION,
    ),
    "a cached property": (
        (
            "from functools import cached_property\nclass Chat:\n    @cached_property\n"
            "    def system_prompt(self):\n        return f'{datetime.now()} <RULES>'\n"
        ),
        Cadence.SESSION,
    ),
    "an argument at import": (
        "def build_prompt(text):\n    return f'{text} <RULES>'\nPROMPT = build_prompt(datetime.now())\n",
        Cadence.DEPLOY,
    ),
}


@pytest.mark.parametrize(("text", "expected"), FROZEN.values(), ids=FROZEN)
def test_a_value_that_is_read_once_changes_no_faster(text: str, expected: Cadence) -> None:
    unit = read("from datetime import datetime\n" + text)

    assert f"clock/{expected}" in changing(unit)


SILENT = {
    "a log line": "log.info('started at %s', datetime.now())",
    "a file name": "open(f'out/{datetime.now()}.txt').write(SYSTEM_PROMPT + text)",
    "a receipt": "return f'Receipt {datetime.now()} for {text}. ' + 'Terms of sale apply to all goods. ' * 20",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_a_clock_outside_of_prompts_is_silent(text: str) -> None:
    unit = read(f"from datetime import datetime\nSYSTEM_PROMPT = '<RULES>'\ndef work(text, log):\n    {text}\n")

    assert [] == [entry for entry in changing(unit) if entry.startswith("clock")]


def test_a_parameter_is_known_by_its_name_alone() -> None:
    unit = read("def build_prompt(context):\n    return f'Passages: {context}. <RULES>'\n")

    (segment,) = [s for p in unit.prompts for s in p.segments if s.text is None]
    assert (Origin.RETRIEVAL, Evidence.NAMED) == (segment.origin, segment.evidence)


BAD = {
    "a syntax error": "prompt = (",
    "a NUL byte": "prompt = 'a\0b'",
    "nested parentheses": "prompt = " + "(" * 2000 + "1" + ")" * 2000,
    "an unknown statement": "prompt = = 5",
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_what_cannot_be_parsed_is_a_problem(text: str) -> None:
    unit = python.read(SourceFile("bad.py", text), Project([]))

    assert 1 == len(unit.problems)


ENDLESS = {
    "functions that call each other": "def a(prompt):\n    return b(prompt) + 'x'\ndef b(prompt):\n    return a(prompt)\n",
    "a constant of itself": "PROMPT = PROMPT + f'{PROMPT} <RULES>'\n",
    "a class of itself": "class A(A):\n    def prompt(self):\n        return f'{self.prompt()} <RULES>'\n",
    "a long chain": "prompt = " + " + ".join(["'a'"] * 900) + " + f'{x}'\n",
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_what_has_no_end_is_given_up(text: str) -> None:
    assert () == read(text).problems


def test_modules_that_import_each_other_are_read(tmp_path: Path) -> None:
    unit = read_tree(
        tmp_path,
        "one.py",
        one="from two import PROMPT\nMINE = f'{PROMPT} <RULES>'\n",
        two="from one import MINE\nPROMPT = f'{MINE} <RULES>'\n",
    )

    assert () == unit.problems
