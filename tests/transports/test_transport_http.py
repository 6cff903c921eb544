"""The HTTP binding over real sockets (spec 8.3)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import httpx
import pytest
from raw_http import Running
from stub_responder import Stub

from a2m_gateway.errors import StoreTimeout, StoreUnavailable
from a2m_gateway.memory import Endpoint
from a2m_gateway.transports import HttpServer

Serve = Callable[..., Awaitable[Running]]
Line = Callable[..., bytes]
Eventually = Callable[[Callable[[], object]], Awaitable[None]]

JSON = {"content-type": "application/json"}


async def post(running: Running, body: bytes, **headers: str) -> httpx.Response:
    named = JSON | {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx.AsyncClient() as client:
        return await client.post(running.url, content=body, headers=named)


@pytest.mark.requirement("8.3-post-json")
@pytest.mark.requirement("8.3-request-200")
async def test_a_request(memory_endpoint: Endpoint, serve_http: Serve, request_line: Line) -> None:
    running = await serve_http(memory_endpoint)
    answer = await post(running, request_line("☕", "memory/timeline", {"limit": 1}))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    assert "server" not in answer.headers
    message = answer.json()
    assert (message["jsonrpc"], message["id"]) == ("2.0", "☕")
    assert message["result"]["records"][0]["content"] == 'tab\tquote"back\\slash'


@pytest.mark.requirement("8.3-notification-202")
@pytest.mark.parametrize("method", ["memory/recall", "memory/nonsense", "memory/forget"])
async def test_a_notification(memory_endpoint: Endpoint, serve_http: Serve, method: str) -> None:
    running = await serve_http(memory_endpoint)
    answer = await post(running, json.dumps({"jsonrpc": "2.0", "method": method}).encode())
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.requirement("8.3-protocol-error-200")
@pytest.mark.requirement("8.3-array-32600")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"", -32700),
        (b"\xff", -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"memory/recall"}]', -32600),
        (b"1", -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory/nonsense"}', -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory/recall","params":{"limit":"x"}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory/recall","params":{"tier":"x"}}', -32003),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory/consolidate"}', -32003),
        (b'{"jsonrpc":"2.0","id":1,"method":"memory/remember"}', -32004),
    ],
)
async def test_errors_of_the_protocol_are_answers(
    memory_endpoint: Endpoint, serve_http: Serve, body: bytes, code: int
) -> None:
    answer = await post(await serve_http(memory_endpoint), body)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json()["error"]["code"] == code


@pytest.mark.requirement("8.3-subscribe-32003")
@pytest.mark.requirement("8.3-no-push")
async def test_there_is_no_push(
    memory_endpoint: Endpoint, serve_http: Serve, request_line: Line
) -> None:
    running = await serve_http(memory_endpoint)
    refused = await post(running, request_line(1, "memory/events/subscribe", {}))
    assert refused.json()["error"]["code"] == -32003
    described = await post(running, request_line(1, "memory/describe", {}))
    assert "events" not in described.json()["result"]


@pytest.mark.requirement("8.3-get-405")
@pytest.mark.requirement("8.3-transport-failure-status")
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_other_methods(stub: Stub, serve_http: Serve, method: str) -> None:
    running = await serve_http(stub)
    async with httpx.AsyncClient() as client:
        answer = await client.request(method, running.url)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"
    assert stub.calls == []


@pytest.mark.requirement("8.3-transport-failure-status")
@pytest.mark.parametrize(
    "path", ["/mcp", "/healthz/", "//", "/%2e%2e/", "/docs", "/openapi.json", "/redoc"]
)
async def test_other_paths(stub: Stub, serve_http: Serve, path: str) -> None:
    running = await serve_http(stub)
    answer = await running.send(running.head("Content-Length: 0", line=f"POST {path} HTTP/1.1"))
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert stub.calls == []


@pytest.mark.requirement("8.3-transport-failure-status")
@pytest.mark.requirement("8.3-post-json")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (["Content-Type: application/json"], 200),
        (["Content-Type: application/json; charset=utf-8"], 200),
        (['Content-Type: Application/JSON;charset="UTF-8"'], 200),
        (["Content-Type: application/json; profile=x"], 200),
        (["Content-Type: application/json", "Content-Encoding: identity"], 200),
        ([], 415),
        (["Content-Type:"], 415),
        (["Content-Type: text/plain"], 415),
        (["Content-Type: text/json"], 415),
        (["Content-Type: application/jsonx"], 415),
        (["Content-Type: application/json-rpc"], 415),
        (["Content-Type: application/json; charset=latin-1"], 415),
        (["Content-Type: application/json; charset=utf-16"], 415),
        (["Content-Type: application/json; charset*=utf-8''utf-16"], 415),
        (["Content-Type: application/json, text/plain"], 415),
        (["Content-Type: application/json", "Content-Type: application/json"], 415),
        (["Content-Type: application/json", "Content-Encoding: gzip"], 415),
        (["Content-Type: application/json\xff"], 415),
    ],
)
async def test_content_types(
    stub: Stub, serve_http: Serve, request_line: Line, headers: list[str], status: int
) -> None:
    running = await serve_http(stub)
    body = request_line(1, "echo")
    answer = await running.send(running.head(*headers, f"Content-Length: {len(body)}") + body)
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert stub.calls == (["echo"] if status == 200 else [])


@pytest.mark.requirement("8.3-transport-failure-status")
@pytest.mark.requirement("8.3.2-header-400")
@pytest.mark.parametrize(
    "versions", [["a2m/0.2"], ["a2m/1.0"], ["0.1"], [""], ["\xff"], ["a2m/0.1", "a2m/0.2"]]
)
async def test_a_version_that_is_not_spoken(
    stub: Stub, serve_http: Serve, request_line: Line, versions: list[str]
) -> None:
    running = await serve_http(stub)
    headers = (f"A2M-Protocol-Version: {version}" for version in versions)
    answer = await running.send(running.post(request_line(1, "echo"), *headers))
    assert answer.startswith(b"HTTP/1.1 400 ")
    message = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert (message["id"], message["error"]["code"]) == (None, -32007)
    assert stub.calls == []


@pytest.mark.requirement("8.3.2-header-absent")
async def test_versions_that_are_fine(stub: Stub, serve_http: Serve, request_line: Line) -> None:
    running = await serve_http(stub)
    assert (await post(running, request_line(1, "echo"))).status_code == 200
    same = await post(running, request_line(1, "echo"), a2m_protocol_version="a2m/0.1")
    assert same.status_code == 200


@pytest.mark.requirement("8.3.3-well-known")
async def test_the_well_known_profile(
    memory_endpoint: Endpoint, serve_http: Serve, request_line: Line
) -> None:
    running = await serve_http(memory_endpoint)
    described = await post(running, request_line(1, "memory/describe", {}))
    async with httpx.AsyncClient() as client:
        profile = await client.get(running.url + ".well-known/a2m-server.json")
    assert profile.status_code == 200
    assert profile.headers["content-type"] == "application/json"
    assert "max-age" in profile.headers["cache-control"]
    assert profile.json() == described.json()["result"]
    assert "core" in profile.json()["capabilities"]


async def test_health_and_readiness(stub: Stub, serve_http: Serve) -> None:
    running = await serve_http(stub)
    async with httpx.AsyncClient(base_url=running.url) as client:
        assert (await client.get("/healthz")).json() == {"status": "ok"}
        assert (await client.get("/readyz")).json() == {"status": "ok"}
        for error, reason in (
            (StoreUnavailable("cannot reach db7.corp:6333 as secret"), "reached"),
            (StoreTimeout("db7.corp:6333, secret"), "in time"),
        ):
            stub.unready = error
            unready = await client.get("/readyz")
            assert unready.status_code == 503
            assert reason in unready.json()["reason"]
            assert "secret" not in unready.text
            assert "db7" not in unready.text
            assert (await client.get("/healthz")).status_code == 200


async def test_200_at_once(
    stub: Stub, serve_http: Serve, request_line: Line, eventually: Eventually
) -> None:
    running = await serve_http(stub)
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=30) as client:
        calls = [
            asyncio.create_task(
                client.post(running.url, content=request_line(i, "wait"), headers=JSON)
            )
            for i in range(200)
        ]
        await eventually(lambda: stub.running == 200)
        stub.released.set()
        answers = await asyncio.gather(*calls)
    assert [answer.json()["id"] for answer in answers] == list(range(200))


async def test_five_megabytes_both_ways(stub: Stub, serve_http: Serve, request_line: Line) -> None:
    text = "é" * 800_000
    answer = await post(await serve_http(stub), request_line(1, "echo", {"text": text}))
    assert answer.json()["result"]["text"] == text


async def test_several_servers_on_one_endpoint(
    stub: Stub, serve_http: Serve, request_line: Line
) -> None:
    for running in (await serve_http(stub), await serve_http(stub)):
        assert (await post(running, request_line(1, "echo"))).status_code == 200


async def test_a_fault_is_500_and_tells_nothing(serve_http: Serve, request_line: Line) -> None:
    class Broken(Stub):
        async def answer(self, message: bytes) -> bytes | None:
            raise RuntimeError("secret")

    running = await serve_http(Broken())
    answer = await post(running, request_line(1, "echo"))
    assert answer.status_code == 500
    assert "secret" not in answer.text


def test_urls_of_ipv6() -> None:
    assert HttpServer(Stub()).url == "http://127.0.0.1:8778/"
