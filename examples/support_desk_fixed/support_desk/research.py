"""Questions about the articles, answered from what a retriever finds."""

from __future__ import annotations

import os

from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from support_desk.clients import OPENAI_MODEL
from support_desk.shop import DATA

RESEARCH_RULES = """You are a gardener who answers the questions of a shop's customers.
Use the passages beside the question and nothing else. When they do not answer the question, say so in one sentence.
Give the botanical name once, in brackets. Give water in litres a week and light in hours a day.
Warn of plants that are poisonous to children, cats or dogs. Never recommend a pesticide by its brand.
"""


def build_chain(store: InMemoryVectorStore):
    """Retriever, prompt and model in a row."""
    retriever = store.as_retriever(search_kwargs={"k": 6})
    human = "Passages:\n{context}\n\n{question}"
    turns = [("system", RESEARCH_RULES), MessagesPlaceholder("history"), ("human", human)]
    prompt = ChatPromptTemplate.from_messages(turns)
    model = ChatOpenAI(model=OPENAI_MODEL, base_url=os.environ.get("OPENAI_BASE_URL"), temperature=0, max_tokens=500)
    return retriever, prompt | model


def answer(store: InMemoryVectorStore, question: str, history: list[tuple[str, str]]) -> str:
    """The answer to one question."""
    retriever, chain = build_chain(store)
    context = "\n\n".join(document.page_content for document in retriever.invoke(question))
    return str(chain.invoke({"context": context, "history": history, "question": question}).content)


def load_store() -> InMemoryVectorStore:
    """All articles, embedded."""
    store = InMemoryVectorStore(OpenAIEmbeddings(base_url=os.environ.get("OPENAI_BASE_URL")))
    paths = sorted((DATA / "articles").glob("*.md"))
    store.add_documents([Document(path.read_text(encoding="utf-8")) for path in paths])
    return store
