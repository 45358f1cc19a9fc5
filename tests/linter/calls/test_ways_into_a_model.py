"""However a prompt reaches a model, what changes in it is found; what is read once, or cut down, is not told."""

from __future__ import annotations

import pytest
from linter_reading import changing, read

from promptlint_linter.calls import retrieval

RULES = "Answer in two sentences. Name the shelf of every book. Never promise a reservation. Be brief and be kind. " * 2
HEAD = f"from datetime import datetime\nRULES = {RULES!r}\n"

CLOCKS = {
    "a callable given to an agent": (
        "from agents import Agent\ndef head(ctx, agent):\n    return f'{datetime.now()} ' + RULES\n"
        "desk = Agent(name='desk', instructions=head)\n"
    ),
    "a decorated function": (
        "from pydantic_ai import Agent\nagent = Agent('openai:m')\n"
        "@agent.instructions\ndef rules(ctx) -> str:\n    return f'{datetime.now()} ' + RULES\n"
    ),
    "a JSON body": (
        "import json, boto3\nruntime = boto3.client('bedrock-runtime')\ndef judge(q):\n"
        "    body = {'max_tokens': 9, 'system': f'{datetime.now()} ' + RULES, 'messages': []}\n"
        "    return runtime.invoke_model(modelId='m', body=json.dumps(body))\n"
    ),
    "a batch": (
        "from vllm import LLM\nllm = LLM('m')\ndef sort(lines):\n"
        "    return llm.generate([f'{datetime.now()} {RULES}' + line for line in lines])\n"
    ),
    "a chain's values": (
        "from langchain_core.prompts import ChatPromptTemplate\nfrom langchain_openai import ChatOpenAI\n"
        "prompt = ChatPromptTemplate.from_messages([('system', '{time} ' + RULES), ('human', '{q}')])\n"
        "chain = prompt | ChatOpenAI(model='m', max_tokens=9)\n"
        "def ask(q):\n    return chain.invoke({'time': datetime.now().isoformat(), 'q': q})\n"
    ),
    "a package that was configured first": (
        "import litellm\nlitellm.set_verbose = True\n"
        "def ask(q):\n    return litellm.completion('m', [{'role': 'system', 'content': f'{datetime.now()} {RULES}'}])\n"
    ),
}


@pytest.mark.parametrize("code", CLOCKS.values(), ids=CLOCKS)
def test_a_clock_is_seen_whatever_way_the_prompt_is_given(code: str) -> None:
    assert "clock/call" in changing(read(HEAD + code))


ONCE = {
    "set in __init__": (
        "from openai import OpenAI\nclient = OpenAI()\nclass Chat:\n    def __init__(self):\n"
        "        self.system = f'{datetime.now()} {RULES}'\n    def ask(self, q):\n"
        "        return client.responses.create(model='m', instructions=self.system, input=q, max_output_tokens=9)\n"
    ),
    "a cached function": (
        "from functools import lru_cache\nfrom openai import OpenAI\nclient = OpenAI()\n"
        "@lru_cache\ndef start():\n    return datetime.now().isoformat()\n"
        "def ask(q):\n    return client.responses.create(model='m', instructions=start() + RULES, input=q)\n"
    ),
}


@pytest.mark.parametrize("code", ONCE.values(), ids=ONCE)
def test_a_clock_that_is_read_once_does_not_change_from_call_to_call(code: str) -> None:
    assert "clock/call" not in changing(read(HEAD + code))


LOOPS = {
    "counted down": ("left -= 1", True),
    "cut from a text": ("left = left.strip()", False),
}


@pytest.mark.parametrize(("step", "counts"), LOOPS.values(), ids=LOOPS)
def test_a_number_that_a_loop_changes_is_a_counter(step: str, counts: bool) -> None:
    code = (
        "from openai import OpenAI\nclient = OpenAI()\ndef run(left, q):\n    while left:\n"
        "        client.responses.create(model='m', instructions=f'{left} {RULES}', input=q)\n"
        f"        {step}\n"
    )

    assert ("state/turn" in changing(read(HEAD + code))) is counts


CUTS = {
    "a reranker": ("retriever = Compression(base_compressor=CohereRerank(top_n=5))", True),
    "a token budget": ("if used > token_budget: break", True),
    "a slice": ("text = join(docs[:5])", True),
    "a slice of what was ranked": ("text = join(d.text for d in ranked[:5])", True),
    "a slice of something else": ("title = join(words[:5])", False),
    "none": ("text = join(d.page_content for d in docs)", False),
}


@pytest.mark.parametrize(("code", "cut"), CUTS.values(), ids=CUTS)
def test_passages_that_are_cut_down_are_not_all_sent(code: str, cut: bool) -> None:
    assert retrieval.is_cut_down(code) is cut
