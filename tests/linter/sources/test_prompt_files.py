"""Prompt files: placeholders in text and Markdown, strings in YAML, TOML and JSON."""

from __future__ import annotations

import json

import pytest

from promptlint_core.cadence import Cadence, Origin
from promptlint_core.prompt import Part
from promptlint_linter.sources import prompt_files
from promptlint_linter.sources.unit import SourceFile, SourceUnit


def read(text: str, path: str = "prompts/a.md", *, explicit: bool = False) -> SourceUnit:
    return prompt_files.read(SourceFile(path, text), explicit=explicit)


PLACEHOLDERS = {
    "braces": "It is {now}. Be kind.",
    "double braces": "It is {{ now }}. Be kind.",
    "double braces and a dollar": "It is {{$now}}. Be kind.",
    "triple braces": "It is {{{now}}}. Be kind.",
    "conversion": "It is {now!s}. Be kind.",
    "format": "It is {now:%H:%M}. Be kind.",
    "dollar": "It is $now. Be kind.",
    "dollar and braces": "It is ${now}. Be kind.",
    "angles": "It is <<now>>. Be kind.",
    "squares": "It is [[now]]. Be kind.",
}


@pytest.mark.parametrize("text", PLACEHOLDERS.values(), ids=PLACEHOLDERS.keys())
def test_a_placeholder_is_a_value_named_by_it(text: str) -> None:
    before, value, behind = read(text).prompts[0].segments

    assert (before.text, value.origin, value.cadence, behind.text) == (
        "It is ",
        Origin.CLOCK,
        Cadence.CALL,
        ". Be kind.",
    )
    assert (value.place.line, value.place.column) == (1, 7)  # type: ignore[union-attr]


LITERAL = {
    "JSON example": 'Answer with {"now": 1}.',
    "escaped braces": "Answer with {{}}.",
    "price": "It costs $5.",
    "plain": "Be kind.",
    "code in a named language": 'Like this:\n```python\nf"It is {now}."\n```\nBe kind.',
}


@pytest.mark.parametrize("text", LITERAL.values(), ids=LITERAL.keys())
def test_text_that_only_looks_like_a_placeholder_is_text(text: str) -> None:
    assert [s.text for s in read(text).prompts[0].segments] == [text]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Take {limit} steps. <step_{{step}}> comes first.", ["{limit}"]),
        ("Take {limit} steps. It is {{ now }}.", ["{limit}", "{{ now }}"]),
        ("It is {{now}}. Be kind.", ["{{now}}"]),
    ],
    ids=["fields in single braces", "written as Jinja", "no other fields"],
)
def test_doubled_braces_are_literal_where_fields_have_single_ones(text: str, values: list[str]) -> None:
    assert values == [s.expression for s in read(text).prompts[0].segments if s.text is None]


def test_a_fence_without_a_language_may_hold_a_value() -> None:
    assert [s.text is None for s in read("Text:\n```\n{context}\n```\nBe kind.").prompts[0].segments] == [
        False,
        True,
        False,
    ]


def test_jinja_signs_in_a_prompt_file_are_read_as_jinja() -> None:
    [prompt] = read("{% for d in documents %}{{ d }}{% endfor %} Be kind.").prompts

    assert [s.origin for s in prompt.segments] == [Origin.RETRIEVAL, Origin.LITERAL]


def test_the_name_of_a_file_says_whose_words_it_holds() -> None:
    assert read("Hello {x}", "prompts/user.md").prompts[0].segments[0].part is Part.MESSAGES
    assert read("Hello {x}", "prompts/system.md").prompts[0].segments[0].part is Part.SYSTEM


YAML = """\
# a comment
model: gpt-4o
system_prompt: |
  You are a clerk of the city library.

  It is {now}.
  Be kind to every reader, and never promise a reservation.
short: "{now}"
user_prompt: "Question: {question} Answer as the rules of the house ask you to, please, and briefly."
"""


def test_yaml_strings_under_telling_keys_are_prompts_with_their_lines() -> None:
    system, user = read(YAML, "config/prompts.yaml").prompts

    [value] = [s for s in system.segments if s.text is None]
    assert (system.name, value.place.line, value.place.column) == ("system_prompt", 6, 9)  # type: ignore[union-attr]
    assert (user.name, user.segments[0].part) == ("user_prompt", Part.MESSAGES)


def test_a_yaml_file_of_another_name_needs_text_that_speaks_to_a_model() -> None:
    assert [prompt.name for prompt in read(YAML, "config/settings.yaml").prompts] == ["system_prompt"]
    assert (
        read(
            "description: |\n  You are the owner {now}\n  of this and more, much more than that, are you not?\n",
            "a.yaml",
        ).prompts
        == ()
    )


def test_a_yaml_file_that_the_user_names_needs_a_telling_key_only() -> None:
    text = (
        "system: |\n  Now: {now}\n  Check expense reports, and reject every line without a receipt.\ncontent: |\n"
        + "  a\n" * 40
    )

    assert [prompt.name for prompt in read(text, "a.yaml", explicit=True).prompts] == ["system"]
    assert read(text, "a.yaml").prompts == ()


def test_a_list_of_messages_is_one_prompt() -> None:
    text = json.dumps(
        {
            "messages": [
                {"role": "system", "content": "You are a clerk. It is {now}."},
                {"role": "user", "content": "{question}"},
            ]
        },
        indent="\t",
    )

    [prompt] = read(text, "prompts/ask.json").prompts

    assert [(s.part, s.role) for s in prompt.segments if s.text is None] == [
        (Part.SYSTEM, "system"),
        (Part.MESSAGES, "user"),
    ]
    assert [s.place.line for s in prompt.segments if s.text is None] == [5, 9]  # type: ignore[union-attr]


def test_toml_strings_are_found_where_they_are_written() -> None:
    text = 'name = "x"\n[agent]\nsystem_prompt = """\nYou are a clerk of the city library in the old town.\nIt is {now}.\nBe kind.\n"""\n'

    [prompt] = read(text, "prompts.toml").prompts

    [value] = [s for s in prompt.segments if s.text is None]
    assert value.place.line == 5  # type: ignore[union-attr]


def test_the_chat_template_of_a_tokenizer_is_read() -> None:
    template = "{{ strftime_now('%H:%M') }}{% for message in messages %}{{ message.content }}{% endfor %}"

    [prompt] = read(json.dumps({"chat_template": template, "eos_token": "</s>"}), "m/tokenizer_config.json").prompts

    assert [s.origin for s in prompt.segments] == [Origin.CLOCK, Origin.HISTORY]


BROKEN = {
    "YAML": ("a: [1\nb: 2", "prompts/a.yaml", "no YAML"),
    "JSON": ('{"prompt": ', "prompts/a.json", "no JSON"),
    "TOML": ("prompt = ", "prompts/a.toml", "no TOML"),
}


@pytest.mark.parametrize(("text", "path", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_file_of_prompts_that_cannot_be_read_is_told(text: str, path: str, message: str) -> None:
    [problem] = read(text, path).problems

    assert message in problem.message


def test_a_broken_file_of_another_kind_is_not_our_business() -> None:
    assert read("a: [1\nYou are a clerk", "helm/values.yaml").problems == ()


def test_yaml_that_refers_to_itself_or_nests_without_end_ends() -> None:
    assert read("prompt: &a\n  - *a\n", "prompts/a.yaml").prompts == ()
    assert read("[" * 3000, "prompts/a.json").prompts == ()


def test_aliases_that_multiply_are_read_once() -> None:
    layers = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12))

    assert read(f"l0: &l0 [a]\n{layers}\n", "prompts/a.yaml").problems == ()


LONG_LINE = "Your task is to sum up {context} in one line, then name the three points that matter most to a reader."
JOBS = {
    "a program in a job": (".github/workflows/optimize-prompts.yml", "script", 0),
    "a body in a job": (".github/workflows/optimize-prompts.yml", "body", 0),
    "a prompt in a job": (".github/workflows/optimize-prompts.yml", "prompt", 1),
    "a program in a file of prompts": ("prompts/sum.yaml", "script", 0),
    "any text in a file of prompts": ("prompts/sum.yaml", "body", 1),
}


@pytest.mark.parametrize(("path", "key", "found"), JOBS.values(), ids=JOBS)
def test_the_programs_and_texts_of_jobs_are_no_prompts(path: str, key: str, found: int) -> None:
    assert found == len(read(f"steps:\n  - {key}: |\n      {LONG_LINE}\n      Be brief.\n", path).prompts)
