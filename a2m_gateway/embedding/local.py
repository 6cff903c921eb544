"""Models that run in this process, off the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from types import ModuleType
from typing import Protocol

from a2m_gateway.embedding.answers import check_vectors
from a2m_gateway.embedding.recipes import Prefixes
from a2m_gateway.embedding.text import refuse_unencodable
from a2m_gateway.errors import A2MError, EmbedderError, MissingDependency, SetupError

__all__ = ["BATCH", "Encoder", "LocalEmbedder", "required_module"]

BATCH = 16
"""Texts in one run: more gains nothing on a CPU, and a query waits for at most one run."""


class Encoder(Protocol):
    """A loaded model. Blocking."""

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text; of at most ``BATCH`` texts."""
        ...


class LocalEmbedder:
    """An ``Embedder`` around a blocking ``Encoder``.

    The model is loaded at the first call, once, on a thread of its own pool. A text longer than the
    model's window is cut there, as by everyone who runs these models: how much of a text its vector
    speaks for is the model's nature.

    Args:
        load: Makes the encoder; raises a ``SetupError`` where it can't.
        width: Where it is known without loading.
        threads: Calls that may run at once; 1 for a library that is not safe for more.
    """

    remote: str | None = None

    def __init__(
        self,
        model: str,
        load: Callable[[], Encoder],
        *,
        prefixes: Prefixes,
        width: int | None = None,
        threads: int = 1,
    ) -> None:
        self._model = model
        self._load = load
        self._prefixes = prefixes
        self._width = width
        self._encoder: Encoder | None = None
        self._loading = threading.Lock()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="embedding")

    @property
    def model(self) -> str:
        return self._model

    @property
    def width(self) -> int | None:
        return self._width

    async def embed_query(self, text: str) -> list[float]:
        """The vector of a question.

        Raises:
            InvalidParams: The text is no Unicode.
            EmbedderError: The model failed.
            SetupError: The model could not be loaded.
        """
        refuse_unencodable(text, "query")
        return (await self._run([self._prefixes.query + text]))[0]

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of stored texts, in order; errors as of ``embed_query``."""
        for place, text in enumerate(texts):
            refuse_unencodable(text, f"records[{place}].content")
        # Texts of like length share a run, since each run is padded to its longest.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors: dict[int, list[float]] = {}
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            run = await self._run([self._prefixes.passage + texts[place] for place in places])
            vectors.update(zip(places, run, strict=True))
        return [vectors[place] for place in range(len(texts))]

    async def aclose(self) -> None:
        """Let the model go; a run that has begun ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._encoder = None

    async def _run(self, texts: list[str]) -> list[list[float]]:
        try:
            running = asyncio.get_running_loop().run_in_executor(self._threads, self._encode, texts)
        except RuntimeError:
            raise EmbedderError(f"{self._model} has been closed") from None
        vectors = await running
        self._width = check_vectors(
            vectors, count=len(texts), width=self._width, source=self._model
        )
        return vectors

    def _encode(self, texts: list[str]) -> list[list[float]]:
        with self._loading:
            if self._encoder is None:
                self._encoder = self._load()
            encoder = self._encoder
        try:
            return encoder.encode(texts)
        except (A2MError, SetupError):
            raise
        except Exception as error:
            raise EmbedderError(
                f"{self._model} failed: {type(error).__name__}: {str(error)[:200]}"
            ) from error


def required_module(name: str, extra: str) -> ModuleType:
    """An optional library, imported now.

    Raises:
        MissingDependency: With the line that installs it.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise MissingDependency(
            f"the embedder {extra} needs {error.name}, which is not installed: "
            f"pip install 'a2m-gateway[{extra}]'"
        ) from error
