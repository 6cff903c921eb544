"""How the three vendors' embedding calls are written and read. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, TypeVar

import msgspec

from a2m_gateway.embedding.settings import Cohere, OpenAI, Voyage
from a2m_gateway.errors import EmbedderError

__all__ = ["CohereService", "OpenAIService", "Role", "Service", "VoyageService"]

Role: TypeAlias = Literal["query", "passage"]
_T = TypeVar("_T")


class Service(Protocol):
    """One vendor's way to ask for vectors."""

    @property
    def path(self) -> str:
        """What follows the base URL."""
        ...

    def request(self, texts: Sequence[str], role: Role) -> Mapping[str, object]:
        """The JSON body that asks for the vectors of ``texts``."""
        ...

    def vectors(self, body: bytes, count: int) -> list[list[float]]:
        """The vectors in the answer's body, in the order of the texts.

        Raises:
            EmbedderError: The body is not what the vendor documents.
        """
        ...


class _Datum(msgspec.Struct):
    embedding: list[float]
    index: int | None = None


class _Data(msgspec.Struct):
    data: list[_Datum]


class _ByType(msgspec.Struct):
    floats: list[list[float]] = msgspec.field(name="float")


class _Embeddings(msgspec.Struct):
    embeddings: _ByType


@dataclass(frozen=True, slots=True)
class OpenAIService:
    """``POST /embeddings``: OpenAI, Ollama, vLLM, TEI, LM Studio, LiteLLM."""

    settings: OpenAI
    path: str = "/embeddings"

    def request(self, texts: Sequence[str], role: Role) -> Mapping[str, object]:
        asked: dict[str, object] = {"model": self.settings.model, "input": list(texts)}
        if self.settings.dimensions is not None:
            asked["dimensions"] = self.settings.dimensions
        return asked

    def vectors(self, body: bytes, count: int) -> list[list[float]]:
        return _in_order(_decode(body, _Data).data, count)


@dataclass(frozen=True, slots=True)
class VoyageService:
    """``POST /embeddings``, with the role of the text and without its silent cut."""

    settings: Voyage
    path: str = "/embeddings"

    def request(self, texts: Sequence[str], role: Role) -> Mapping[str, object]:
        asked: dict[str, object] = {
            "model": self.settings.model,
            "input": list(texts),
            "input_type": "query" if role == "query" else "document",
            "truncation": False,
        }
        if self.settings.dimensions is not None:
            asked["output_dimension"] = self.settings.dimensions
        return asked

    def vectors(self, body: bytes, count: int) -> list[list[float]]:
        return _in_order(_decode(body, _Data).data, count)


@dataclass(frozen=True, slots=True)
class CohereService:
    """``POST /embed`` of v2, with the role of the text and without its silent cut."""

    settings: Cohere
    path: str = "/embed"

    def request(self, texts: Sequence[str], role: Role) -> Mapping[str, object]:
        asked: dict[str, object] = {
            "model": self.settings.model,
            "texts": list(texts),
            "input_type": "search_query" if role == "query" else "search_document",
            "embedding_types": ["float"],
            "truncate": "NONE",
        }
        if self.settings.dimensions is not None:
            asked["output_dimension"] = self.settings.dimensions
        return asked

    def vectors(self, body: bytes, count: int) -> list[list[float]]:
        return _decode(body, _Embeddings).embeddings.floats


def _decode(body: bytes, shape: type[_T]) -> _T:
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # The error names a place and a type, never a value.
        raise EmbedderError(f"the embedder's answer is not what was asked for: {error}") from None


def _in_order(data: Sequence[_Datum], count: int) -> list[list[float]]:
    """The vectors by ``index``; as they came where the server writes no index at all."""
    places = [datum.index for datum in data]
    if all(place is None for place in places):
        return [datum.embedding for datum in data]
    if sorted(place for place in places if place is not None) != list(range(count)):
        raise EmbedderError(f"the embedder's answer has other indices than 0 to {count - 1}")
    return [datum.embedding for datum in sorted(data, key=lambda datum: datum.index or 0)]
