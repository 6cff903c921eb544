"""Qdrant: servers (``qdrant://host:6333/docs``) and folders of the client's local mode
(``qdrant+file:///path/docs``), read.

Where the shared facts and the engine differ, the engine was believed (Rust core, by qdrant-edge):
an integer index finds 1.0 as 1, but holds no fraction at all, so 1.5 is found by nothing there.
"""

from a2m_qdrant.adapter import EmbeddedQdrantAdapter, QdrantAdapter, adapter, embedded_adapter

__all__ = ["EmbeddedQdrantAdapter", "QdrantAdapter", "adapter", "embedded_adapter"]
