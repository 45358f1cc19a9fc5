"""Jinja templates are read, never rendered."""

from __future__ import annotations

import pytest

from promptlint_core.cadence import Cadence, Evidence, Origin
from promptlint_core.prompt import Part, Segment
from promptlint_linter.sources import jinja
from promptlint_linter.sources.lines import Lines
from promptlint_linter.sources.unit import SourceFile


def segments(text: str, name: str = "system") -> tuple[Segment, ...]:
    prompts, _ = jinja.prompts_of(text, Lines("t.j2", text), name)
    return prompts[0].segments


def values(text: str) -> list[tuple[str, Origin, Cadence | None]]:
    return [(s.expression, s.origin, s.cadence) for s in segments(text) if s.text is None]


VALUES: dict[str, tuple[str, list[tuple[str, Origin, Cadence | None]]]] = {
    "clock call": ("{{ now() }}", [("now()", Origin.CLOCK, Cadence.CALL)]),
    "clock method": ("{{ datetime.now().isoformat() }}", [("datetime.now().isoformat()", Origin.CLOCK, Cadence.CALL)]),
    "clock to the day": ("{{ now().strftime('%Y-%m-%d') }}", [("now().strftime('%Y-%m-%d')", Origin.CLOCK, Cadence.DAY)]),
    "clock through a filter": ("{{ now() | strftime('%d.%m.') }}", [("now()", Origin.CLOCK, Cadence.DAY)]),
    "server clock": ("{{ strftime_now('%H:%M') }}", [("strftime_now('%H:%M')", Origin.CLOCK, Cadence.CALL)]),
    "server date": ("{{ date_string }}", [("date_string", Origin.CLOCK, Cadence.DAY)]),
    "today": ("{{ today() }}", [("today()", Origin.CLOCK, Cadence.DAY)]),
    "now tag": ("{% now 'utc', '%H:%M' %}", [("now 'utc', '%H:%M'", Origin.CLOCK, Cadence.CALL)]),
    "now tag to the day": ("{% now 'utc', '%Y-%m-%d' %}", [("now 'utc', '%Y-%m-%d'", Origin.CLOCK, Cadence.DAY)]),
    "random call": ("{{ uuid4() }}", [("uuid4()", Origin.RANDOM, Cadence.CALL)]),
    "shuffled": ("{% for e in examples | shuffle %}{{ e.text }}{% endfor %}", [("examples | shuffle", Origin.SAMPLE, Cadence.CALL)]),
    "name of an id": ("{{ request_id }}", [("request_id", Origin.RANDOM, Cadence.CALL)]),
    "attribute": ("{{ user.name }}", [("user.name", Origin.IDENTITY, Cadence.USER)]),
    "unknown": ("{{ shelf }}", [("shelf", Origin.UNKNOWN, None)]),
    "set and used": ("{% set t = now() %}{{ t }}", [("now()", Origin.CLOCK, Cadence.CALL)]),
    "set block": ("{% set t %}at {{ now() }}{% endset %}{{ t }}", [("now()", Origin.CLOCK, Cadence.CALL)]),
    "conditional expression": ("{{ now() if late else 'early' }}", [("now()", Origin.CLOCK, Cadence.CALL)]),
    "concatenation": ("{{ 'at ' ~ now() ~ user_id }}", [("now()", Origin.CLOCK, Cadence.CALL), ("user_id", Origin.IDENTITY, Cadence.USER)]),
    "macro": ("{% macro stamp(x) %}[{{ now() }}]{% endmacro %}{{ stamp(1) }}", [("now()", Origin.CLOCK, Cadence.CALL)]),
    "macro that is not called": ("{% macro stamp(x) %}[{{ now() }}]{% endmacro %}x", []),
    "macro with a parameter": (
        "{% macro head(t) %}{{ t }}{% endmacro %}{{ head(now()) }}",
        [("now()", Origin.CLOCK, Cadence.CALL)],
    ),
    "macro with a named parameter": (
        "{% macro head(a, t=1) %}{{ t }}{% endmacro %}{{ head(2, t=now()) }}",
        [("now()", Origin.CLOCK, Cadence.CALL)],
    ),
    "namespace": ("{% set ns = namespace(t=now()) %}{{ ns.t }}", [("now()", Origin.CLOCK, Cadence.CALL)]),
    "member of a namespace": ("{% set ns.t = now() %}{{ ns.t }}", [("now()", Origin.CLOCK, Cadence.CALL)]),
    "with": ("{% with t = now() %}{{ t }}{% endwith %}", [("now()", Origin.CLOCK, Cadence.CALL)]),
    "argument of a filter": ("{{ 'at %s' | format(now()) }}", [("now()", Origin.CLOCK, Cadence.CALL)]),
    "argument of a function": (
        "{{ stamp(now()) }}",
        [("stamp(now())", Origin.UNKNOWN, None), ("now()", Origin.CLOCK, Cadence.CALL)],
    ),
    "epoch": ("{{ time.time() | int }}", [("time.time()", Origin.CLOCK, Cadence.CALL)]),
    "random number": ("{{ range(9) | random }}", [("range(9) | random", Origin.RANDOM, Cadence.CALL)]),
    "comment": ("{# {{ now() }} #}x", []),
    "raw": ("{% raw %}{{ now() }}{% endraw %}", []),
    "string": ("{{ 'now()' }}", []),
    "count of something": ("{{ documents | length }}", [("documents | length", Origin.UNKNOWN, None)]),
    "closing braces in a string": ("{{ '}}' ~ now() }}", [("now()", Origin.CLOCK, Cadence.CALL)]),
    "not an expression": ("{{ a b $ }}", [("a", Origin.UNKNOWN, None)]),
    "loop counter": ("{% for x in rules %}{{ loop.index }}{% endfor %}", [("loop", Origin.UNKNOWN, None)]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), VALUES.values(), ids=VALUES.keys())
def test_expressions_tell_where_their_value_comes_from(
    text: str, expected: list[tuple[str, Origin, Cadence | None]]
) -> None:
    assert values(text) == expected


def test_the_messages_loop_of_a_chat_template_is_a_growing_history() -> None:
    found = segments("Rules.{% for message in messages %}<|{{ message.role }}|>{{ message.content }}{% endfor %}")

    assert [(s.part, s.cadence) for s in found] == [
        (Part.SYSTEM, Cadence.FIXED),
        (Part.MESSAGES, Cadence.FIXED),
        (Part.MESSAGES, Cadence.APPEND),
        (Part.MESSAGES, Cadence.FIXED),
        (Part.MESSAGES, Cadence.APPEND),
    ]


def test_a_value_that_was_set_is_told_where_it_is_read_with_its_way() -> None:
    [value] = [s for s in segments("{% set t = now() %}\n\nIt is {{ t }}.") if s.text is None]

    assert (value.place.line, value.place.column) == (1, 12)  # type: ignore[union-attr]
    assert [(step.place.line, step.note) for step in value.flow] == [(1, "read here"), (3, "enters the prompt")]
    assert value.evidence is Evidence.PROVED


def test_a_constant_default_is_no_clock_and_a_clock_default_is_one() -> None:
    constant = "{% if not date_string %}{% set date_string = '26 Jul 2024' %}{% endif %}{{ date_string }}"
    clock = "{% if x %}{% set d = strftime_now('%d %b %Y') %}{% else %}{% set d = '26 Jul 2024' %}{% endif %}{{ d }}"

    assert values(constant) == []
    assert [row[1:] for row in values(clock)] == [(Origin.CLOCK, Cadence.DAY)]


def test_every_branch_is_looked_at_once() -> None:
    text = "{% if a %}short{% elif b %}{{ now() }} long{% else %}other{% endif %} end"

    prompts, _ = jinja.prompts_of(text, Lines("t.j2", text), "system")

    assert ["".join(s.text or "·" for s in prompt.segments) for prompt in prompts] == [
        "short end",
        "· long end",
        "other end",
    ]


FAULTS = {
    "output": ("a\n{{ now( ", 2, "`{{` is never closed"),
    "tag": ("{% if x ", 1, "`{%` is never closed"),
    "comment": ("{# x", 1, "`{#` is never closed"),
    "block": ("{% if x %}\n{% for y in z %}{% endfor %}", 1, "`{% if %}` is never closed"),
    "wrong end": ("{% if x %}{% endfor %}{% endif %}", 1, "`{% endfor %}` closes nothing, `{% endif %}` is expected"),
    "end without a beginning": ("a\n\n{% endif %}", 3, "`{% endif %}` closes nothing"),
    "else without if": ("{% else %}", 1, "stands outside of an `if`"),
    "raw": ("{% raw %} x", 1, "`{% raw %}` is never closed"),
}


@pytest.mark.parametrize(("text", "line", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_wrong_ending_is_told_and_the_rest_is_read(text: str, line: int, message: str) -> None:
    _, [problem] = jinja.prompts_of(f"{text}", Lines("t.j2", text), "system")

    assert problem.place.line == line
    assert message in problem.message


PROMPTS = {
    "speaks to a model": ("You are a clerk.\n{{ x }}", "a.j2", False, True),
    "chat template": ("{% for message in messages %}{{ message.content }}{% endfor %}", "a.j2", False, True),
    "named a prompt": ("Do it: {{ x }}", "prompts/do.j2", False, True),
    "named by the user": ("Do it: {{ x }}", "a.j2", True, True),
    "mail": ("Hi {{ user.name }}, you are receiving this because {{ reason }}", "mail.txt.j2", False, False),
    "page": ("<html>You are a guest.\n{{ now() }}</html>", "a.j2", True, False),
    "page by suffix": ("You are the guest\n{{ now() }}", "a.html.j2", True, False),
    "configuration": ("server {\n listen {{ port }};\n}", "nginx.conf.j2", True, False),
}


@pytest.mark.parametrize(("text", "path", "explicit", "is_prompt"), PROMPTS.values(), ids=PROMPTS.keys())
def test_only_what_is_clearly_a_prompt_is_read(text: str, path: str, *, explicit: bool, is_prompt: bool) -> None:
    unit = jinja.read(SourceFile(path, text), explicit=explicit)

    assert bool(unit.prompts) == is_prompt


def test_deep_nesting_ends() -> None:
    text = "{{ " + "(" * 5000 + "now()" + ")" * 5000 + " }}" + "{% if x %}" * 300 + "a" + "{% endif %}" * 300

    prompts, problems = jinja.prompts_of(text, Lines("t.j2", text), "system")

    assert prompts
    assert problems == ()
