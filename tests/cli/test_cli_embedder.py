"""What is said before text leaves the machine, and what leaves it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import command_corpora
import pytest
from command_corpora import SENTENCES
from forked_commands import ForkedCommands
from running_command import RunningCommand

STORE = "memory:///vectors"
DIRECT = {"NO_PROXY": "*", "no_proxy": "*"}
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("recall", STORE, "which key rotates?"),
    ("inspect", STORE),
    ("describe", STORE),
    ("serve", STORE, "--stdio"),
)


@pytest.mark.parametrize("args", COMMANDS, ids=lambda args: args[0])
def test_the_warning_comes_before_the_first_text(
    args: tuple[str, ...], embedding_service: Callable[..., Any]
) -> None:
    service = embedding_service(held=True)
    embedder = ("--embedder", f"openai:text-embedding-x@{service.remote}")
    with RunningCommand(
        *args, *embedder, env=DIRECT, program=[sys.executable, command_corpora.__file__]
    ) as command:
        # Held, the service has answered nothing; the warning is there all the same.
        line = command.hear("warning: ")
        assert line == (
            "warning: the text of every query is sent to "
            f"{service.remote.removesuffix('/v1')} (model text-embedding-x)"
        )
        service.release()
        assert command.process.stdin is not None
        command.process.stdin.close()
        assert command.wait() == 0
        assert "warning: " not in "".join(command.said[1:])
    queries = [args[2]] if args[0] == "recall" else []
    probe, *rest = service.texts
    assert rest == queries
    assert not any(text in one for one in service.texts for text in SENTENCES)
    assert probe not in SENTENCES


def test_nothing_is_sent_that_has_no_need_to_be(
    command: ForkedCommands, embedding_service: Callable[..., Any]
) -> None:
    service = embedding_service()
    embedder = f"openai:m@{service.remote}"
    assert command("inspect", "memory:///", "--embedder", embedder, env=DIRECT).code == 0
    failed = command("inspect", "memory:///nope", "--embedder", embedder, env=DIRECT)
    assert failed.code == 3
    assert service.texts == []


def test_an_embedder_on_this_machine_needs_no_warning(
    command: ForkedCommands, embedding_service: Callable[..., Any]
) -> None:
    """It may see stored passages, which tell whether it made the collection's vectors."""
    service = embedding_service()
    done = command("inspect", STORE, "--embedder", f"openai:m@{service.loopback}")
    assert done.code == 3
    assert "warning" not in done.err
    assert "m makes other vectors than 4 stored passages have" in done.err
    assert set(service.texts) > set(SENTENCES)


def test_inspect_names_the_place(
    command: ForkedCommands, embedding_service: Callable[..., Any]
) -> None:
    service = embedding_service()
    args = ("inspect", STORE, "--embedder", f"openai:m@{service.remote}")
    place = service.remote.removesuffix("/v1")
    assert f"m, at {place}" in command(*args, env=DIRECT).out
    ranking = json.loads(command(*args, "--json", env=DIRECT).out)["ranking"]
    assert (ranking["embedder"], ranking["embedder_remote"]) == ("m", place)
