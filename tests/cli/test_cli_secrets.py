"""No secret is ever printed, whatever is logged and whatever goes wrong."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from forked_commands import Done, ForkedCommands
from gateway import request
from running_command import RunningCommand

SECRET = "s3cr3t-0123456789-abcdef"
DEBUG = ("--log-level", "debug")


class Refusing(BaseHTTPRequestHandler):
    """Refuses whoever comes, and repeats in the body all that it was sent."""

    seen: list[str]

    def do_GET(self) -> None:
        headers = str(self.headers)
        self.seen.append(headers)
        body = b"denied"
        self.send_response(401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - as the base class spells it

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@pytest.fixture
def refusing() -> Iterator[tuple[str, list[str]]]:
    """``host:port`` of a server that refuses everybody, and the headers that it saw."""
    seen: list[str] = []
    handler = type("Handler", (Refusing,), {"seen": seen})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}", seen
    server.shutdown()
    thread.join()
    server.server_close()


def clean(done: Done) -> None:
    assert SECRET not in done.out
    assert SECRET not in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("scheme", ["qdrant", "chroma"])
def test_of_a_store(
    command: ForkedCommands,
    scheme: str,
    refusing: tuple[str, list[str]],
    request: pytest.FixtureRequest,
    settings_file: Path,
) -> None:
    if scheme == "qdrant":
        request.getfixturevalue("needs_qdrant")
    address, seen = refusing
    url = f"{scheme}://{address}/docs"
    done = command("inspect", url, *DEBUG, env={"A2M_STORE_SECRET": SECRET})
    assert (done.code, done.out) == (3, ""), done.err
    assert "A2M_STORE_SECRET" in done.err
    clean(done)
    assert any(SECRET in headers for headers in seen)  # it was really sent
    settings_file.write_text('[store]\nsecret_env = "DATABASE_KEY"\n')
    file = ("-c", str(settings_file))
    unset = command("inspect", url, *file)
    assert (unset.code, "store.secret_env: " in unset.err) == (3, True)
    seen.clear()
    clean(command("inspect", url, *file, *DEBUG, env={"DATABASE_KEY": SECRET}))
    assert any(SECRET in headers for headers in seen)


@pytest.mark.parametrize("bad", [f"{SECRET}\n", f"{SECRET}é", f"{SECRET}\x1b"])
@pytest.mark.parametrize("scheme", ["qdrant", "chroma"])
def test_that_can_be_none(
    command: ForkedCommands, scheme: str, bad: str, request: pytest.FixtureRequest
) -> None:
    if scheme == "qdrant":
        request.getfixturevalue("needs_qdrant")
    url = f"{scheme}://127.0.0.1:1/docs"
    done = command("inspect", url, *DEBUG, env={"A2M_STORE_SECRET": bad})
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("error: A2M_STORE_SECRET: ")
    clean(done)


def test_of_a_server(command: ForkedCommands, refusing: tuple[str, list[str]]) -> None:
    address, seen = refusing
    done = command("recall", f"http://{address}/", *DEBUG, env={"A2M_TOKEN": SECRET})
    assert done.code == 4
    clean(done)
    assert any(SECRET in headers for headers in seen)


def test_of_an_embedder(
    command: ForkedCommands, embedding_service: Callable[..., Any], settings_file: Path
) -> None:
    service = embedding_service()
    settings_file.write_text(
        f'[embedder]\nkind = "openai"\nmodel = "m"\nurl = "{service.remote}"\n'
        'api_key_env = "EMBEDDER_KEY"\n'
    )
    env = {"EMBEDDER_KEY": SECRET, "NO_PROXY": "*", "no_proxy": "*"}
    args = ("recall", "memory:///vectors", "x", "-c", str(settings_file), *DEBUG)
    done = command(*args, env=env)
    assert done.code == 0, done.err
    clean(done)
    assert service.keys == [f"Bearer {SECRET}"] * 2
    unset = command(*args)
    assert (unset.code, "EMBEDDER_KEY is not set" in unset.err) == (3, True)


def test_of_a_caller(settings_file: Path) -> None:
    """What a client sends to ``serve`` is not logged either, be it right or wrong."""
    import httpx

    digest = hashlib.sha256(SECRET.encode()).hexdigest()
    settings_file.write_text(f'[[http.tokens]]\nname = "a"\nsha256 = "{digest}"\n')
    args = ("serve", "memory:///example", "--http", "127.0.0.1:0", "-c", str(settings_file))
    with RunningCommand(*args, *DEBUG) as command, httpx.Client(trust_env=False) as client:
        (url,) = command.places()
        for token, status in ((SECRET, 200), (f"{SECRET}x", 401)):
            headers = {"content-type": "application/json", "authorization": f"Bearer {token}"}
            content = request("recall", {"query": "x"})
            assert client.post(url, content=content, headers=headers).status_code == status
        command.process.terminate()
        assert command.wait() == 0
        assert SECRET not in command.log
        assert command.out() == b""
