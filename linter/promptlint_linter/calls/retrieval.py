"""Retrievals: how many passages a call asks for."""

from __future__ import annotations

import re

from promptlint_core.prompt import Call, Place
from promptlint_linter.calls.shapes import CallShape

_KEYS = ("k", "top_k", "similarity_top_k", "n_results", "limit", "max_results", "num_results", "max_num_results")

_BY_METHOD = {
    "as_retriever": ("k", "similarity_top_k", "search_kwargs.k"),
    "as_query_engine": ("similarity_top_k",),
    "as_chat_engine": ("similarity_top_k",),
    "similarity_search": ("k",),
    "asimilarity_search": ("k",),
    "similarity_search_with_score": ("k",),
    "similarity_search_by_vector": ("k",),
    "similarity_search_with_relevance_scores": ("k",),
    "max_marginal_relevance_search": ("k",),
}

METHODS: dict[str, CallShape] = {
    name: CallShape(
        name, "retrieval", "retrieval", tools=(), positional=("query", "k")[: 1 + ("k" in keys)], passages=keys
    )
    for name, keys in _BY_METHOD.items()
}  # fmt: skip
"""By method name: these belong to vector stores and indexes alone."""

PROVED = CallShape("search", "retrieval", "retrieval", tools=(), passages=_KEYS)
"""A search or query on an object that is proved to be a store or retriever."""

CLASSES: dict[str, CallShape] = {
    name: CallShape(name, "retrieval", "retrieval", tools=(), passages=keys)
    for name, keys in {
        "llama_index.core.retrievers.VectorIndexRetriever": ("similarity_top_k",),
        "dspy.Retrieve": ("k",),
        "haystack.components.retrievers.InMemoryBM25Retriever": ("top_k",),
        "haystack.components.retrievers.InMemoryEmbeddingRetriever": ("top_k",),
        "haystack.components.retrievers.in_memory.InMemoryBM25Retriever": ("top_k",),
        "haystack.components.retrievers.in_memory.InMemoryEmbeddingRetriever": ("top_k",),
        "agents.FileSearchTool": ("max_num_results",),
    }.items()
}

ENGINES = frozenset({"as_query_engine", "as_chat_engine"})
"""They put what they retrieve into a prompt of their own."""

_CUT_DOWN = re.compile(
    r"(?i)re-?rank|cross_?encoder|\btop_n\b|compressor|postprocessor|tiktoken|count_tokens|num_tokens|token_count"
    r"|token_?(?:budget|limit)|max_context|context_?(?:budget|limit)|trim_documents"
    r"|(?:doc|document|result|passage|chunk|node|hit|match|matche|memorie|context|source|snippet|candidate|retrieved|found"
    r"|scored|ranked|sorted|point|row|item)s?\[:\s*\d{1,2}\]"
)


def is_cut_down(module_text: str) -> bool:
    """Whether a module shows that of the retrieved passages only some are sent: a reranker, a token budget, a cut."""
    return _CUT_DOWN.search(module_text) is not None


def is_sent(call: Call, reached: set[Place], *, has_prompts: bool) -> bool:
    """Whether what a retrieval gives goes into a prompt: that of an engine does out of sight.

    A retriever counts in a module that also makes prompts; what a single search gives is followed instead.
    """
    is_search = call.callee == "search" or call.callee.startswith(("similarity", "asimilarity", "max_marginal"))
    return call.place in reached or call.callee in ENGINES or (has_prompts and not is_search)
