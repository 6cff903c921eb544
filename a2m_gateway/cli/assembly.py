"""From what the user chose to an opened memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

from a2m_gateway.cli.checks import secret_from
from a2m_gateway.cli.choice import Choice
from a2m_gateway.cli.console import warn, working
from a2m_gateway.cli.settings import StoreTable
from a2m_gateway.embedding import EmbedderSettings, build, embedder_settings
from a2m_gateway.embedding.settings import Cohere, OpenAI, Voyage
from a2m_gateway.errors import StoreError
from a2m_gateway.memory.opening import MemorySettings, Opened, open_memory
from a2m_gateway.shapes import LayoutOptions
from a2m_gateway.store import StoreURL

__all__ = ["memory_settings", "naming", "opened"]


def memory_settings(choice: Choice) -> MemorySettings:
    """The settings of the memory that a choice means.

    The command line goes before the URL, and both before the file.

    Raises:
        ConfigurationError: Names the setting.
    """
    settings = choice.settings
    url = StoreURL.parse(choice.required_target)
    from_file = settings.store.layout.given()
    from_url, _ = LayoutOptions.split(url)
    return MemorySettings(
        url=url,
        layout={
            **_below(_below(from_file, from_url), choice.layout),
            **choice.layout,
        },
        embedder=_embedder(choice),
        words_weight=settings.ranking.words_weight,
        limits=settings.limits,
        name=settings.server.name,
        secret=_secret(settings.store),
        store_deadline=settings.store.deadline,
    )


@asynccontextmanager
async def opened(choice: Choice) -> AsyncIterator[Opened]:
    """The memory, open; a warning comes first where text will leave this machine."""
    settings = memory_settings(choice)
    await _warn_of_remote(settings.embedder)
    with working(f"Opening {settings.url}"), naming(settings.url):
        memory = await open_memory(settings)
    try:
        if memory.words_reason:
            warn(memory.words_reason)
        yield memory
    finally:
        await memory.aclose()


@contextmanager
def naming(url: StoreURL) -> Iterator[None]:
    """Put the address before what a store's failure says, which may be a library's own words."""
    try:
        yield
    except StoreError as error:
        error.message = f"{url}: {error.message}"
        raise


def _below(lower: Mapping[str, str], upper: Mapping[str, str]) -> dict[str, str]:
    """What is left of options where others go before them.

    ``tenant`` may name its field as well, and then no other level's field goes with it.
    """
    hidden = set(upper)
    if "=" in upper.get("tenant", ""):
        hidden.add("tenant_field")
    return {name: value for name, value in lower.items() if name not in hidden}


def _embedder(choice: Choice) -> EmbedderSettings | None:
    if choice.embedder is not None:
        return embedder_settings(choice.embedder, setting="--embedder")
    named = choice.settings.embedder
    return embedder_settings(named) if named is not None else None


def _secret(store: StoreTable) -> str | None:
    usual = StoreTable().secret_env
    chosen = store.secret_env != usual
    return secret_from(store.secret_env, required_by="store.secret_env" if chosen else None)


async def _warn_of_remote(settings: EmbedderSettings | None) -> None:
    """Opening already sends a probe, to learn the width of the vectors."""
    if not isinstance(settings, OpenAI | Cohere | Voyage):
        return
    embedder = build(settings)
    remote = embedder.remote
    await embedder.aclose()
    if remote is not None:
        warn(f"the text of every query is sent to {remote} (model {settings.model})")
