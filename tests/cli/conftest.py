"""Ways to run the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from embedding_service import EmbeddingService
from forked_commands import ForkedCommands


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkedCommands]:
    """``command("recall", "memory:///plain")`` runs it and says what became of it."""
    commands = ForkedCommands(tmp_path_factory.mktemp("streams"))
    yield commands
    commands.close()


@pytest.fixture
def settings_file(tmp_path: Path) -> Path:
    """Where a test writes a configuration file."""
    return tmp_path / "gateway.toml"


@pytest.fixture
def embedding_service() -> Iterator[Callable[..., EmbeddingService]]:
    """``embedding_service()`` is an HTTP server that speaks OpenAI's ``/embeddings``."""
    started: list[EmbeddingService] = []

    def start(**options: Any) -> EmbeddingService:
        started.append(EmbeddingService(**options))
        return started[-1]

    yield start
    for service in started:
        service.close()
