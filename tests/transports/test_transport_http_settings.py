"""Where an HTTP server may be bound, and settings that are wrong (spec 8.3.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from raw_http import Running
from stub_responder import Stub

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.transports import HttpSettings, TokenHash

Serve = Callable[..., Awaitable[Running]]
Line = Callable[..., bytes]

SECRET = "s3cret-token"


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2", "[::1]"])
async def test_loopback_is_bound_without_tokens(
    stub: Stub, serve_http: Serve, request_line: Line, host: str
) -> None:
    running = await serve_http(stub, host=host)
    named = f"[{host.strip('[]')}]" if ":" in host else host
    assert running.url == f"http://{named}:{running.port}/"
    addresses = {sock.getsockname()[0] for sock in running.listeners}
    assert addresses <= {"127.0.0.1", "127.0.0.2", "::1"}


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "[::]", "0"])
async def test_other_addresses_take_tokens_or_a_word(
    stub: Stub, serve_http: Serve, request_line: Line, host: str
) -> None:
    with pytest.raises(ConfigurationError, match=r"http\.tokens.*--allow-unauthenticated"):
        await serve_http(stub, host=host)
    body = request_line(1, "echo")
    running = await serve_http(stub, host=host, allow_unauthenticated=True)
    if ":" not in host:
        assert status(await running.send(running.post(body))) == 200
        stranger = running.post(body, host="memory.example")
        assert status(await running.send(stranger)) == 403, "rebinding is checked all the same"
    await serve_http(stub, host=host, tokens=(TokenHash.of("one", SECRET),))


async def test_a_port_in_use_and_a_host_that_is_none(stub: Stub, serve_http: Serve) -> None:
    running = await serve_http(stub)
    with pytest.raises(ConfigurationError, match="in use"):
        await serve_http(stub, port=running.port)
    with pytest.raises(ConfigurationError, match="can't be resolved"):
        await serve_http(stub, host="no such host")
    with pytest.raises(ConfigurationError, match="no address of this machine"):
        await serve_http(stub, host="192.0.2.1", allow_unauthenticated=True)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"host": ""}, "http.host"),
        ({"port": 65536}, "http.port"),
        ({"shutdown_grace": 0}, "http.shutdown_grace"),
        ({"tokens": (TokenHash("a", SECRET),)}, r"http.tokens\[0\].sha256"),
        ({"tokens": (TokenHash("a", "A" * 64),)}, r"http.tokens\[0\].sha256"),
        ({"tokens": (TokenHash.of("a", "x"), TokenHash.of("a", "y"))}, "http.tokens"),
        ({"allowed_origins": ("https://ok.example", "*")}, r"http.allowed_origins\[1\]"),
        ({"allowed_origins": ("null",)}, "http.allowed_origins"),
        ({"allowed_origins": ("app.example",)}, "http.allowed_origins"),
        ({"allowed_origins": ("https://app.example/",)}, "http.allowed_origins"),
        ({"allowed_hosts": ("https://a",)}, "http.allowed_hosts"),
        ({"allowed_hosts": ("*",)}, "http.allowed_hosts"),
    ],
)
def test_settings_that_are_wrong_are_named(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named) as raised:
        HttpSettings(**settings)
    assert SECRET not in str(raised.value)
