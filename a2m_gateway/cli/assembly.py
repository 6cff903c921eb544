"""From what the user chose to an opened memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from a2m_gateway.cli.choice import Choice
from a2m_gateway.cli.console import warn, working
from a2m_gateway.cli.settings import secret_from
from a2m_gateway.embedding import embedder_settings
from a2m_gateway.memory.opening import MemorySettings, Opened, open_memory
from a2m_gateway.store import StoreURL

__all__ = ["memory_settings", "opened"]


def memory_settings(choice: Choice) -> MemorySettings:
    """The settings of the memory that a choice means.

    Raises:
        ConfigurationError: Names the setting.
    """
    settings = choice.settings
    named = settings.embedder
    return MemorySettings(
        url=StoreURL.parse(choice.required_target),
        layout=choice.layout,
        embedder=embedder_settings(named) if named is not None else None,
        words_weight=settings.ranking.words_weight,
        limits=settings.limits,
        name=settings.server.name,
        secret=secret_from(settings.store.secret_env),
        store_deadline=settings.store.deadline,
    )


@asynccontextmanager
async def opened(choice: Choice) -> AsyncIterator[Opened]:
    """The memory, open; a warning comes first where text will leave this machine."""
    settings = memory_settings(choice)
    with working(f"Opening {settings.url}"):
        memory = await open_memory(settings)
    try:
        if memory.embedder is not None and memory.embedder.remote is not None:
            warn(
                f"the text of every query is sent to {memory.embedder.remote} "
                f"(model {memory.embedder.model})"
            )
        yield memory
    finally:
        await memory.aclose()
