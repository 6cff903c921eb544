"""Every exit code of docs/commands.md, each by what it stands for."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chroma_server import free_port
from forked_commands import ForkedCommands
from gateway import Gateway

from a2m_gateway import errors
from a2m_gateway.cli.exit_codes import ExitCode, exit_code

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def test_the_page_lists_them() -> None:
    listed = re.findall(r"^\| (\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert [int(code) for code in listed] == [code.value for code in ExitCode]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ConfigurationError("x"), 3),
        (errors.MissingDependency("x"), 3),
        (errors.StoreRefused("the key is wrong"), 3),
        (errors.EmbedderRefused("the key is wrong"), 3),
        (errors.StoreUnavailable("x"), 5),
        (errors.StoreTimeout("x"), 5),
        (errors.EmbedderError("x"), 5),
        (errors.DeadlineExceeded("x"), 5),
        (errors.ServerUnreachable("x"), 5),
        (errors.CallTimeout("x"), 5),
        (errors.HttpRefused(503, "x"), 5),
        (errors.HttpRefused(429, "x"), 5),
        (errors.HttpRefused(401, "x"), 4),
        (errors.HttpRefused(413, "x"), 4),
        (errors.ReadOnly("x"), 4),
        (errors.QuotaExceeded("x"), 4),
        (errors.StoreCorrupt("x"), 1),
        (errors.InternalError("x"), 1),
        (errors.MalformedAnswer("x"), 1),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_each_error_has_one(error: Any, code: int) -> None:
    assert exit_code(error) == code


SETUP: dict[str, tuple[tuple[str, ...], str]] = {
    "wrong collection": (("inspect", "memory:///nope"), "there are ambiguous, empty, escapes"),
    "no scheme": (("inspect", "docs"), "this has no scheme"),
    "unknown scheme": (("serve", "oracle://h/x"), "there are chroma, chroma+file, memory, qdrant"),
    "a password in the URL": (("inspect", "chroma://me:s3cret@h/x"), "A2M_STORE_SECRET"),
    "no folder": (("inspect", "chroma+file:///nope/x"), "there is no folder /nope"),
    "unrecognised": (("serve", "memory:///ambiguous"), "--text-field body\n  --text-field summary"),
    "option that names nothing": (("inspect", "memory:///plain?text_field=body"), "page_content"),
    "unknown option": (("inspect", "memory:///plain?colour=red"), "colour: "),
    "wrong width": (
        ("serve", "memory:///vectors", "--embedder", "minilm"),
        "all-MiniLM-L6-v2 makes vectors of 384 components, and those of the collection have 8",
    ),
    "embedder that means nothing": (("inspect", "memory:///plain", "--embedder", "gpt"), "minilm"),
    "key of an embedder": (
        ("inspect", "memory:///vectors", "--embedder", "openai:m"),
        "OPENAI_API_KEY is not set",
    ),
    "host that is none": (("serve", "memory:///plain", "--http", "a..b:1"), "--http: "),
    "address without port": (("serve", "memory:///plain", "--http", "::1"), "[::1]:8778"),
    "address of another machine": (
        ("serve", "memory:///plain", "--http", "192.0.2.1:1", "--allow-unauthenticated"),
        "--http: '192.0.2.1' is no address of this machine",
    ),
    "strangers without tokens": (
        ("serve", "memory:///plain", "--http", "0.0.0.0:0"),
        "--allow-unauthenticated",
    ),
    "socket in no folder": (("serve", "memory:///plain", "--unix", "/nope/s"), "/nope/s"),
    "socket that is a file": (("serve", "memory:///plain", "--unix", "/dev/null"), "/dev/null"),
    "variable of a token": (
        ("describe", "http://127.0.0.1:1/", "--token-env", "NO_SUCH"),
        "--token-env: ",
    ),
}


@pytest.mark.parametrize("what", SETUP)
def test_3_says_what_to_do(command: ForkedCommands, what: str) -> None:
    args, said = SETUP[what]
    done = command(*args)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("error: ")
    assert said in done.err
    assert "s3cret" not in done.err


def test_3_when_the_embedder_is_another_model(
    command: ForkedCommands, embedding_service: Callable[..., Any]
) -> None:
    """The records say nomic-embed-text; a service with the right width says otherwise."""
    service = embedding_service()
    done = command("serve", "memory:///named", "--embedder", f"openai:bge-m3@{service.loopback}")
    assert done.code == 3
    assert "names its model as nomic-embed-text, and the embedder is bge-m3" in done.err


def test_4_when_the_call_is_refused(command: ForkedCommands) -> None:
    for args in (
        ("recall", "memory:///plain", "--limit", "1001"),
        ("recall", "memory:///plain", "--embedding", "[1, 2]"),
        ("recall", "memory:///vectors", "--embedding", "[1, 2]"),
        ("timeline", "memory:///plain", "-w", 'page={"a": 1}'),
    ):
        done = command(*args)
        assert (done.code, done.out) == (4, ""), args
        assert done.err.startswith("error: ")
    assert "max_recall_limit, 1000" in command("recall", "memory:///plain", "-n", "1001").err


@pytest.mark.parametrize("scheme", ["qdrant", "chroma"])
def test_5_when_the_store_is_down_names_the_address(
    command: ForkedCommands, scheme: str, request: pytest.FixtureRequest
) -> None:
    if scheme == "qdrant":
        request.getfixturevalue("needs_qdrant")
    url = f"{scheme}://127.0.0.1:{free_port()}/docs"
    for name in ("serve", "inspect", "recall"):
        done = command(name, url)
        assert (done.code, done.out) == (5, ""), done.err
        assert url in done.err


def test_5_when_no_server_answers(command: ForkedCommands, tmp_path: Path) -> None:
    for target in (f"http://127.0.0.1:{free_port()}/", f"unix:{tmp_path}/none"):
        done = command("recall", target, "x")
        assert (done.code, done.out) == (5, "")
        assert target.removeprefix("unix:") in done.err


def test_5_when_the_embedder_does_not_answer(command: ForkedCommands) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    done = command("inspect", "memory:///vectors", "--embedder", f"openai:m@{address}/v1")
    assert (done.code, done.out) == (5, "")
    assert address in done.err


def test_1_when_the_server_speaks_no_a2m(
    command: ForkedCommands, embedding_service: Callable[..., Any]
) -> None:
    done = command("describe", embedding_service().loopback)
    assert (done.code, done.out) == (1, "")
    assert "Traceback" not in done.err


def test_the_code_of_a_call_is_the_same_through_a_server(
    command: ForkedCommands, start_gateway: Callable[..., Gateway]
) -> None:
    gateway = start_gateway("memory:///example")
    for args, code in ((("-n", "1001"), 4), (("--embedding", "[1]"), 4), (("-n", "1"), 0)):
        assert command("recall", gateway.http, *args).code == code
        assert command("recall", "memory:///plain", *args).code == code
