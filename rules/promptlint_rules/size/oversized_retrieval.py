"""KV504."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Evidence
from promptlint_core.exchange import Piece, PieceKind
from promptlint_core.prompt import Call
from promptlint_rules.base import Finding, Rule, Severity, WireFinding
from promptlint_rules.size.passages import block_chars, count_passages, question_words
from promptlint_rules.traffic import Seen, Traffic
from promptlint_rules.wire import wire_finding

MOST_PASSAGES = 25
"""More passages than this, unranked, are rarely read: frameworks' defaults lie between 2 and 10."""

LEAST_TOKENS = 2_000
"""Many short passages cost little."""
BLOCK_TOKENS = 6_000
"""One block of retrieved text of this size, for a short question."""
_BLOCK_SHARE = 0.8
_SHORT_QUESTION_WORDS = 40
_MOST_CITED_SHARE = 0.5


class OversizedRetrieval(Rule):
    """A retrieval puts a large number of passages into the prompt.

    ## What it does
    Finds retrievals with a literal k, top_k, similarity_top_k, limit or n_results above 25 on the way to a prompt, with
    no reranker, top_n or token budget behind them.

    ## Why it costs
    Retrieved text changes with each question, so it is always computed: every passage is prefill that no cache can
    save, and KV memory for as long as the answer takes.

    ## Example
    ```python
    from langchain_community.vectorstores import FAISS
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings

    retriever = FAISS.load_local("index", OpenAIEmbeddings()).as_retriever(search_kwargs={"k": 60})
    llm = ChatOpenAI(model="gpt-5.4-mini", max_tokens=300)


    def answer(question: str) -> str:
        passages = "\\n".join(d.page_content for d in retriever.invoke(question))
        return llm.invoke(f"Answer from the passages.\\n{passages}\\n{question}").content
    ```

    ## Use instead
    ```python
    from langchain_community.vectorstores import FAISS
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings

    retriever = FAISS.load_local("index", OpenAIEmbeddings()).as_retriever(search_kwargs={"k": 6})
    llm = ChatOpenAI(model="gpt-5.4-mini", max_tokens=300)


    def answer(question: str) -> str:
        passages = "\\n".join(d.page_content for d in retriever.invoke(question))
        return llm.invoke(f"Answer from the passages.\\n{passages}\\n{question}").content
    ```

    ## On the wire
    ```json
    {"t": 0, "path": "/v1/chat/completions", "headers": {"host": "vllm:8000"}, "request": {
      "model": "m", "max_tokens": 50, "messages": [
      {"role": "system", "content": "Answer from the passages. Cite numbers."},
      {"role": "user", "content":
        "[1][2][3][4][5][6][7][8][9][10][11][12][13][14][15][16][17][18][19][20][21][22][23][24][25] Count?"}]},
      "usage": {"prompt_tokens": 5688, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 0}},
      "response": {"cited": [3]}}
    ```

    ## Limits
    The length of a passage is not known in source; the traffic side measures it.
    """

    id = "KV504"
    severity = Severity.WARNING

    def check_call(self, call: Call) -> Iterator[Finding]:
        if call.kind != "retrieval" or call.retrieved is None or call.retrieved <= MOST_PASSAGES:
            return
        yield Finding(
            rule=self.id,
            name=self.name,
            severity=self.severity,
            confidence=Evidence.PROVED,
            message=f"`{call.callee}` asks for {call.retrieved:,} passages, all of which go into the prompt",
            place=call.place,
            expression=f"{call.callee}: {call.retrieved}",
            advice="ask for fewer, rerank and keep the best few, or cut by a token budget",
            call=call,
        )

    def check_traffic(self, traffic: Traffic) -> Iterator[WireFinding]:
        seen = traffic.current
        for piece in seen.request.pieces:
            if piece.kind is not PieceKind.TEXT or piece.role in ("assistant", "model"):
                continue
            if seen.tokens_of_chars(len(piece.text)) < LEAST_TOKENS:
                continue
            told = _many_passages(seen, piece) or _large_block(seen, piece)
            if told:
                yield wire_finding(type(self), f"`{piece.path}` holds {told}", (seen.index,), path=piece.path)
                return


def _many_passages(seen: Seen, piece: Piece) -> str:
    count = count_passages(piece.text)
    tokens = seen.tokens_of_chars(len(piece.text))
    if count < MOST_PASSAGES:
        return ""
    cited = seen.response.cited
    if cited is not None and cited > count * _MOST_CITED_SHARE:
        return ""
    words = question_words(piece.text)
    asked = f" for a question of {words} words" if words else ""
    used = f"; the answer cites {cited}" if cited is not None else ""
    return f"{count} passages (about {tokens:,} tokens){asked}{used}"


def _large_block(seen: Seen, piece: Piece) -> str:
    tokens = seen.tokens_of_chars(block_chars(piece.text))
    words = question_words(piece.text)
    if tokens < BLOCK_TOKENS or tokens < _BLOCK_SHARE * seen.prompt_tokens or not 0 < words <= _SHORT_QUESTION_WORDS:
        return ""
    share = tokens / max(1, seen.prompt_tokens)
    return f"one retrieved block of about {tokens:,} tokens, {share:.0%} of the prompt, for a question of {words} words"
