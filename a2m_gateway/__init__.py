"""Puts a collection in an existing vector database behind Agent-to-Memory (A2M 0.1)."""

__version__ = "0.1.0"
