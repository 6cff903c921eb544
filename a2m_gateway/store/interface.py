"""The adapter interface: three protocols, all async.

``Adapter.connect`` gives a ``Connection`` to one database, which lists and describes collections;
``Connection.open`` gives a ``Store``: one collection, with a frozen ``Profile`` of what it can do.

Rules for whoever implements them:

- no exception of the client library leaves the package: raise the ``StoreError``s;
- nothing blocks the event loop, and an engine that runs in-process runs in a child process
  (``store.worker_process``, ``store.server_process``);
- cancellation is safe at every await;
- a store never returns part of an answer: it raises instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from a2m_gateway.capability import Metric, Ordering, Profile
from a2m_gateway.store.filter import Filter
from a2m_gateway.store.rows import JSON, Hit, Page, Path, Row
from a2m_gateway.store.url import StoreURL

__all__ = [
    "Adapter",
    "CollectionInfo",
    "CollectionSummary",
    "Connection",
    "Selection",
    "Store",
    "VectorField",
]


@dataclass(frozen=True, slots=True)
class CollectionSummary:
    """A line of "what there is to serve".

    Attributes:
        count: Records, or None where asking is not cheap.
    """

    name: str
    count: int | None = None


@dataclass(frozen=True, slots=True)
class VectorField:
    """One kind of vector that the records of a collection carry.

    Attributes:
        name: ``""`` is the unnamed one.
        width: None until the first vector fixes it.
        metric: None where it is none of A2M's three.
        engine_metric: The database's own word for it.
        searchable: False for sparse vectors and multivectors, which are listed, never searched.
        model: The embedding model that the collection itself names for it, or None.
    """

    name: str
    width: int | None
    metric: Metric | None
    engine_metric: str
    searchable: bool = True
    model: str | None = None
    kind: str = "dense"


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    """What the database says of a collection before anyone has looked at its records.

    Attributes:
        indexed: The payload fields with an index of the database's, and its kind.
        metadata: What the collection carries about itself, as its writer left it.
    """

    name: str
    count: int
    vectors: tuple[VectorField, ...]
    indexed: Mapping[Path, str]
    metadata: Mapping[str, JSON]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a collection a store is opened on.

    Attributes:
        vector_name: The vector to search and return; None opens the store without one.
        text_path: The field whose words ``search_text`` finds; None opens it without.
        text_is_json: The field at ``text_path`` is JSON text in which the content lies escaped.
        order_path: The field by which the caller will want to ``scan``; the profile's ``orderings``
            say whether the store can seek by it.
    """

    vector_name: str | None = None
    text_path: Path | None = None
    text_is_json: bool = False
    order_path: Path | None = None


@runtime_checkable
class Store(Protocol):
    """One collection.

    A filter *narrows*: the rows a store returns may include some that do not match (where the
    profile's ``filters`` say NONE or LOOSE), and never lack one that does. The ``exact`` layer
    compares every row again, so an adapter pushes down only what it is sure of.
    """

    @property
    def profile(self) -> Profile:
        """What this store can do, as probed when it was opened."""
        ...

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> Sequence[Row]:
        """The rows with these ids, in any order; an id that is not there is not an error."""
        ...

    async def search(
        self, vector: Sequence[float], k: int, conditions: Filter = (), *, vectors: bool = False
    ) -> Sequence[Hit]:
        """The ``k`` nearest, by ascending distance. One round trip.

        Fewer than ``k`` says nothing about whether there are more: an index may come up short.

        Raises:
            StoreError: Any failure, a timeout of the database's own included.
        """
        ...

    async def search_text(
        self,
        terms: Sequence[str],
        limit: int,
        conditions: Filter = (),
        *,
        whole: bool = False,
    ) -> Sequence[Row]:
        """Rows whose text contains at least one of ``terms``, unranked, each once.

        For each term at most ``limit`` rows, all of them when there are no more. A term is a
        lower-case run of word characters: the beginning of a word, or, where the profile says
        ``whole_words``, a word. The store may select by substring, and should ignore case.

        Args:
            whole: Each term is a word, and what holds it only within a longer word need not be
                returned: a rare word would be lost among those of which it is a part.
        """
        ...

    async def scan(
        self,
        conditions: Filter = (),
        order: Ordering = Ordering(),  # noqa: B008 - frozen
        cursor: str | None = None,
        limit: int = 1000,
        *,
        vectors: bool = False,
    ) -> Page:
        """One page of rows in ``order``, one of the profile's ``orderings``.

        ``Ordering()``, the store's own stable order, is always possible. A row that lacks the
        field of an order by field comes after all others or not at all: the ``exact`` layer knows.

        Args:
            cursor: None for the first page, then the last page's.
            limit: Rows wanted; the store may return fewer, and caps it by what it can carry.
        """
        ...

    async def count(self, conditions: Filter = ()) -> int:
        """How many rows the store's own filter selects: an upper bound of how many match."""
        ...

    async def aclose(self) -> None:
        """Release connections and child processes. Idempotent."""
        ...


@runtime_checkable
class Connection(Protocol):
    """One database."""

    async def collections(self) -> Sequence[CollectionSummary]:
        """Every collection, by name."""
        ...

    async def describe(self, collection: str) -> CollectionInfo:
        """What the database says of one collection.

        Raises:
            CollectionNotFound: Names what there is.
        """
        ...

    async def open(self, collection: str, selection: Selection) -> Store:
        """The collection as a store. The store shares this connection; close it after the store."""
        ...

    async def aclose(self) -> None: ...


@runtime_checkable
class Adapter(Protocol):
    """What the entry point group ``a2m_gateway.adapters`` names: an object with ``connect``.

    The entry point's name is the URL scheme it serves (``qdrant``, ``qdrant+file``).
    """

    async def connect(
        self, url: StoreURL, *, secret: str | None = None, deadline: float = 10.0
    ) -> Connection:
        """Reach the database and check that it answers.

        Args:
            secret: API key or token, from the environment or the configuration: printable ASCII.
            deadline: Seconds that any one call to the store may take.

        Raises:
            StoreUnavailable: Nothing answers there.
            ConfigurationError: The URL is wrong for this database.
        """
        ...
