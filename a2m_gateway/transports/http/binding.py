"""Listening sockets, and who could reach them."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Iterable

from a2m_gateway.address import is_loopback
from a2m_gateway.errors import ConfigurationError
from a2m_gateway.transports.http.settings import HttpSettings

__all__ = ["bind", "refuse_strangers"]

_NOT_HERE = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
BACKLOG = 1024


async def bind(settings: HttpSettings) -> list[socket.socket]:
    """One listening socket for each address of the host, all on the same port.

    Raises:
        ConfigurationError: The host is unknown, the port is taken, or others could reach the
            server and it would not know who they are.
    """
    addresses = await _resolve(settings)
    refuse_strangers(settings, [address for _, address in addresses])
    listeners: list[socket.socket] = []
    port = settings.port
    try:
        for family, address in addresses:
            listener = _listen(family, address, port)
            if listener is not None:
                listeners.append(listener)
                port = listener.getsockname()[1]
    except OSError as error:
        _close(listeners)
        raise _failed(settings, error) from None
    if not listeners:
        raise ConfigurationError(
            f"{settings.host!r} is no address of this machine", setting="http.host"
        )
    return listeners


async def _resolve(settings: HttpSettings) -> list[tuple[socket.AddressFamily, str]]:
    host = settings.host.removeprefix("[").removesuffix("]")
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(
            f"{settings.host!r} can't be resolved: {error}", setting="http.host"
        ) from None
    return list(dict.fromkeys((family, str(target[0])) for family, _, _, _, target in found))


def refuse_strangers(settings: HttpSettings, addresses: Iterable[str]) -> None:
    """Refuse to be reached from other machines by who knows whom.

    Args:
        addresses: What the host stands for.

    Raises:
        ConfigurationError: One of them is not the loopback's, and there are no tokens.
    """
    if settings.tokens or settings.allow_unauthenticated:
        return
    reachable = [address for address in addresses if not is_loopback(address)]
    if reachable:
        raise ConfigurationError(
            f"{settings.host!r} ({', '.join(reachable)}) can be reached from other machines, and no"
            " token says who may call: configure http.tokens, or bind 127.0.0.1, or serve everyone"
            " with --allow-unauthenticated",
            setting="http.host",
        )


def _listen(family: socket.AddressFamily, address: str, port: int) -> socket.socket | None:
    """A listening socket; None where this machine lacks the address, as with IPv6 switched off."""
    try:
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        if error.errno in _NOT_HERE:
            return None
        raise
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((address, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        if error.errno in _NOT_HERE:
            return None
        raise
    return listener


def _close(listeners: list[socket.socket]) -> None:
    for listener in listeners:
        listener.close()


def _failed(settings: HttpSettings, error: OSError) -> ConfigurationError:
    where = f"{settings.host}:{settings.port}"
    if error.errno == errno.EADDRINUSE:
        return ConfigurationError(
            f"{where} is in use: stop what listens there, or choose another port (0: any free one)",
            setting="http.port",
        )
    return ConfigurationError(f"{where} can't be bound: {error.strerror}", setting="http.host")
