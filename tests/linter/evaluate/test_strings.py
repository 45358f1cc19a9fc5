"""However a prompt is put together, the clock that stands in it is found."""

from __future__ import annotations

import pytest
from linter_reading import changing, read

HEAD = """
from datetime import datetime
from string import Template
from textwrap import dedent
from inspect import cleandoc
RULES = '''<RULES>'''
TEMPLATE = 'It is {now}. <RULES>'
def send(text): ...
"""

WAYS = {
    "f-string": "prompt = f'It is {datetime.now()}. {RULES}'",
    "adjacency": "prompt = ('It is ' f'{datetime.now()}. ' '<RULES>')",
    "format": "prompt = TEMPLATE.format(now=datetime.now())",
    "format by position": "prompt = 'It is {}. <RULES>'.format(datetime.now())",
    "format_map": "prompt = TEMPLATE.format_map({'now': datetime.now()})",
    "percent": "prompt = 'It is %s. <RULES>' % datetime.now()",
    "percent by name": "prompt = 'It is %(now)s. <RULES>' % {'now': datetime.now()}",
    "string template": "prompt = Template('It is $now. <RULES>').substitute(now=datetime.now())",
    "replace": "prompt = 'It is <<NOW>>. <RULES>'.replace('<<NOW>>', str(datetime.now()))",
    "doubled braces": "prompt = f'{{now}} {RULES}'.format(now=datetime.now())",
    "plus": "prompt = 'It is ' + str(datetime.now()) + RULES",
    "plus equals": "prompt = f'It is {datetime.now()}. '\n    prompt += RULES",
    "append then join": "parts = [f'It is {datetime.now()}']\n    parts.append(RULES)\n    prompt = '\\n'.join(parts)",
    "a loop of plus equals": (
        "prompt = f'{datetime.now()}'\n    for line in [RULES, RULES]:\n        prompt += line + '\\n'"
    ),
    "tuple unpacking": "prompt, other = f'{datetime.now()} {RULES}', 1",
    "a conditional template": "prompt = (TEMPLATE if mode else RULES + '{now}').format(now=datetime.now())",
    "dedent and strip": "prompt = dedent(f'It is {datetime.now()}. {RULES}').strip()",
    "cleandoc": "prompt = cleandoc(f'It is {datetime.now()}. {RULES}')",
    "str": "prompt = str(f'It is {datetime.now()}. {RULES}')",
    "keyword arguments": "values = dict(now=datetime.now())\n    prompt = TEMPLATE.format(**values)",
    "a lambda": "clock = lambda: datetime.now()\n    prompt = f'{clock()} {RULES}'",
    "walrus": "prompt = f'{(now := datetime.now())} {RULES}'",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_clock_is_followed_into_text(way: str) -> None:
    unit = read(f"{HEAD}\ndef build(mode):\n    {way}\n    return send(prompt)\n")

    assert "clock/call" in changing(unit)


FORMATS = {
    "a bare datetime": ("{datetime.now()}", ["clock/call"]),
    "a date format": ("{datetime.now():%Y-%m-%d}", ["clock/day"]),
    "a minute format": ("{datetime.now():%H:%M}", ["clock/call"]),
    "a date method": ("{datetime.now().date()}", ["clock/day"]),
    "strftime to the day": ("{datetime.now().strftime('%d %B')}", ["clock/day"]),
    "isoformat": ("{datetime.now().isoformat()}", ["clock/call"]),
    "an hour that is cut to zero": (
        "{datetime.now().replace(hour=0, minute=0, second=0, microsecond=0)}",
        ["clock/day"],
    ),
    "a year": ("{datetime.now().year}", ["clock/deploy"]),
    "an earlier moment": ("{datetime.now() - timedelta(days=1)}", ["clock/call"]),
}


@pytest.mark.parametrize(("value", "expected"), FORMATS.values(), ids=FORMATS)
def test_the_format_decides_how_often_a_clock_changes(value: str, expected: list[str]) -> None:
    unit = read(
        "from datetime import datetime, timedelta\n"
        f'def build():\n    prompt = f"""It is {value}. <RULES>"""\n    return prompt\n'
    )

    assert expected == changing(unit)


SOURCES = {
    "uuid": ("import uuid", "uuid.uuid4()", "random/call"),
    "part of a uuid": ("import uuid", "uuid.uuid4().hex[:8]", "random/call"),
    "token": ("from secrets import token_hex", "token_hex(8)", "random/call"),
    "bits": ("import random", "random.getrandbits(64)", "random/call"),
    "sample": ("import random", "random.sample(POOL, 3)", "sample/call"),
    "choices": ("import random", "' '.join(random.choices(POOL, k=3))", "sample/call"),
    "git": ("import subprocess", "subprocess.run(['git', 'status']).stdout", "environment/turn"),
    "folder": ("import os", "os.getcwd()", "environment/session"),
    "listing": ("import os", "os.listdir('.')", "environment/turn"),
    "set": ("import os", "', '.join({a, b})", "order/call"),
    "list of a set": ("import os", "list(set(POOL))", "order/call"),
    "sets joined and then sorted": ("import os", "sorted(', '.join(set(a)) for _ in POOL)", "order/call"),
    "settings": ("import os", "os.getenv('REGION')", "config/deploy"),
    "search": ("from langchain_chroma import Chroma", "Chroma().similarity_search(a)", "retrieval/turn"),
    "epoch": ("import time", "int(time.time())", "clock/call"),
    "time.strftime": ("import time", "time.strftime('%c')", "clock/call"),
    "epoch by the day": ("import time", "int(time.time()) // 86400", "clock/day"),
}


@pytest.mark.parametrize(("imports", "value", "expected"), SOURCES.values(), ids=SOURCES)
def test_a_source_is_known_by_its_import(imports: str, value: str, expected: str) -> None:
    unit = read(
        f"{imports}\nPOOL = load()\n"
        f'def build_prompt(a, b):\n    value = {value}\n    return f"""About {{value}}: <RULES>"""\n'
    )

    assert [expected] == changing(unit)


STILL = {
    "uuid5 of content": ("import uuid", "uuid.uuid5(uuid.NAMESPACE_URL, a)"),
    "digest": ("import hashlib", "hashlib.sha256(a).hexdigest()"),
    "sorted set": ("import os", "', '.join(sorted({a, b}))"),
    "sorted set of a listing": ("import os", "', '.join(sorted(set(os.listdir('docs'))))"),
    "sorted names of a listing": ("import os", "', '.join(sorted(name for name in os.listdir('docs') if name > b))"),
    "sorted texts of a listing": ("import os", "', '.join(sorted(f'- {name}' for name in os.listdir('docs')))"),
    "sorted texts of a set": ("import os", "', '.join(sorted([f'- {name}' for name in set(a)]))"),
    "seeded sample": ("import random", "random.Random(7).sample(POOL, 3)"),
    "a class of the same name": ("from warehouse import datetime", "datetime.now()"),
    "a given moment": ("from datetime import datetime", "datetime.strptime(a, '%Y').strftime('%H:%M')"),
    "a set of one": ("import os", "', '.join({a})"),
}


@pytest.mark.parametrize(("imports", "value"), STILL.values(), ids=STILL)
def test_a_look_alike_of_a_source_is_silent(imports: str, value: str) -> None:
    unit = read(
        f"{imports}\nPOOL = load()\n"
        f'def build_prompt(a, b):\n    value = {value}\n    return f"""About {{value}}: <RULES>"""\n'
    )

    assert [] == changing(unit)


def test_a_text_that_each_of_many_conditions_may_begin_anew_is_read_to_its_end() -> None:
    conditions = "".join(
        f"    if flags[{number}]:\n        text = text + 'Rule {number}. '\n"
        f"    else:\n        text = 'No rule {number}. ' + text\n"
        for number in range(24)
    )
    unit = read(
        "from anthropic import Anthropic\nfrom datetime import datetime\n"
        "def ask(flags):\n    text = ''\n"
        f"{conditions}    text = f'It is {{datetime.now()}}. ' + text\n"
        "    return Anthropic().messages.create(system=text, max_tokens=9)\n"
    )

    assert "clock/call" in changing(unit)


@pytest.mark.parametrize(
    "written", ["str(datetime.now().date())", "f'{datetime.now().date()}'", "datetime.now().date().isoformat()"]
)
def test_a_date_changes_once_a_day_however_it_becomes_text(written: str) -> None:
    assert changing(read(f"{HEAD}def ask():\n    prompt = {written} + RULES\n    send(prompt)\n")) == ["clock/day"]
