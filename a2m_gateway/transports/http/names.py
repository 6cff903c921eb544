"""Hosts and origins in the one form in which they are compared."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

__all__ = ["Host", "normal_host", "normal_origin"]

_AUTHORITY = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::([0-9]{1,5}))?")
_ORIGIN = re.compile(r"([a-z][a-z0-9+.-]*)://(.+)")
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Host:
    """Where a request says it is going.

    Attributes:
        name: Lower-case, without the dot of a fully qualified name; an IPv6 address compressed.
        port: None where none was named.
    """

    name: str
    port: int | None


def normal_host(text: str) -> Host | None:
    """``name[:port]``, or None where it is not that.

    >>> normal_host("LocalHost.:80"), normal_host("[0:0::1]:8778").name, normal_host("a b")
    (Host(name='localhost', port=80), '::1', None)
    """
    found = _AUTHORITY.fullmatch(text.lower())
    if found is None:
        return None
    literal, name, digits = found.groups()
    port = int(digits) if digits else None
    if port is not None and port > 65535:
        return None
    if literal is None:
        return Host(name.removesuffix("."), port)
    try:
        return Host(str(ipaddress.IPv6Address(literal)), port)
    except ValueError:
        return None


def normal_origin(text: str) -> tuple[str, Host] | None:
    """Scheme and host with its port; None where it is no origin, as ``null`` is none.

    >>> normal_origin("http://a") == normal_origin("HTTP://A:80"), normal_origin("http://a/b")
    (True, None)
    """
    found = _ORIGIN.fullmatch(text.lower())
    host = normal_host(found[2]) if found else None
    if found is None or host is None:
        return None
    scheme = found[1]
    if host.port is None:
        host = Host(host.name, _DEFAULT_PORTS.get(scheme))
    return scheme, host
