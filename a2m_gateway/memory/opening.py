"""From a URL to a memory: connect, recognise, find an embedder that fits, put the layers on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Self

from a2m_gateway.capability import Feature, Support
from a2m_gateway.embedding import (
    Certainty,
    Choice,
    Embedder,
    EmbedderSettings,
    Evidence,
    Fit,
    StoredPassage,
    choose,
)
from a2m_gateway.embedding.names import is_vague
from a2m_gateway.errors import ConfigurationError
from a2m_gateway.layers import ExactLayer, connected
from a2m_gateway.memory.limits import Limits
from a2m_gateway.memory.memory import Memory
from a2m_gateway.shapes import LayoutOptions, Recognition, open_shaped
from a2m_gateway.store import (
    CollectionInfo,
    Connection,
    Row,
    Store,
    StoreURL,
    VectorField,
)
from a2m_gateway.store.registry import adapter_for
from a2m_gateway.store.secret import checked_secret

__all__ = ["MemorySettings", "Opened", "connect", "layout_options", "open_memory"]

_BYTES_PER_COMPONENT = 26
"""The longest decimal form of a float64, and a comma."""
_ROOM_FOR_THE_REST = 64 * 1024
_PASSAGES = 32

WORDS_WEIGHT = 0.5
"""Of words beside meaning: half and half did best on judged sets."""

WORDS_BY_READING = 2_000
"""Records up to which a word search may read all of them beside a search by meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """What is to be opened, and how.

    Attributes:
        url: Of the collection; its query may carry layout options.
        layout: Layout options by name; they win over the URL's.
        embedder: None is the bundled one, if it fits.
        words_weight: Of words beside meaning, from 0 to 1; None leaves it to us.
        secret: The database's key or token.
        store_deadline: Seconds that one call to the database may take.
    """

    url: StoreURL
    layout: dict[str, str] = field(default_factory=dict)
    embedder: EmbedderSettings | None = None
    words_weight: float | None = None
    limits: Limits = field(default_factory=Limits)
    name: str = "a2m-gateway"
    secret: str | None = None
    store_deadline: float = 10.0


@dataclass(frozen=True, slots=True)
class Opened:
    """A memory, and all that ``inspect`` tells of how it came about.

    Attributes:
        connection: Close it after the memory (``aclose`` does both).
        vector: The kind of vector that is searched, or None.
        fit: What was found out about the embedder.
        words_weight: Of the words in a text query's score; 0 where they are left out.
        words_reason: Why they are, where nobody asked for it; else empty.
        sample: A few records as A2M shows them.
    """

    memory: Memory
    connection: Connection
    info: CollectionInfo
    recognition: Recognition
    vector: VectorField | None
    embedder: Embedder | None
    fit: Fit
    words_weight: float
    words_reason: str
    sample: Sequence[Row]

    async def aclose(self) -> None:
        """Release everything. Idempotent."""
        try:
            await self.memory.aclose()
        finally:
            await self.connection.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


async def connect(settings: MemorySettings) -> Connection:
    """The database behind the URL, with every store it opens guarded.

    Raises:
        SetupError, StoreError: See ``Adapter.connect``.
    """
    _, url = LayoutOptions.split(settings.url)
    adapter = adapter_for(url.scheme)
    seconds = settings.store_deadline
    connecting = adapter.connect(url, secret=checked_secret(settings.secret), deadline=seconds)
    return await connected(connecting, deadline=seconds)


def layout_options(settings: MemorySettings) -> LayoutOptions:
    """The layout options of the settings, which win over those of the URL.

    Raises:
        ConfigurationError: Names the option.
    """
    layout, _ = LayoutOptions.split(settings.url)
    return LayoutOptions.parse({**layout, **settings.layout})


async def open_memory(settings: MemorySettings) -> Opened:
    """Open one existing collection as a read-only memory.

    Raises:
        SetupError: Something must be set right first, and the message says what.
        StoreError, EmbedderError: The database or the embedder does not answer.
    """
    options = layout_options(settings)
    async with AsyncExitStack() as opened:
        connection = await connect(settings)
        opened.push_async_callback(connection.aclose)
        collection = settings.url.collection
        shaped, recognition, info = await open_shaped(connection, collection, options)
        opened.push_async_callback(shaped.aclose)
        store = ExactLayer(shaped)
        _check_request_size(settings.limits, store.profile.width)
        name = recognition.shape.vector_name
        vector = next((one for one in info.vectors if one.name == name), None)
        sample = (await store.scan(limit=_PASSAGES, vectors=vector is not None)).rows
        evidence = _evidence(store, recognition, vector, sample)
        choice = await choose(settings.embedder, evidence)
        if choice.embedder is not None:
            opened.push_async_callback(choice.embedder.aclose)
        words_weight, words_reason = _words(settings, store, choice.embedder, info.count)
        memory = Memory(
            store,
            embedder=choice.embedder,
            model=_model(evidence, choice),
            words_weight=words_weight,
            limits=settings.limits,
            name=settings.name,
        )
        opened.pop_all()  # whoever receives the memory closes it
    return Opened(
        memory,
        connection,
        info,
        recognition,
        vector,
        choice.embedder,
        choice.fit,
        words_weight,
        words_reason,
        sample,
    )


def _evidence(
    store: Store, recognition: Recognition, vector: VectorField | None, sample: Sequence[Row]
) -> Evidence:
    return Evidence(
        vector=vector if store.profile.has(Feature.VECTOR_SEARCH) else None,
        names=[recognition.model] if recognition.model else [],
        passages=[
            StoredPassage(str(row.fields["content"]), row.vector)
            for row in sample
            if row.vector is not None
        ],
    )


def _model(evidence: Evidence, choice: Choice) -> str | None:
    """The model of the stored vectors, where they or the collection say which it is."""
    if choice.embedder is not None and choice.fit.certainty in (Certainty.PROVEN, Certainty.NAMED):
        return choice.embedder.model
    named = [name for name in evidence.models if not is_vague(name)]
    return named[0] if len(named) == 1 else None


def _words(
    settings: MemorySettings, store: Store, embedder: Embedder | None, count: int
) -> tuple[float, str]:
    """The weight of words beside meaning, and why it is not what one would expect.

    They are left out where every query would read a large collection for them, unless the owner
    asks for them.
    """
    native = store.profile.claim(Feature.TEXT_SEARCH).support is Support.NATIVE
    if settings.words_weight is not None:
        return settings.words_weight, ""
    if native or embedder is None or count <= WORDS_BY_READING:
        return WORDS_WEIGHT, ""
    return 0.0, (
        f"words are left out: each query would read all {count} records for them; "
        f"ranking.words_weight = {WORDS_WEIGHT} has it so"
    )


def _check_request_size(limits: Limits, width: int | None) -> None:
    needed = (width or 0) * _BYTES_PER_COMPONENT + _ROOM_FOR_THE_REST
    if limits.max_request_bytes < needed:
        raise ConfigurationError(
            f"{limits.max_request_bytes} would refuse a recall by a vector of this collection; "
            f"at least {needed} are needed",
            setting="limits.max_request_bytes",
        )
