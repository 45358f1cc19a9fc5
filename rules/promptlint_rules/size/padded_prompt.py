"""KV506."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Iterator

from promptlint_core import tokens
from promptlint_core.cadence import Evidence
from promptlint_core.exchange import PieceKind
from promptlint_core.practice import Practice, PracticeKind
from promptlint_core.prompt import Place, Prompt
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.practised import of_practice
from promptlint_rules.traffic import Traffic
from promptlint_rules.wire import wire_finding

LEAST_SAVED_TOKENS = 64
LEAST_SAVED_SHARE = 0.1
LEAST_MARGIN_SHARE = 0.04
"""From here on where all lines are indented: the margin of the source code, which says nothing to anybody."""
_LEAST_SPACE_SHARE = 0.12
"""White space in runs, as a share of the text: with less there is nothing to save, and nothing is counted."""
_RUN = re.compile(r"[ \t]{2,}|\n{3,}")
_TABLE_GAP = re.compile(r"(?<=\S)[ \t]{3,}(?=\S)")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")
_JSON_START = re.compile(r"^[\[{]\s*\n", re.MULTILINE)
_LEAST_LINES = 20
"""Of a text whose first line stands at the margin and all others do not."""
_OPENS_BLOCK = (":", "{", "(", "[", ",")
"""How a line ends that indents the next ones itself."""
_EVERY = 50
"""A template is looked at on its first requests and then once in so many."""
_FIRST = 3


class PaddedPrompt(Rule):
    """White space takes a share of the prompt's tokens.

    ## What it does
    Finds prompts with pretty-printed JSON, tables padded with spaces, source indentation or runs of empty lines, and
    tells what the compact form would save.

    ## Why it costs
    The model reads white space token by token like any other text: it is prefill and KV memory on every request.

    ## Example
    ```python
    import json

    from openai import OpenAI

    client = OpenAI()


    def ask(order: dict, question: str):
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "user", "content": f"Order: {json.dumps(order, indent=4)} {question}"}],
            max_tokens=300,
        )
    ```

    ## Use instead
    ```python
    import json

    from openai import OpenAI

    client = OpenAI()


    def ask(order: dict, question: str):
        return client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=[{"role": "user", "content": f"Order: {json.dumps(order)} {question}"}],
            max_tokens=300,
        )
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [{"role": "user", "content":
      "{\\n    \\"counts\\": [\\n        0,\\n        1,\\n        2,\\n        3,\\n        4,\\n        5,\\n        6,\\n        7,\\n        8,\\n        9,\\n        0,\\n        1,\\n        2,\\n        3,\\n        4,\\n        5,\\n        6,\\n        7,\\n        8,\\n        9,\\n        0,\\n        1,\\n        2,\\n        3,\\n        4,\\n        5,\\n        6,\\n        7,\\n        8,\\n        9,\\n        0,\\n        1,\\n        2,\\n        3,\\n        4,\\n        5,\\n        6,\\n        7,\\n        8,\\n        9,\\n        0,\\n        1,\\n        2,\\n        3,\\n        4,\\n        5,\\n        6,\\n        7,\\n        8,\\n        9,\\n        0,\\n        1,\\n        2,\\n        3,\\n        4,\\n        5,\\n        6,\\n        7,\\n        8,\\n        9,\\n        0,\\n        1,\\n        2,\\n        3,\\n        4,\\n        5,\\n        6,\\n        7,\\n        8,\\n        9,\\n        0,\\n        1,\\n        2,\\n        3,\\n        4,\\n        5,\\n        6,\\n        7,\\n        8,\\n        9\\n    ]\\n}"}]}}
    ```

    ## Limits
    Code keeps its indentation; only indentation that all lines have in common is counted.
    """  # noqa: E501 - a JSON string cannot be broken

    id = "KV506"
    severity = Severity.WARNING

    def check_prompt(self, prompt: Prompt) -> Iterator[Finding]:
        texts = [segment.text for segment in prompt.segments if segment.text]
        savings = list(map(saved_tokens, texts))
        saved = sum(savings)
        share = _least_share(zip(texts, savings, strict=True))
        if saved < LEAST_SAVED_TOKENS or saved < share * tokens.count("".join(texts)):
            return
        yield Finding(
            rule=self.id,
            name=self.name,
            severity=Severity.INFO,
            confidence=Evidence.PROVED,
            message=f"white space is about {saved:,} of the prompt's constant tokens",
            place=prompt.place or Place("", 1),
            expression=prompt.name,
            advice="use textwrap.dedent, or write the text at the left margin",
            prompt=prompt,
        )

    def check_practice(self, practice: Practice) -> Iterator[Finding]:
        if practice.kind is PracticeKind.INDENTED_JSON:
            yield of_practice(
                type(self),
                practice,
                f"`{practice.expression}` writes JSON with indentation into the prompt",
                'leave `indent` out; separators=(",", ":") saves a little more',
            )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        seen = traffic.current
        if traffic.counts.requests > _FIRST and traffic.counts.requests % _EVERY:
            return
        savings: list[tuple[str, int]] = []
        costliest, path = 0, ""
        for piece in seen.request.pieces:
            if piece.kind is not PieceKind.TEXT or piece.role in ("assistant", "model"):
                continue
            less = saved_tokens(piece.text)
            savings.append((piece.text, less))
            if less > costliest:
                costliest, path = less, piece.path
        saved = sum(less for _, less in savings)
        if saved < LEAST_SAVED_TOKENS or saved < _least_share(savings) * seen.prompt_tokens:
            return
        yield wire_finding(
            type(self),
            f"white space is about {saved:,} tokens, {saved / max(1, seen.prompt_tokens):.0%} of "
            "the prompt, most of it in "
            f"`{path}`",
            (seen.index,),
            path=path,
            saved_tokens=saved,
        )


def _least_share(savings: Iterable[tuple[str, int]]) -> float:
    """The share of a prompt from which on its white space is told, by the text that wastes most."""
    text, saved = max(savings, key=lambda entry: entry[1], default=("", 0))
    return LEAST_MARGIN_SHARE if saved and has_margin(text) else LEAST_SAVED_SHARE


def saved_tokens(text: str) -> int:
    """Tokens that the compact form of a text saves; 0 without counting where there is little white space."""
    space = sum(len(run) - 1 for run in _RUN.findall(text))
    if space < (LEAST_MARGIN_SHARE if has_margin(text) else _LEAST_SPACE_SHARE) * max(1, len(text)):
        return 0
    return max(0, tokens.count(text) - tokens.count(compact(text)))


def has_margin(text: str) -> bool:
    """Whether all lines of a text are indented; the first one may stand at the margin, behind the opening quotes.

    >>> has_margin("Be kind.\\n" + "    Be brief.\\n" * 20), has_margin("if x:\\n" + "    run(x)\\n" * 20)
    (True, False)
    """
    if text.count("\n") < _LEAST_LINES:
        return False
    first, _, rest = text.partition("\n")
    lines = [line for line in rest.split("\n") if line.strip()]
    if len(lines) < _LEAST_LINES or first.rstrip().endswith(_OPENS_BLOCK):
        return False
    return all(line.startswith(("    ", "\t")) for line in lines)


def _dedented(text: str) -> str:
    if not has_margin(text) or text[:1] in (" ", "\t", "\n"):
        return textwrap.dedent(text)
    first, _, rest = text.partition("\n")
    return f"{first}\n{textwrap.dedent(rest)}"


def compact(text: str) -> str:
    """The text with JSON on one line, tables and empty lines squeezed, common indentation gone.

    >>> compact('Data:\\n{\\n  "a": 1\\n}\\n\\n\\n\\nEnd')
    'Data:\\n{"a":1}\\n\\nEnd'
    """
    decoder = json.JSONDecoder()
    parts: list[str] = []
    at = 0
    for match in _JSON_START.finditer(text):
        if match.start() < at:
            continue
        try:
            value, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        parts += [text[at : match.start()], json.dumps(value, ensure_ascii=False, separators=(",", ":"))]
        at = end
    squeezed = _TABLE_GAP.sub(" ", _dedented("".join((*parts, text[at:]))))
    return _BLANK_LINES.sub("\n\n", squeezed)
