"""Chroma: servers (``chroma://``) and the folders of a ``PersistentClient`` (``chroma+file://``)."""

from a2m_chroma.adapter import ChromaAdapter, EmbeddedChromaAdapter

__all__ = ["ChromaAdapter", "EmbeddedChromaAdapter", "adapter", "embedded_adapter"]

adapter = ChromaAdapter()
embedded_adapter = EmbeddedChromaAdapter()
