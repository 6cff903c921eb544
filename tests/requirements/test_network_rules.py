"""Sections 4.13, 6 and 8: what a server says to its callers, and what they can't claim."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from gateway import command_line

from a2m_gateway.memory import Endpoint
from a2m_gateway.protocol import METHODS
from a2m_gateway.transports import HttpServer, HttpSettings, Server, TokenHash, UnixServer

PAGE = Path(__file__).resolve().parents[2] / "docs" / "http.md"
TOKEN = "a-token-for-this-test"
HEADERS = {"authorization": f"Bearer {TOKEN}"}
with_and_without_tokens = pytest.mark.parametrize(
    "tokens", [(), (TokenHash.of("tester", TOKEN),)], ids=["unauthenticated", "tokens"]
)


def message(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[None]:
    await server.start()
    waiting = asyncio.create_task(server.wait())
    try:
        yield
    finally:
        server.stop()
        await waiting


@asynccontextmanager
async def over_http(
    endpoint: Endpoint, tokens: tuple[TokenHash, ...]
) -> AsyncIterator[httpx.AsyncClient]:
    server = HttpServer(endpoint, HttpSettings(port=0, tokens=tokens))
    async with serving(server), httpx.AsyncClient(base_url=server.url, headers=HEADERS) as client:
        yield client


@pytest.mark.requirement("6-no-scopes-unauthenticated")
@pytest.mark.requirement("8.3-authenticate-for-scopes")
@with_and_without_tokens
async def test_scopes_are_not_declared(endpoint: Endpoint, tokens: tuple[TokenHash, ...]) -> None:
    """Not even to who is authenticated: a token does not yet say whose records it may see."""
    async with over_http(endpoint, tokens) as client:
        answer = (await client.post("/", json=message("memory/describe"))).json()
        published = (await client.get("/.well-known/a2m-server.json")).json()
    assert "core" in answer["result"]["capabilities"]
    assert "scopes" not in answer["result"]["capabilities"]
    assert "scopes" not in published["capabilities"]


@pytest.mark.requirement("6-owner-not-trusted")
@with_and_without_tokens
async def test_a_claimed_owner_has_no_effect(
    endpoint: Endpoint, tokens: tuple[TokenHash, ...]
) -> None:
    async with over_http(endpoint, tokens) as client:
        for method in ("memory/describe", "memory/recall", "memory/timeline"):
            plain = (await client.post("/", json=message(method))).json()
            assert "result" in plain
            for owner in ("me", "tester", "", None, 7, ["root"]):
                answer = await client.post("/", json=message(method, owner=owner))
                assert answer.json() == plain


@pytest.mark.requirement("6-documented")
def test_what_owner_means_is_documented() -> None:
    """One paragraph of the page says what an ``owner`` does where there are no ``scopes``."""
    paragraphs = re.split(r"\n\s*\n", PAGE.read_text("utf-8"))
    assert any("`owner`" in one and "`scopes`" in one for one in paragraphs)


@pytest.mark.requirement("4.13-nothing-unsubscribed")
async def test_nothing_comes_unasked(endpoint: Endpoint, tmp_path: Path) -> None:
    """A stream that could carry notifications holds one answer to each request, and no more."""
    methods = ["memory/describe", "memory/recall", "memory/remember", "memory/events/subscribe"]
    path = tmp_path / "a2m.sock"
    async with serving(UnixServer(endpoint, path)):
        reader, writer = await asyncio.open_unix_connection(path)
        for number, method in enumerate(methods):
            writer.write(json.dumps({**message(method), "id": number}).encode() + b"\n")
        writer.write_eof()
        received = (await asyncio.wait_for(reader.read(), 30)).splitlines()
        writer.close()
    assert sorted(json.loads(line)["id"] for line in received) == list(range(len(methods)))


CONVERSATION = [
    *(json.dumps({**message(name), "id": name}).encode() for name in METHODS),
    json.dumps({**message("memory/recall", query="E4211", limit=3), "id": 7}).encode(),
    json.dumps({**message("memory/recall", limit="3"), "id": 8}).encode(),
    json.dumps({**message("sampling/create"), "id": 9}).encode(),
    b'{"jsonrpc":"2.0","method":"memory/recall"}',
    b'{"jsonrpc":"2.0","method":"memory/events/subscribe"}',
    b'{"jsonrpc":"2.0","id":1,"result":{"records":[]}}',
    b'{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no"}}',
    b'[{"jsonrpc":"2.0","id":3,"method":"memory/describe"}]',
    b"{",
]
"""Every method of A2M, and all else that a client may say."""

ANSWERED = sorted([*METHODS, "7", "8", "9", *["None"] * 4])
"""The ids of the answers: none to a notification, and null where no id could be read."""


def check_that_all_are_responses(said: bytes) -> None:
    """Nothing asks or notifies; there is one response to each request, and no more."""
    spoken = [json.loads(line) for line in said.splitlines()]
    assert [one for one in spoken if "method" in one] == []
    assert all(
        one.keys() in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"}) for one in spoken
    )
    assert sorted(str(one["id"]) for one in spoken) == ANSWERED


@pytest.mark.requirement("8-no-server-requests")
@pytest.mark.requirement("8.2-stdout-clean")
@pytest.mark.requirement("4.13-nothing-unsubscribed")
def test_all_that_the_command_says_on_stdout_is_responses() -> None:
    done = subprocess.run(
        [*command_line(), "serve", "memory:///example", "--stdio"],
        input=b"\n".join(CONVERSATION),
        capture_output=True,
        timeout=60,
        check=True,
    )
    check_that_all_are_responses(done.stdout)


@pytest.mark.requirement("8-no-server-requests")
async def test_all_that_is_said_on_a_socket_is_responses(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    path = tmp_path / "a2m.sock"
    async with serving(UnixServer(endpoint, path)):
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(b"\n".join(CONVERSATION))
        writer.write_eof()
        said = await asyncio.wait_for(reader.read(), 30)
        writer.close()
    check_that_all_are_responses(said)
