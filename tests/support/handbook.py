"""The README's corpus: ``python handbook.py FOLDER`` writes it."""

from __future__ import annotations

import asyncio
import sys

import chromadb

from a2m_gateway.embedding import build
from a2m_gateway.embedding.settings import Minilm

__all__ = ["PASSAGES", "write"]

PASSAGES = {
    "h-1": ("Every employee has thirty days of paid leave a year.", {"section": "leave"}),
    "h-2": (
        "Pay is visible to its receiver and to the people team, to nobody else.",
        {"section": "money", "page": 11},
    ),
    "h-3": (
        "Error E4211 at the door means that the badge has expired.",
        {"section": "access", "page": 27},
    ),
    "h-4": (
        "Expenses are paid back within two weeks of the receipt.",
        {"section": "money", "page": 12},
    ),
}


def write(folder: str) -> None:
    """What ``langchain_chroma.Chroma(persist_directory=folder)`` leaves behind."""
    texts = [text for text, _ in PASSAGES.values()]
    vectors = asyncio.run(build(Minilm()).embed_passages(texts))
    collection = chromadb.PersistentClient(folder).create_collection(
        "handbook", embedding_function=None
    )
    collection.add(
        ids=list(PASSAGES),
        documents=texts,
        embeddings=list(vectors),
        metadatas=[metadata for _, metadata in PASSAGES.values()],
    )


if __name__ == "__main__":
    write(sys.argv[1])
