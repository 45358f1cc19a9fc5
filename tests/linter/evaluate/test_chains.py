"""What a chain of prompt and model gives is the model's answer, no prompt."""

from __future__ import annotations

import pytest
from linter_reading import RULES, read

HEAD = (
    "from langchain_core.prompts import ChatPromptTemplate\nfrom langchain_openai import ChatOpenAI\n"
    f"RULES = {RULES!r}\nprompt = ChatPromptTemplate.from_template('Question: {{question}} ' + RULES)\n"
)
CHAIN, ANSWER = 6, 7
CHAINS = {
    "a model behind it": ("(prompt | ChatOpenAI(model='m', max_tokens=9)).invoke({'question': query})", CHAIN),
    "a model and a parser": (
        "(prompt | ChatOpenAI(model='m', max_tokens=9) | parse).invoke({'question': query})",
        CHAIN,
    ),
    "the prompt alone": ("prompt.format(question=query)", ANSWER),
}


@pytest.mark.parametrize(("chain", "line"), CHAINS.values(), ids=CHAINS)
def test_an_answer_does_not_hold_the_prompt(chain: str, line: int) -> None:
    code = f"def run(query, parse):\n    answer = {chain}\n    return f'You are told what came of it: {{answer}} Use it.'\n"
    prompts = read(HEAD + code).prompts

    asking = [prompt for prompt in prompts if any(segment.expression == "query" for segment in prompt.segments)]
    assert [line] == [prompt.place.line for prompt in asking if prompt.place]
