"""Retrievals: how many passages a call asks for."""

from __future__ import annotations

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
