"""The proxy of the environment is on the way to other machines, and never to this one."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from listening_proxy import ListeningProxy, listening

from a2m_gateway.client.http import HttpChannel
from a2m_gateway.embedding import embedder_settings
from a2m_gateway.embedding.build import build
from a2m_gateway.errors import A2MError, ConfigurationError
from a2m_gateway.store import StoreURL
from a2m_gateway.store.registry import adapter_for

CLIENTS = ["chroma", "qdrant", "a2m", "embedder"]


@pytest.fixture
async def proxy(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ListeningProxy]:
    for name in ("HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with listening() as proxy:
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, f"http://user:pass%20word@127.0.0.1:{proxy.port}")
        yield proxy


async def ask(client: str, place: str) -> None:
    """One request to a server; what the answer means to the client does not matter."""
    if client == "a2m":
        channel = HttpChannel(f"http://{place}/")
        with suppress(A2MError):
            await channel.exchange(1, b"{}")
        await channel.aclose()
    elif client == "embedder":
        embedder = build(embedder_settings(f"openai:m@http://{place}/v1"))
        with suppress(A2MError):
            await embedder.embed_query("x")
        await embedder.aclose()
    else:
        pytest.importorskip(f"a2m_{client}.adapter", reason=f"needs a2m-gateway[{client}]")
        url = StoreURL.parse(f"{client}://{place}/docs")
        await (await adapter_for(client).connect(url)).aclose()


@pytest.mark.parametrize("client", CLIENTS)
async def test_another_machine_is_reached_through_it(proxy: ListeningProxy, client: str) -> None:
    await ask(client, "db.invalid:6333")
    assert proxy.targets
    assert all(target.startswith("http://db.invalid:6333/") for target in proxy.targets)
    assert "Proxy-Authorization: Basic dXNlcjpwYXNzIHdvcmQ=".lower() in proxy.heads[0].lower()


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_this_machine_is_reached_without(
    proxy: ListeningProxy, client: str, host: str
) -> None:
    await ask(client, f"{host}:{proxy.port}")
    assert proxy.targets
    assert all(target.startswith("/") for target in proxy.targets)


@pytest.mark.parametrize("given", ["socks5://u:s3cret@h:1", "http://", "http://u:s3cret@h:port"])
async def test_a_proxy_that_speaks_no_http_is_refused_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, proxy: ListeningProxy, given: str
) -> None:
    pytest.importorskip("a2m_chroma.adapter", reason="needs a2m-gateway[chroma]")
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, given)
    with pytest.raises(ConfigurationError, match="HTTP_PROXY") as refused:
        await ask("chroma", "db.invalid:8000")
    assert "s3cret" not in str(refused.value)


def test_certificates_are_read_once_and_for_tls_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take 20 ms of the start, and of the event loop."""
    network = pytest.importorskip("a2m_chroma.network", reason="needs a2m-gateway[chroma]")
    read: list[object] = []
    load = ssl.SSLContext.load_verify_locations

    def watched(context: ssl.SSLContext, *args: object, **more: object) -> None:
        read.append(context)
        load(context, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", watched)
    network.network("http://db.invalid:8000", direct=True)
    assert read == []
    transport = network.network("https://db.invalid:8000", direct=True)
    assert read == [transport.ssl_context]


async def test_no_proxy_is_minded(monkeypatch: pytest.MonkeyPatch, proxy: ListeningProxy) -> None:
    network = pytest.importorskip("a2m_chroma.network", reason="needs a2m-gateway[chroma]")
    assert network.proxy_for("http://db.invalid:8000") is not None
    assert network.proxy_for("https://db.invalid:8000") is None
    monkeypatch.setenv("NO_PROXY", "db.invalid")
    monkeypatch.setenv("no_proxy", "db.invalid")
    assert network.proxy_for("http://db.invalid:8000") is None
    assert network.proxy_for("http://other.invalid:8000") is not None
