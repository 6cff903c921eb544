"""The client against real servers: the same answers over every transport."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import server_program

import a2m_gateway
from a2m_gateway.client import Client, HttpChannel, StdioChannel
from a2m_gateway.errors import (
    CapabilityNotSupported,
    ConfigurationError,
    HttpRefused,
    InvalidParams,
    MalformedAnswer,
    ProtocolNotSupported,
    ReadOnly,
    ServerUnreachable,
)
from a2m_gateway.memory import Endpoint
from a2m_gateway.transports import HttpServer, HttpSettings, TokenHash, UnixServer

PROGRAM = [sys.executable, server_program.__file__]


@contextlib.asynccontextmanager
async def served(server: Any) -> AsyncIterator[Any]:
    await server.start()
    waiting = asyncio.create_task(server.wait())
    yield server
    waiting.cancel()
    await asyncio.wait([waiting])


@pytest.fixture
async def clients(endpoint: Endpoint, socket_path: Path) -> AsyncIterator[dict[str, Client]]:
    """A client of the same endpoint over each transport that one process can have."""
    async with (
        served(HttpServer(endpoint, HttpSettings(port=0))) as http,
        served(UnixServer(endpoint, socket_path)),
        a2m_gateway.Client.in_process(endpoint) as in_process,
        Client.unix(socket_path) as unix,
        Client.http(http.url) as over_http,
    ):
        yield {"in process": in_process, "unix": unix, "http": over_http}


async def test_the_same_answers_everywhere(clients: dict[str, Client]) -> None:
    for client in clients.values():
        assert "core" in (await client.describe()).capabilities
        timeline = await client.timeline()
        assert [record["content"] for record in timeline] == ["naïve\ncafé", "tea"]
        assert timeline[0]["metadata"] == {"n": 1, "nested": {"a": [None, "☕"]}}
        (nearest,) = await client.recall(embedding=[0.1, 1.0], limit=1, embeddings=True)
        assert (nearest["id"], nearest["embedding"]) == ("r2", [0.0, 1.0])
        assert [r["id"] for r in await client.recall(where={"n": 1})] == ["r1"]
        with pytest.raises(ReadOnly):
            await client.remember([{"content": "x"}])
        with pytest.raises(ReadOnly):
            await client.forget()
        with pytest.raises(InvalidParams) as refused:
            await client.recall("x", limit=-1)
        assert refused.value.data["field"] == "limit"
        with pytest.raises(CapabilityNotSupported):
            await client.recall("x", tier="episodic")


async def test_50_calls_at_once(clients: dict[str, Client]) -> None:
    for client in clients.values():
        answers = await asyncio.gather(*(client.recall(where={"n": i % 2 + 1}) for i in range(50)))
        assert [found[0]["id"] for found in answers] == ["r1", "r2"] * 25


# ---- stdio


class Undescribed(Client):
    """For the stub program, which describes nothing."""

    async def ask(self, method: str, **params: object) -> dict[str, Any]:
        return await self._exchange(method, params, None)


def program(*arguments: str) -> tuple[Undescribed, StdioChannel]:
    channel = StdioChannel([*PROGRAM, "stdio", *arguments])
    return Undescribed(channel, timeout=20), channel


async def test_stdio_and_its_end() -> None:
    client, channel = program()
    async with client:
        text = "é\n" * 500_000
        assert await client.ask("echo", text=text) == {"text": text}
        first, second = await asyncio.gather(
            client.ask("sleep", seconds=0.2), client.ask("echo", n=2)
        )
        assert (first, second) == ({"seconds": 0.2}, {"n": 2})
    assert channel.returncode == 0
    with pytest.raises(ServerUnreachable, match="closed"):
        await client.ask("echo")
    await client.aclose()


async def test_a_server_that_dies() -> None:
    channel = StdioChannel([sys.executable, "-c", "input(); raise SystemExit(7)"])
    async with Client(channel, timeout=20) as client:
        with pytest.raises(ServerUnreachable, match="exit code 7"):
            await client.describe()


async def test_a_server_that_does_not_end_is_made_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("a2m_gateway.client.stdio.PATIENCE", 0.2)
    stubborn = (
        "import signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('{}', flush=True); time.sleep(60)"
    )
    channel = StdioChannel([sys.executable, "-c", stubborn])
    async with asyncio.timeout(10):
        async with Client(channel, timeout=20) as client:
            with pytest.raises(MalformedAnswer):
                await client.describe()
        process = channel._process
        assert process is not None
        assert await process.wait() == -9


async def test_the_environment_of_a_server() -> None:
    code = "import os, sys; sys.exit(int(os.environ['CODE']))"
    channel = StdioChannel([sys.executable, "-c", code], env=os.environ | {"CODE": "5"})
    async with Client(channel, timeout=20) as client:
        with pytest.raises(ServerUnreachable, match="exit code 5"):
            await client.describe()


# ---- HTTP


@contextlib.asynccontextmanager
async def answering(raw: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """An HTTP server that says one thing, and what it was sent."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(raw)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", heads
    server.close()


def response(status: str, body: bytes, *headers: bytes) -> bytes:
    lines = [b"HTTP/1.1 " + status.encode(), *headers, b"Content-Length: %d" % len(body)]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


@pytest.mark.requirement("8.3.2-client-header")
async def test_what_is_sent(endpoint: Endpoint) -> None:
    async with (
        answering(response("500 X", b"")) as (url, heads),
        Client.http(url, token="secret") as client,
    ):
        with pytest.raises(HttpRefused):
            await client.describe()
    head = heads[0].decode().lower()
    assert head.startswith("post / http/1.1\r\n")
    assert "\r\na2m-protocol-version: a2m/0.1\r\n" in head
    assert "\r\ncontent-type: application/json\r\n" in head
    assert "\r\nauthorization: bearer secret\r\n" in head


@pytest.mark.parametrize(
    ("raw", "error", "text"),
    [
        (response("404 Not Found", b"", b"Content-Type: text/html"), HttpRefused, "HTTP 404"),
        (response("401 Unauthorized", b""), HttpRefused, "token"),
        (
            response("403 Forbidden", b"not you", b"Content-Type: text/plain"),
            HttpRefused,
            "not you",
        ),
        (response("302 Found", b"", b"Location: /elsewhere"), HttpRefused, "HTTP 302"),
        (response("502 Bad Gateway", b"<html>"), HttpRefused, "HTTP 502"),
        (response("202 Accepted", b""), MalformedAnswer, "HTTP 202"),
        (response("200 OK", b"<html>"), MalformedAnswer, "something else"),
        (response("200 OK", b"plain", b"Content-Encoding: gzip"), MalformedAnswer, "decompressed"),
        (response("200 OK", b'{"jsonrpc":"2.0","id":7,"result":{}}'), MalformedAnswer, "id 7"),
        (
            response(
                "400 Bad Request",
                b'{"jsonrpc":"2.0","id":null,"error":{"code":-32007,"message":"old"}}',
            ),
            ProtocolNotSupported,
            "old",
        ),
        (b"", ServerUnreachable, "no answer"),
        (b"nonsense\r\n\r\n", ServerUnreachable, "no answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", ServerUnreachable, "no answer"),
    ],
)
async def test_what_comes_instead_of_an_answer(
    raw: bytes, error: type[Exception], text: str
) -> None:
    async with answering(raw) as (url, _), Client.http(url, timeout=10) as client:
        with pytest.raises(error, match=text):
            await client.describe()


async def test_tokens(endpoint: Endpoint) -> None:
    settings = HttpSettings(port=0, tokens=(TokenHash.of("me", "secret"),))
    async with served(HttpServer(endpoint, settings)) as server:
        async with Client.http(server.url, token="secret") as client:
            assert len(await client.timeline()) == 2
        for wrong in (None, "other"):
            async with Client.http(server.url, token=wrong) as client:
                with pytest.raises(HttpRefused) as refused:
                    await client.timeline()
                assert refused.value.status == 401


@pytest.mark.parametrize(
    ("url", "token"),
    [
        ("ftp://host/", None),
        ("host:8778", None),
        ("http://", None),
        ("http://user:secret@host/", None),
        ("http://host:port/", None),
        ("http://host/", "secret\n"),
        ("http://host/", "secret\u00e9"),
        ("http://host/", ""),
    ],
)
def test_settings_that_can_t_be_right(url: str, token: str | None) -> None:
    with pytest.raises(ConfigurationError) as raised:
        HttpChannel(url, token=token)
    assert "secret" not in str(raised.value)


async def test_a_cancelled_call_is_cancelled_at_the_server() -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    class Slow:
        max_request_bytes = 1000

        async def answer(self, message: bytes) -> bytes | None:
            started.set()
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                cancelled.set()
                raise
            return None

        async def describe(self) -> bytes:
            return b"{}"

        async def ready(self) -> None:
            pass

    async with (
        served(HttpServer(Slow(), HttpSettings(port=0))) as server,
        Client.http(server.url) as client,
        asyncio.timeout(10),
    ):
        call = asyncio.create_task(client.describe())
        await started.wait()
        call.cancel()
        await cancelled.wait()
