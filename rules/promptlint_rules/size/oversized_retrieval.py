"""KV504."""

from __future__ import annotations

from collections.abc import Iterator

from promptlint_core.cadence import Evidence
from promptlint_core.prompt import Call
from promptlint_rules.base import Finding, Rule, Severity

MOST_PASSAGES = 25
"""More passages than this, unranked, are rarely read: frameworks' defaults lie between 2 and 10."""


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
