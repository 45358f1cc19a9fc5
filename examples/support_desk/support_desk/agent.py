"""Work on an order in several steps, with tools."""

from __future__ import annotations

import json
import os
import uuid

from support_desk.clients import OPENAI_MODEL, openai_client
from support_desk.shop import DATA, find_articles, load_order

MOST_STEPS = 6
TOOL_NAMES = {"load_order", "find_articles"}

AGENT_RULES = """You work on the orders of a garden shop with the tools that you are given.
Look an order up before you say anything of it. Never invent a number, a date or an amount.
Change nothing that the customer did not ask for. When a rule forbids it, say which one.
Refunds above two hundred euros are decided by a colleague: stop there and say so.
Plants are sent from Monday to Wednesday only. An address can be changed until the parcel is handed over.
When the work is done, answer with what was done, what was not, and what the customer has to do next.
"""


def describe(name: str) -> dict[str, object]:
    """The schema of one tool."""
    parameter = {"load_order": "number", "find_articles": "words"}[name]
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": f"{name.replace('_', ' ')} of the shop",
            "parameters": {
                "type": "object",
                "properties": {parameter: {"type": "string"}},
                "required": [parameter],
            },
        },
    }


def run_tool(name: str, arguments: dict[str, str]) -> str:
    """The result of one tool call as text."""
    if name == "load_order":
        return json.dumps(load_order(arguments["number"]))
    return "\n\n".join(find_articles(arguments["words"], 2))


def work_on(task: str) -> str:
    """Let the model work on a task, step by step."""
    messages: list[dict[str, object]] = [{"role": "user", "content": task}]
    for step in range(1, MOST_STEPS + 1):
        shelves = ", ".join(os.listdir(DATA / "articles"))  # fault: KV106
        system = f"Step {step} of {MOST_STEPS}. Articles at hand: {shelves}\n\n{AGENT_RULES}"  # fault: KV109
        reply = openai_client().chat.completions.create(
            model=OPENAI_MODEL,
            messages=[{"role": "system", "content": system}, *messages],
            tools=[describe(name) for name in TOOL_NAMES],  # fault: KV201
            max_completion_tokens=800,
            prompt_cache_key=str(uuid.uuid4()),  # fault: KV408
        )
        message = reply.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            result = run_tool(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return "The work took too many steps; a colleague will go on with it."
