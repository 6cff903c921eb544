"""The connections beneath the client: straight, or through the proxy that the environment names.

``httpx`` looks for no proxy where it is given a transport, and ``aiohttp``, told to look, would
take credentials from ``~/.netrc`` too.
"""

from __future__ import annotations

import ssl
from urllib.request import getproxies, proxy_bypass

import httpx
from aiohttp import ClientSession, DummyCookieJar, TCPConnector
from httpx_aiohttp import AiohttpTransport

from a2m_gateway.errors import ConfigurationError

__all__ = ["network", "proxy_for"]


def network(base: str, *, direct: bool) -> httpx.AsyncBaseTransport:
    """Connections to one server. Reads certificates from disk where that takes TLS.

    httpx's own transport takes three times as long a call, most of the gateway's share.

    Args:
        base: The server's URL.
        direct: No proxy leads there.

    Raises:
        ConfigurationError: The environment names a proxy that can't be used.
    """
    # A context that trusts nobody, where there is nothing to verify: certificates take 20 ms.
    plain = httpx.URL(base).scheme == "http"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx.create_ssl_context()

    def session() -> ClientSession:
        # Cookies could carry from one caller's call to the next.
        connector = TCPConnector(ssl=True if plain else context)
        return ClientSession(connector=connector, cookie_jar=DummyCookieJar())

    return AiohttpTransport(
        verify=context, proxy=None if direct else proxy_for(base), client=session
    )


def proxy_for(base: str) -> httpx.Proxy | None:
    """The proxy of ``HTTP_PROXY``, ``HTTPS_PROXY`` or ``ALL_PROXY``, but for ``NO_PROXY``.

    Raises:
        ConfigurationError: It is none that speaks HTTP; its URL may hold a password and is not
            shown.
    """
    url = httpx.URL(base)
    proxies = getproxies()
    name = next((name for name in (url.scheme, "all") if proxies.get(name)), None)
    if name is None or proxy_bypass(url.netloc.decode("ascii")):
        return None
    given = proxies[name]
    try:
        proxy = httpx.Proxy(given if "://" in given else f"http://{given}")
    except (ValueError, httpx.InvalidURL):
        proxy = None
    if proxy is None or proxy.url.scheme not in ("http", "https") or not proxy.url.host:
        raise ConfigurationError(
            "chroma is reached through proxies of http:// and https:// alone; for none at all, "
            "put the host into NO_PROXY",
            setting=f"{name.upper()}_PROXY",
        )
    return proxy
