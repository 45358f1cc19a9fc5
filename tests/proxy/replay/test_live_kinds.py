"""Kinds of faults on the wire, each in several shapes, and look-alikes that must stay silent."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from wire_cases import (
    ANTHROPIC,
    OPENAI,
    assistant,
    block,
    call,
    chat,
    claude,
    claude_usage,
    converse,
    entries,
    gemini,
    responses,
    result,
    rules,
    system,
    told,
    told_at_all,
    tool,
    usage,
    user,
)

R = rules()
Lines = list[dict[str, Any]]


def heads(*texts: str, host: str = OPENAI, ask: str = "Question?") -> Lines:
    """One single-turn request a head; questions differ."""
    return [chat(9.0 * n, [system(text), user(f"{ask} {n}")], host) for n, text in enumerate(texts)]


def turns(*texts: str, host: str = OPENAI) -> Lines:
    """One conversation whose system text is given turn by turn."""
    lines = []
    history = [user("Tidy the stock list.")]
    for n, text in enumerate(texts):
        lines.append(chat(20.0 * n, [system(text), *history], host))
        history = [*history, assistant(f"Part {n} is done, {entries(n * 5, 2)}"), user(f"Go on with {n}.")]
    return lines


def replayed(first: list[dict[str, Any]], second: list[dict[str, Any]], host: str = OPENAI, **body: Any) -> Lines:
    """Two turns of one conversation under one system text."""
    return [
        chat(0, [system(R), *first], host, **copy.deepcopy(body)),
        chat(40, [system(R), *second, assistant("Yes."), user("Next one.")], host, **copy.deepcopy(body)),
    ]


MARGIN_LINE = (
    "Check the order number before you answer, and never promise a date that the carrier has not yet confirmed"
)
LONG = [
    user("Go through the tickets."),
    call("read", "{}", "c1"),
    result(entries(1, 12), "c1"),
    assistant(entries(20, 8)),
    user("Go on."),
]

FAULTS: dict[str, tuple[Lines, set[str]]] = {
    # order
    "clock to the minute at the head": (turns(*(f"Now: 2026-09-09 10:0{m}. {R}" for m in range(3))), {"KV101"}),
    "clock with weekday and am": (heads(f"It is Tuesday, 10:04 AM.\n{R}", f"It is Tuesday, 10:09 AM.\n{R}"), {"KV101"}),
    "epoch seconds": (heads(f"<ts>1790000000</ts>{R}", f"<ts>1790000019</ts>{R}"), {"KV101"}),
    "ISO time in the middle": (turns(*(f"{R[:3000]}\nupdated 2026-09-09T10:00:0{s}Z\n{R[3000:]}" for s in range(2))), {"KV101"}),
    "clock in a tool description": (
        [chat(9.0 * n, [system(R), user("hi")], OPENAI, tools=[tool("book", f"Books. Time now is 10:0{n}:31.")]) for n in range(2)],
        {"KV101"},
    ),
    "framework sentence": (heads(*(f"The current time is 2026-10-19 08:05:{s}.402117.\n{R}" for s in (31, 56))), {"KV102"}),
    "random hex token": (heads(f"trace=9f8c2a1b77de\n{R}", f"trace=03bb2a9c71fa\n{R}"), {"KV104"}),
    "ULID": (heads(f"run 01J9ZC3V5K8Q2W7R4T6Y1B0N3M {R}", f"run 01J9ZC3V9X1D5F7G2H4J6K8M0P {R}"), {"KV104"}),
    "random id in a tool description": (
        [chat(9.0 * n, [system(R), user("hi")], OPENAI, tools=[tool("book", f"Books. Handle {h}.")]) for n, h in enumerate(("7f3c1d9e-51b0-4d0e-9d0a-6a1c2f7e8b10", "b81e02aa-0c55-4f7d-8b46-90d1c33a7e52"))],
        {"KV104"},
    ),
    "address of an object": (heads(f"Store <Store object at 0x7f8a1c2b90d0>\n{R}", f"Store <Store object at 0x7f3b77aa10e8>\n{R}"), {"KV104"}),
    "random id within a conversation": (turns(f"req_id: 8c1f2ab90d\n{R}", f"req_id: 77ab09cd12\n{R}"), {"KV104"}),
    "temporary folder": (turns(f"Scratch dir /tmp/tmpab12cd34ef\n{R}", f"Scratch dir /tmp/tmp99zz0011aa\n{R}"), {"KV104"}),
    "compact time stamp": (turns(f"log 20260909174208\n{R}", f"log 20260909174231\n{R}"), {"KV101"}),
    "an hour of the day": (heads(f"It is 5 o'clock.\n{R}", f"It is 6 o'clock.\n{R}", f"It is 7 o'clock.\n{R}"), {"KV101"}),
    "a short age": (turns(f"Stock is 5m old.\n{R}", f"Stock is 9m old.\n{R}"), {"KV101"}),
    "an age that starts at just now": (turns(f"Synced just now.\n{R}", f"Synced 4 minutes ago.\n{R}"), {"KV101"}),
    "clock leads a prompt without a system text": (
        [chat(9.0 * n, [user(f"Now: 10:04:{n}1\n{R}\n\nQuestion: {entries(n * 9, 1)}")], OPENAI) for n in range(2)],
        {"KV101"},
    ),
    "clock leads a completion prompt": (
        [{"t": 9.0 * n, "path": "/v1/completions", "headers": {"host": "127.0.0.1:8000"}, "request": {"model": "Qwen3-8B", "max_tokens": 300, "prompt": f"Now: 10:04:{n}1\n{R}\n\nUser: {entries(n * 9, 1)}\nAssistant:"}} for n in range(2)],
        {"KV101"},
    ),
    "task leads a prompt without a system text": (
        [chat(9.0 * n, [user(f"Task: {t}\n{R}")], OPENAI) for n, t in enumerate(("write to the landlord", "plan a menu for twelve"))],
        {"KV110"},
    ),
    "base64 nonce": (turns(f"seed: q83Kx+0/Lm2fVQ==\n{R}", f"seed: Zx91aB3+kT/0pg==\n{R}"), {"KV104"}),
    "lower-case token": (turns(f"boundary k3j9x0q2\n{R}", f"boundary p8z1m4v7\n{R}"), {"KV104"}),
    "generated end of a tool's name": (
        [chat(9.0 * n, [system(R), user(f"hi {n}")], OPENAI, tools=[tool(f"look_up_{h}", "Looks."), tool("book")]) for n, h in enumerate(("8fk2", "0qz7"))],
        {"KV104"},
    ),
    "user name in brackets": (heads(f"User: Ines Albrecht\n{R}", f"User: Pavel Dvorak\n{R}"), {"KV105"}),
    "mail address": (heads(f"Signed in as ines@example.org.\n{R}", f"Signed in as pavel@example.net.\n{R}"), {"KV105"}),
    "session id": (heads(f"Session 8c1f2ab90d7711.\n{R}", f"Session 77ab09cd12aa90.\n{R}"), {"KV105"}),
    "tenant name": (heads(f"You are the assistant of Nordwind GmbH. {R}", f"You are the assistant of Bergblick AG. {R}"), {"KV105"}),
    "customer tag": (heads(f"<customer>\nname: Ines\nplan: gold\n</customer>\n{R}", f"<customer>\nname: Pavel\nplan: basic\n</customer>\n{R}"), {"KV105"}),
    "who is assisted, with details": (heads(f"You assist Ines Albrecht, a gold customer since 2019.\n{R}", f"You assist Pavel Dvorak, a basic customer since 2023.\n{R}"), {"KV105"}),
    "host name between machines": (heads(f"Hostname: web-17.internal\n{R}", f"Hostname: web-22.internal\n{R}"), {"KV106"}),
    "working directory": (turns(f"Working directory: /srv/shop\n{R}", f"Working directory: /srv/shop/tests\n{R}"), {"KV106"}),
    "file list": (turns(f"Files:\nsrc/app.py\nsrc/db.py\n\n{R}", f"Files:\nsrc/app.py\nsrc/db.py\nsrc/new.py\n\n{R}"), {"KV106"}),
    "git branch": (turns(f"Git branch: main, 3 commits ahead\n{R}", f"Git branch: fix-rounding, 1 commit ahead\n{R}"), {"KV106"}),
    "memories": (turns(f"## Memories\n- likes boots\n- lives in Graz\n\n{R}", f"## Memories\n- likes boots\n- has a dog\n- lives in Graz\n\n{R}"), {"KV108"}),
    "knowledge tag": (heads(f"<knowledge>\n{entries(1, 6)}\n</knowledge>\n{R}", f"<knowledge>\n{entries(60, 6)}\n</knowledge>\n{R}"), {"KV108"}),
    "retrieved documents": (turns(f"Relevant documents:\n{entries(1, 9)}\n\n{R}", f"Relevant documents:\n{entries(44, 9)}\n\n{R}"), {"KV108"}),
    "passages lead a first message": (
        [chat(9.0 * n, [user(f"Context:\n{entries(n * 40, 8)}\n\n{R}\n\nQuestion: hours?")], OPENAI) for n in range(2)],
        {"KV108"},
    ),
    "files of a workspace": (turns(f"Files in workspace:\n- src/app.py\n- src/db.py\n{R}", f"Files in workspace:\n- src/app.py\n- src/new.py\n{R}"), {"KV106"}),
    "recalled in brackets": (heads(f"[recalled] The person asked about boots.\n{R}", f"[recalled] The person returned a coat.\n{R}"), {"KV108"}),
    "search results for a turn": (turns(f"Search results for this turn:\n1. boots in stock\n2. coats\n{R}", f"Search results for this turn:\n1. fees\n2. postage\n{R}"), {"KV108"}),
    "memories appear": (turns(R, f"<memories>\n- likes boots\n</memories>\n{R}"), {"KV108"}),
    "summary under a heading, speaking of orders": (
        turns(*(f"## Conversation summary\nThe person asked for boots{t}\n\n{R}" for t in (" and got two offers.", ", chose brown; an order is open.", ", all done."))),
        {"KV303"},
    ),
    "remaining budget": (turns(f"Tokens left: 200000\n{R}", f"Tokens left: 188100\n{R}"), {"KV109"}),
    "todo list": (turns(f"Todo:\n[x] read\n[ ] write\n\n{R}", f"Todo:\n[x] read\n[x] write\n\n{R}"), {"KV109"}),
    "sentence on the first turn only": (turns(f"Welcome the user warmly. {R}", R, R), {"KV109"}),
    "sentence on every other turn": (turns(R, f"Remember to be brief. {R}", R, f"Remember to be brief. {R}"), {"KV109"}),
    "iteration number": (turns(f"Iteration: 4\n{R}", f"Iteration: 5\n{R}", f"Iteration: 6\n{R}"), {"KV109"}),
    "goal": (heads(f"Goal: book a table for four.\n{R}", f"Goal: find the cheapest ferry.\n{R}"), {"KV110"}),
    "question tag": (heads(f"<query>opening hours of the hall</query>\n{R}", f"<query>price of a card</query>\n{R}"), {"KV110"}),
    "user asks": (heads(f"The user wants to: cancel an order\n{R}", f"The user wants to: change the address\n{R}"), {"KV110"}),
    # determinism
    "examples as messages in another order": (
        [chat(9.0 * n, [system(R), *[m for k in order for m in (user(f"mail {k}: {entries(k * 5, 1)}"), assistant(f"label {k}"))], user(f"new {n}")], OPENAI) for n, order in enumerate(((1, 2, 3, 4), (3, 1, 4, 2)))],
        {"KV208"},
    ),
    "tools reversed": (
        [chat(9.0 * n, [system(R), user(f"q{n}")], OPENAI, tools=[tool(x) for x in names]) for n, names in enumerate((("a_b", "c_d", "e_f"), ("e_f", "c_d", "a_b")))],
        {"KV201"},
    ),
    "tool removed in a conversation": (
        [
            chat(0, [system(R), user("Open it.")], OPENAI, tools=[tool("look"), tool("book")]),
            chat(9, [system(R), user("Open it."), assistant("Open."), user("Close it.")], OPENAI, tools=[tool("look")]),
        ],
        {"KV202"},
    ),
    "enum from a set": (
        [chat(9.0 * n, [system(R), user(f"q{n}")], OPENAI, tools=[tool("stock", schema={"type": "object", "properties": {"hall": {"enum": e}}})]) for n, e in enumerate((["a", "b", "c"], ["c", "a", "b"]))],
        {"KV203"},
    ),
    "required from a set": (
        [chat(9.0 * n, [system(R), user(f"q{n}")], OPENAI, tools=[tool("stock", schema={"type": "object", "required": e})]) for n, e in enumerate((["a", "b"], ["b", "a"]))],
        {"KV203"},
    ),
    "white space in arguments": (
        replayed(
            [user("Refund."), call("refund", '{"order": 71, "line": 2}'), result("booked"), user("And?")],
            [user("Refund."), call("refund", '{"order":71,"line":2}'), result("booked"), user("And?")],
        ),
        {"KV204"},
    ),
    "key order in a tool result": (
        replayed(
            [user("Look."), call("look", "{}"), result('{"state": "shipped", "lines": [1, 2]}'), user("And?")],
            [user("Look."), call("look", "{}"), result('{"lines": [1, 2], "state": "shipped"}'), user("And?")],
        ),
        {"KV204"},
    ),
    "JSON in the system text": (turns(f'Settings: {{"a": 1, "b": {{"c": 2}}}}\n{R}', f'Settings: {{"b": {{"c": 2}}, "a": 1}}\n{R}'), {"KV204"}),
    "comma list": (heads(f"You may use: pencil, paper, ruler, glue.\n{R}", f"You may use: glue, pencil, ruler, paper.\n{R}"), {"KV205"}),
    "bullet list": (turns(f"Skills:\n- cook\n- sew\n- sing\n\n{R}", f"Skills:\n- sing\n- cook\n- sew\n\n{R}"), {"KV205"}),
    "directory listing in another order": (heads(f"Files:\na.py\nb.py\nc.py\n\n{R}", f"Files:\nc.py\na.py\nb.py\n\n{R}"), {"KV205"}),
    "results swapped inside one message": (
        [
            claude(
                t,
                R,
                [
                    user("Track both."),
                    {"role": "assistant", "content": [{"type": "tool_use", "id": i, "name": "track", "input": {"p": p}} for i, p in (("t1", 1), ("t2", 2))]},
                    user([{"type": "tool_result", "tool_use_id": i, "content": c} for i, c in order]),
                    *more,
                ],
            )
            for t, order, more in (
                (0, (("t2", "on the van"), ("t1", "in the depot")), []),
                (9, (("t1", "in the depot"), ("t2", "on the van")), [assistant("Both found."), user("Thanks.")]),
            )
        ],
        {"KV206"},
    ),
    "ids made anew, Anthropic": (
        [
            claude(
                t,
                R,
                [
                    user("Find it."),
                    {"role": "assistant", "content": [{"type": "tool_use", "id": i, "name": "find", "input": {"p": 1}}]},
                    user([{"type": "tool_result", "tool_use_id": i, "content": "shipped"}]),
                    *more,
                ],
            )
            for t, i, more in ((0, "toolu_01AbCdEf99", []), (9, "toolu_01ZzYyXx11", [assistant("Shipped."), user("When?")]))
        ],
        {"KV207"},
    ),
    "other examples": (
        heads(
            f"Q: late\nA: delivery\nQ: torn\nA: warranty\nQ: twice\nA: payment\n\n{R}",
            f"Q: wet\nA: delivery\nQ: burnt\nA: warranty\nQ: lost\nA: delivery\n\n{R}",
        ),
        {"KV208"},
    ),
    "examples under a heading": (
        heads(f"## Examples\nInput: late\nOutput: delivery\nInput: torn\nOutput: warranty\n\n{R}", f"## Examples\nInput: torn\nOutput: warranty\nInput: late\nOutput: delivery\n\n{R}"),
        {"KV208"},
    ),
    # history
    "window of the last four": (
        [
            chat(20.0 * n, [system(R), *[m for k in range(n, n + 2) for m in (user(f"Question {k}: {entries(k * 9, 2)}"), assistant(f"Answer {k}: {entries(k * 9 + 4, 2)}"))], user(f"Question {n + 2}: {entries((n + 2) * 9, 2)}")], OPENAI)
            for n in range(3)
        ],
        {"KV301"},
    ),
    "oldest message popped": (
        [
            chat(0, [system(R), user("One: " + entries(1)), assistant("A: " + entries(5)), user("Two: " + entries(9)), assistant("B: " + entries(14)), user("Three?")], OPENAI),
            chat(9, [system(R), assistant("A: " + entries(5)), user("Two: " + entries(9)), assistant("B: " + entries(14)), user("Three?"), assistant("C."), user("Four?")], OPENAI),
        ],
        {"KV301"},
    ),
    "first message kept, window behind it slides": (
        [
            chat(9.0 * n, [system(R), user("Start with the north depot."), *[m for k in range(n, n + 3) for m in (assistant(f"Step {k}: {entries(k * 9, 2)}"), user(f"Go {k}."))]], OPENAI)
            for n in range(3)
        ],
        {"KV301"},
    ),
    "examples kept at the head, window behind them slides": (
        [
            chat(9.0 * n, [system(R), *[m for k in range(2) for m in (user(f"Example {k}"), assistant(f"Label {k}"))], *[m for k in range(n, n + 3) for m in (user(f"Question {k}: {entries(k * 9, 2)}"), assistant(f"Answer {k}: {entries(k * 9 + 4, 2)}"))], user(f"Question {n + 3}: {entries((n + 3) * 9, 2)}")], OPENAI)
            for n in range(3)
        ],
        {"KV301"},
    ),
    "old call and result taken out of the middle": (
        replayed(
            [user("Start."), assistant("Yes: " + entries(1, 2)), user("Read it."), call("read", "{}", "c1"), result(entries(20, 6), "c1"), assistant("Read. " + entries(40, 2)), user("And the other?"), assistant("Too. " + entries(50, 2)), user("Go on.")],
            [user("Start."), assistant("Yes: " + entries(1, 2)), user("Read it."), assistant("Read. " + entries(40, 2)), user("And the other?"), assistant("Too. " + entries(50, 2)), user("Go on.")],
        ),
        {"KV302"},
    ),
    "two exchanges taken out of the middle": (
        replayed(
            [m for k in range(5) for m in (user(f"Question {k}: {entries(k * 9, 2)}"), assistant(f"Answer {k}: {entries(k * 9 + 4, 2)}"))] + [user("Last?")],
            [m for k in (0, 1, 4) for m in (user(f"Question {k}: {entries(k * 9, 2)}"), assistant(f"Answer {k}: {entries(k * 9 + 4, 2)}"))] + [user("Last?")],
        ),
        {"KV302"},
    ),
    "image removed from an old message": (
        replayed(
            [user([{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgoAAA"}}]), assistant(entries(1)), user("And?")],
            [user([{"type": "text", "text": "What is it?"}]), assistant(entries(1)), user("And?")],
        ),
        {"KV302"},
    ),
    "old result cut to its head": (
        replayed(LONG, [LONG[0], LONG[1], result(entries(1, 12)[:80] + " […]", "c1"), *LONG[3:]]),
        {"KV302"},
    ),
    "summary message rewritten": (
        [
            chat(0, [system(R), user("Summary of the conversation: a coat."), assistant("Noted."), user("M?"), assistant("Yes."), user("Blue?")], OPENAI),
            chat(9, [system(R), user("Summary of the conversation: a coat in M, boots."), assistant("Noted."), user("M?"), assistant("Yes."), user("Blue?"), assistant("Blue."), user("Ok.")], OPENAI),
        ],
        {"KV303"},
    ),
    "think part stripped": (
        replayed([user("Count?"), assistant("<think>I add it up. " + entries(1) + "</think>\n\nForty."), user("And?")], [user("Count?"), assistant("Forty."), user("And?")]),
        {"KV304"},
    ),
    "thinking block dropped": (
        [
            claude(t, R, [user("Count?"), {"role": "assistant", "content": [*think, {"type": "text", "text": "Forty."}]}, *more])
            for t, think, more in (
                (0, [{"type": "thinking", "thinking": "I add it up slowly.", "signature": "x"}], [user("And?")]),
                (9, [], [user("And?"), assistant("Six."), user("Ok.")]),
            )
        ],
        {"KV304"},
    ),
    "reminder message not replayed": (
        [
            chat(0, [system(R), user("I slept badly."), assistant("Oh."), user("Yes."), system("Reminder: be kind.")], OPENAI),
            chat(9, [system(R), user("I slept badly."), assistant("Oh."), user("Yes."), assistant("Rest."), user("Ok."), system("Reminder: be kind.")], OPENAI),
        ],
        {"KV305"},
    ),
    "age of old messages": (
        replayed([user("(2 minutes ago) How many?"), assistant(entries(1)), user("And?")], [user("(3 minutes ago) How many?"), assistant(entries(1)), user("And?")]),
        {"KV306"},
    ),
    "image encoded anew": (
        replayed(
            [user([{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAA" * 9}}]), assistant(entries(1)), user("And?")],
            [user([{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgBB" * 9}}]), assistant(entries(1)), user("And?")],
        ),
        {"KV308"},
    ),
    "memories in an early message": (
        [
            chat(9.0 * n, [system(R), user(f"<memories>\n{m}\n</memories>"), user("Hello."), assistant(entries(1, 9)), user("And?"), *more], OPENAI)
            for n, (m, more) in enumerate((("- likes boots", []), ("- likes boots\n- has a dog", [assistant("Yes."), user("Ok.")])))
        ],
        {"KV108"},
    ),
    "environment in the first message": (
        [
            chat(9.0 * n, [system(R), user(f"<env>\ngit status:\n{m}\n</env>\n{entries(1, 9)}\nFix it."), *more], OPENAI)
            for n, (m, more) in enumerate(((" M a.py", []), (" M a.py\n M b.py", [assistant("Done."), user("Ok.")])))
        ],
        {"KV106"},
    ),
    "a note put in between": (replayed([user("A?"), assistant("B."), user("C?")], [user("A?"), system("Be kind."), assistant("B."), user("C?")]), {"KV302"}),
    "ids made anew, responses": (
        [
            responses(t, [user("Find."), {"type": "function_call", "call_id": i, "name": "find", "arguments": "{}"}, {"type": "function_call_output", "call_id": i, "output": "shipped"}, *more], R)
            for t, i, more in ((0, "call_aa11bb22cc33", []), (9, "call_99ff88ee77dd", [assistant("Shipped."), user("When?")]))
        ],
        {"KV207"},
    ),
    "window at Gemini": (
        [gemini(9.0 * n, [x for k in range(n, n + 3) for x in (f"Question {k} {entries(k * 7)}", f"Answer {k} {entries(k * 7 + 3)}")] + [f"Question {n + 3} {entries((n + 3) * 7)}"], R) for n in range(3)],
        {"KV301"},
    ),
    "tenant at Bedrock": ([converse(9.0 * n, [{"text": f"Tenant: {t}\n{R}"}, {"cachePoint": {"type": "default"}}], "Hello.") for n, t in enumerate(("Nordwind", "Bergblick"))], {"KV105"}),
    # cache controls
    "cache point behind a time": ([converse(9.0 * n, [{"text": f"{R}\nTime 10:00:0{n}"}, {"cachePoint": {"type": "default"}}], "Hello.") for n in range(2)], {"KV401"}),
    "every line indented as in the source": (heads("\n".join(f"                {k}. {MARGIN_LINE}" for k in range(60)), host=OPENAI)[:1], {"KV506"}),
    "all but the first line indented as in the source": (heads("You are kind.\n" + "\n".join(f"        {k}. {MARGIN_LINE}" for k in range(60)), host=OPENAI)[:1], {"KV506"}),
    "only the question is marked": (
        [claude(9.0 * n, R, [user([block(f"Question {n}?", marked=True)])], usage=claude_usage(3, 1500)) for n in range(2)],
        {"KV401"},
    ),
    "marked block ends with a random id": (
        [claude(9.0 * n, [block(f"{R}\nref {h}", marked=True)], [user("Fee?")], usage=claude_usage(3, 1500)) for n, h in enumerate(("9f8c2a1b77de", "03bb2a9c71fa"))],
        {"KV401"},
    ),
    "marker on each of six messages": (
        [claude(0, R, [m for k in range(3) for m in (user([block(f"Q{k}", marked=True)]), {"role": "assistant", "content": [block(f"A{k}", marked=True)]})][:-1])],
        {"KV402"},
    ),
    "routed to another provider": (
        [
            chat(0, [system(R), user("Hello.")], "openrouter.ai", model="meta-llama/llama-3.3-70b", response={"provider": "Together"}),
            chat(9, [system(R), user("Hello."), assistant("Hi."), user("More.")], "openrouter.ai", model="meta-llama/llama-3.3-70b", response={"provider": "DeepInfra"}),
        ],
        {"KV406"},
    ),
    "thinking switched on": (
        [
            claude(0, [block(R, marked=True)], [user([block("Hello.", marked=True)])]),
            claude(9, [block(R, marked=True)], [user("Hello."), assistant("Hi."), user([block("Why?", marked=True)])], thinking={"type": "enabled", "budget_tokens": 2000}, max_tokens=4000),
        ],
        {"KV407"},
    ),
    "response format switched": (
        [
            chat(0, [system(R), user("Hello.")], OPENAI),
            chat(9, [system(R), user("Hello."), assistant("Hi."), user("As data.")], OPENAI, response_format={"type": "json_object"}),
        ],
        {"KV407"},
    ),
    "routing key by uuid": (
        [chat(9.0 * n, [system(R), user(f"Ticket {n}")], OPENAI, prompt_cache_key=f"{n}f3c1d9e-51b0-4d0e-9d0a-6a1c2f7e8b1{n}") for n in range(3)],
        {"KV408"},
    ),
    "salt by request on vLLM": (
        [chat(9.0 * n, [system(R), user(f"Ticket {n}")], cache_salt=f"{n}f3c1d9e51b04d0e9d0a6a1c2f7e8b1{n}") for n in range(3)],
        {"KV408"},
    ),
    "five minute marker ahead of one hour": (
        [claude(0, [block("Be brief.", marked=True), block(R, marked=True, ttl="1h")], [user("Hi")])],
        {"KV412"},
    ),
    # size
    "no bound at Gemini": (
        [{"t": 0, "path": "/v1beta/models/gemini-2.5-flash:generateContent", "headers": {"host": "generativelanguage.googleapis.com"}, "request": {"contents": [{"role": "user", "parts": [{"text": "List it."}]}]}}],
        {"KV501"},
    ),
    "no bound on a responses request": ([{"t": 0, "path": "/v1/responses", "headers": {"host": OPENAI}, "request": {"model": "gpt-5.4", "input": "List it."}}], {"KV501"}),
    "bound of minus one": ([chat(0, [user("List it.")], max_tokens=-1)], {"KV501"}),
    "reminder block in each message": (
        [
            chat(0, [m for k in range(4) for m in (user(f"Question {k}?\n\n<system-reminder>{R[:700]}</system-reminder>"), assistant(f"Answer {k}."))][:-1], OPENAI),
        ],
        {"KV503"},
    ),
    "forty fenced passages": (
        [chat(0, [system("Answer from the documents."), user("\n".join(f"<doc id={k}>{entries(k * 5, 5)}</doc>" for k in range(1, 41)) + "\n\nQuestion: count in hall 3?")], OPENAI)],
        {"KV504"},
    ),
    "passages in the system text": (
        [chat(0, [system("\n\n".join(f"Passage {k}: {entries(k * 5, 5)}" for k in range(1, 41))), user("Count in hall 3?")], OPENAI)],
        {"KV504"},
    ),
    "answer of repeated letters": (
        [chat(0, [user("Go.")], usage=usage(9, 0, 4096), max_tokens=4096, response={"finish_reason": "length", "content_tail": "!!!!!!!!!!!!!!!!!!!!"})],
        {"KV505"},
    ),
    "few visible characters": (
        [chat(0, [user("Go.")], usage=usage(9, 0, 9000), max_tokens=16000, response={"finish_reason": "stop", "content_chars": 30})],
        {"KV505"},
    ),
    "engine that never reads": (
        [chat(30.0 * n, [system(R), user(f"Ticket {n}")], usage=usage(1500, 0)) for n in range(5)],
        {"KV701"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_told_and_nothing_else(name: str) -> None:
    lines, expected = FAULTS[name]

    assert expected == told(lines)


INFO: dict[str, tuple[Lines, str]] = {
    "marked part below the minimum": ([claude(0, [block("Be brief.", marked=True)], [user("Hi")], usage=claude_usage(20))], "KV404"),
    "life of an hour dropped to the default": (
        [
            claude(0, [block(R, marked=True, ttl="1h")], [user("Hello.")]),
            claude(9, [block(R, marked=True)], [user("Hello."), assistant("Hi."), user("More.")]),
        ],
        "KV405",
    ),
    "burst at OpenAI": (
        [chat(0.1 * n, [system(R), user(f"Ticket {n}")], OPENAI, usage=usage(1500, 0), response={"first_byte_at": 2.0}) for n in range(4)],
        "KV409",
    ),
    "large bound for a label": (
        [chat(9.0 * n, [system("Label: spam or ham?"), user(f"Mail {n}")], OPENAI, max_tokens=32768, usage=usage(30, 0, 1)) for n in range(4)],
        "KV502",
    ),
    "stream without usage": ([chat(0, [user("Hi")], stream=True, usage={})], "KV601"),
    "usage without cached tokens": ([chat(9.0 * n, [user(f"Hi {n}")], usage=usage(9, None)) for n in range(3)], "KV601"),
    "copy with another white space": (heads(f"You help.\n\n{R}", f"You help.\n{R}"), "KV209"),
}  # fmt: skip


@pytest.mark.parametrize("name", INFO)
def test_the_note_is_told_and_no_fault(name: str) -> None:
    lines, expected = INFO[name]

    assert expected in told_at_all(lines)
    assert set() == told(lines)


def conversation(host: str, count: int, **body: Any) -> Lines:
    """A conversation that only grows."""
    history: list[dict[str, Any]] = []
    lines = []
    for n in range(count):
        history = [*history, user(f"Question {n}: {entries(n * 3, 1)}")]
        lines.append(chat(20.0 * n, [system(R), *history], host, **copy.deepcopy(body)))
        history = [*history, assistant(f"Answer {n}: {entries(n * 3 + 1, 1)}")]
    return lines


SILENT: dict[str, Lines] = {
    "the question leads a short prompt of its own": [chat(9.0 * n, [user(f"{entries(n * 9, 9)}\n\nSum it up in one line.")], OPENAI) for n in range(3)],
    "passages in a message under no system text": [chat(9.0 * n, [user(f"{R}\n\nContext: {entries(n * 40, 4)}\n\nQuestion: {n}?")], OPENAI) for n in range(3)],
    "a summary is put behind the rules once": [
        chat(20.0 * n, [system(R if n < 3 else f"{R}\n\nSummary of earlier talk: all was said."), *[m for k in range(0 if n < 3 else 2, n) for m in (user(f"Q{k} {entries(k)}"), assistant(f"A{k}"))], user(f"Q{n} {entries(n)}")], OPENAI)
        for n in range(5)
    ],
    "an age in days": heads(f"Prices are 2 days old. {R}", f"Prices are 3 days old. {R}"),
    "a conversation that grows": conversation(OPENAI, 8),
    "with tool calls": replayed(LONG, LONG),
    "a date that stays the same day": heads(f"Today is 2026-09-09. {R}", f"Today is 2026-09-09. {R}"),
    "the user edits the newest message": [
        chat(0, [system(R), user("A?"), assistant("B."), user("C?")], OPENAI),
        chat(9, [system(R), user("A?"), assistant("B."), user("D, rather?")], OPENAI),
    ],
    "the answer is regenerated": [chat(9.0 * n, [system(R), user("A?"), assistant("B."), user("C?")], OPENAI) for n in range(2)],
    "two agents share the tools": [
        chat(9.0 * n, [system(text), user("Sort the orders.")], OPENAI, tools=[tool("look"), tool("book")])
        for n, text in enumerate((R, "You are a critic. " + entries(200, 30), R, "You are a critic. " + entries(200, 30)))
    ],
    "a sub-agent is handed the talk": [
        chat(0, [system(R), user("Sort it."), assistant("Sorted."), user("Check it.")], OPENAI),
        chat(9, [system("You judge answers. " + entries(300, 20)), user("Sort it."), assistant("Sorted."), user("Check it."), assistant("Right."), user("Judge.")], OPENAI),
        chat(18, [system(R), user("Sort it."), assistant("Sorted."), user("Check it."), assistant("Right."), user("Thanks.")], OPENAI),
    ],
    "a title is made by a small model": [
        chat(0, [system(R), user("Where is my parcel from the north depot?")], OPENAI),
        chat(1, [system("Give a title of five words."), user("Where is my parcel from the north depot?")], OPENAI, model="gpt-5.4-nano"),
        chat(20, [system(R), user("Where is my parcel from the north depot?"), assistant("On its way."), user("When?")], OPENAI),
    ],
    "a retry after an error": [
        chat(0, [system(R), user("Find it.")], OPENAI, response={"status": 500}),
        chat(1, [system(R), user("Find it.")], OPENAI, usage=usage(1500)),
    ],
    "a fallback model after an error": [
        chat(0, [system(R), user("Find it.")], OPENAI, response={"status": 529}),
        chat(1, [system(R), user("Find it.")], OPENAI, model="gpt-5.4-mini", usage=usage(1500)),
    ],
    "conversations interleave": [
        line
        for pair in zip(conversation(OPENAI, 4), [{**x, "t": x["t"] + 3, "request": json.loads(json.dumps(x["request"]).replace("Question", "Frage").replace("Answer", "Antwort"))} for x in conversation(OPENAI, 4)], strict=True)
        for line in pair
    ],
    "the system text is released anew": [*heads(R, R), *[{**x, "t": x["t"] + 9000} for x in heads(f"{R} Rule 62. Smile.", f"{R} Rule 62. Smile.")]],
    "markers on system and newest message": [
        claude(20.0 * n, [block(R, marked=True)], [*[m for k in range(n) for m in (user(f"Q{k} {entries(k)}"), assistant(f"A{k}"))], user([block(f"Q{n} {entries(n)}", marked=True)])], usage=claude_usage(3, 1500 if n == 0 else 90, 0 if n == 0 else 1450 + 90 * n))
        for n in range(4)
    ],
    "user data behind the rules": heads(f"{R}\nUser: Ines Albrecht", f"{R}\nUser: Pavel Dvorak"),
    "clock at the very end of the system text": heads(f"{R}\nIt is 10:04:11.", f"{R}\nIt is 10:04:19."),
    "passages in the newest message": [chat(9.0 * n, [system(R), user(f"Context:\n{entries(n * 40, 8)}\n\nQuestion: hours?")], OPENAI) for n in range(3)],
    "attribution block at its vendor": [
        claude(9.0 * n, [block(f"x-anthropic-billing-header: cc_version=2.1.120.3e1; cc_entrypoint=cli; cch={h};"), block(R, marked=True)], [user(f"Q{n}")], usage=claude_usage(3, 0 if n else 1500, 1500 if n else 0))
        for n, h in enumerate(("a17f2", "5d0c9"))
    ],
    "one key per conversation": [
        {**line, "request": {**line["request"], "prompt_cache_key": key}}
        for key, shift in (("conv-1", "Question"), ("conv-2", "Frage"), ("conv-3", "Domanda"))
        for line in json.loads(json.dumps(conversation(OPENAI, 2)).replace("Question", shift).replace("Answer 0: Entry", f"{shift}, {key}"))
    ],
    "the same tools for all": [chat(9.0 * n, [system(R), user(f"q{n}")], OPENAI, tools=[tool("a_b"), tool("c_d")]) for n in range(3)],
    "history condensed once": [
        chat(0, [system(R), *[m for k in range(8) for m in (user(f"Question {k} {entries(k)}"), assistant(f"Answer {k} {entries(k + 3)}"))], user("Nine?")], OPENAI),
        chat(9, [system(R), user("Summary: eight questions were asked."), assistant("Noted."), user("Nine?"), assistant("Yes."), user("Ten?")], OPENAI),
        chat(20, [system(R), user("Summary: eight questions were asked."), assistant("Noted."), user("Nine?"), assistant("Yes."), user("Ten?"), assistant("No."), user("Ok.")], OPENAI),
    ],
    "six messages dropped at once": [
        chat(9.0 * n, [system(R), *[m for k in range(3 * n, 6) for m in (user(f"Question {k} {entries(k)}"), assistant(f"Answer {k} {entries(k + 3)}"))], user("Last?"), *more], OPENAI)
        for n, more in enumerate(([], [assistant("Yes."), user("Ok?")]))
    ],
    "branches of one plan": [chat(9.0 * n, [system(R), user("Plan."), assistant(entries(1, 6)), user(f"Do part {n}.")], OPENAI) for n in range(4)],
    "tools differ between conversations": [chat(9.0 * n, [system(R), user(f"Do {n}.")], OPENAI, tools=[tool(x) for x in names]) for n, names in enumerate((("a_a", "b_b"), ("a_a", "c_c")))],
    "tools that are used": [chat(9.0 * n, [system("Help."), user(f"Do {n}.")], OPENAI, tools=[tool(f"t{k}", entries(k * 3, 4)) for k in range(20)], response={"tool_calls": 1}, usage=usage(3000, 2900 if n else 0)) for n in range(4)],
    "time in a tool result": [
        chat(0, [system(R), user("Time?"), call("now", "{}"), result("2026-09-09T10:00:01Z")], OPENAI),
        chat(9, [system(R), user("Time?"), call("now", "{}"), result("2026-09-09T10:00:01Z"), assistant("Ten."), user("Again?"), call("now", "{}", "c2"), result("2026-09-09T10:00:10Z", "c2")], OPENAI),
    ],
    "examples as messages": [chat(9.0 * n, [system(R), user("late"), assistant("delivery"), user("torn"), assistant("warranty"), user(w)], OPENAI) for n, w in enumerate(("my coat is wet", "where is it"))],
    "ten passages": [chat(0, [user("\n".join(f"[{k}] {entries(k * 5, 5)}" for k in range(1, 11)) + "\n\nQuestion: hall 3?")], OPENAI)],
    "half of the history dropped once": [
        chat(0, [system(R), *[m for k in range(10) for m in (user(f"Question {k} {entries(k)}"), assistant(f"Answer {k} {entries(k + 3)}"))], user("Last?")], OPENAI),
        chat(9, [system(R), *[m for k in range(5, 10) for m in (user(f"Question {k} {entries(k)}"), assistant(f"Answer {k} {entries(k + 3)}"))], user("Last?"), assistant("Yes."), user("Ok?")], OPENAI),
    ],
    "ephemeral end behind the last marker": [
        claude(0, [block(R, marked=True)], [user([block("I slept badly.", marked=True), block("Time: 07:10")])]),
        claude(60, [block(R, marked=True)], [user([block("I slept badly.")]), assistant("Rest."), user([block("Ok.", marked=True), block("Time: 07:11")])]),
    ],
    "a function in a message": [chat(0, [user("def run(self):\n" + "\n".join(f"    self.step_{k}(self.value, {k}, reason='the one before it')" for k in range(60)))], OPENAI)],
    "a list below its points": [chat(0, [user("\n".join(f"{k}. {MARGIN_LINE}\n    {MARGIN_LINE}" for k in range(40)))], OPENAI)],
    "pretty code in a message": [chat(0, [user("Explain:\n" + "\n".join(f"    if x == {k}:\n        run({k})" for k in range(40)))], OPENAI)],
    "requests with one head after it is warm": [chat(9.0 * n, [system(R), user(f"Ticket {n}")], usage=usage(1500, 1440 if n else 0)) for n in range(5)],
    "short prompts that share little": [chat(9.0 * n, [system("Translate to French."), user(entries(n * 9, 3))], OPENAI, usage=usage(90, 0)) for n in range(5)],
    "a rule is edited by a release": heads(R, R, R, R.replace("Rule 7.", "Rule 7, since May."), R.replace("Rule 7.", "Rule 7, since May.")),
    "two agents with one set of rules": heads(*(f"You are the {who}. {R}" for who in ("planner", "coder", "planner", "coder"))),
    "one template for two languages": heads(*(f"Translate to {language}. {R}" for language in ("French", "German"))),
    "two languages of one desk": heads(f"Antworte auf Deutsch.\n{entries(500, 40)}", f"Answer in English.\n{R}"),
    "batch of labels": [chat(1.0 * n, [system("Label: spam or ham?"), user(f"Mail {n}: {entries(n * 5, 2)}")], OPENAI, max_tokens=5, usage=usage(60, 0, 1)) for n in range(6)],
    "long answer that ends at its bound": [chat(0, [user("Write a story.")], usage=usage(9, 0, 2000), max_tokens=2000, response={"finish_reason": "length", "content_chars": 8200, "content_tail": "and then she went to the harbour, where the"})],
    "reasoning takes the output": [chat(0, [user("Prove it.")], max_tokens=9000, usage={**usage(9, 0, 5000), "completion_tokens_details": {"reasoning_tokens": 4900}}, response={"content_chars": 300, "finish_reason": "stop"})],
}  # fmt: skip


@pytest.mark.parametrize("name", SILENT)
def test_the_look_alike_stays_silent(name: str) -> None:
    assert set() == told(SILENT[name])


def test_a_client_at_another_host_reads_the_attribution_block() -> None:
    lines = copy.deepcopy(SILENT["attribution block at its vendor"])
    for line in lines:
        line["headers"]["host"] = "gateway.internal:8000"
        line["request"]["model"] = "Qwen3-8B"
        line["usage"] = claude_usage(1500)

    assert {"KV107"} == told(lines)
    assert ANTHROPIC != lines[0]["headers"]["host"]
