"""What turns text into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["Embedder"]


class Embedder(Protocol):
    """One embedding model behind one way to run it.

    Attributes:
        model: The model's name as its vendor writes it, for people and for comparison with what a
            corpus says of itself.
        width: Components of its vectors; None where only the first call tells.
        remote: Whether text leaves this machine: where to, or None.
    """

    @property
    def model(self) -> str: ...

    @property
    def width(self) -> int | None: ...

    @property
    def remote(self) -> str | None: ...

    async def embed_query(self, text: str) -> list[float]:
        """The vector of a question, with the model's query prefix.

        Raises:
            EmbedderError: The model could not be run or reached.
        """
        ...

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of stored texts, in order, with the model's passage prefix."""
        ...

    async def aclose(self) -> None: ...
