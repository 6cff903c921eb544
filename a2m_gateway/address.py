"""Hosts: which of them are this machine, and how they stand in a URL."""

from __future__ import annotations

from ipaddress import ip_address

__all__ = ["authority", "is_loopback"]


def is_loopback(host: str) -> bool:
    """Whether a name or an address always means this machine.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("::1%lo")
    (True, True, True)
    >>> is_loopback("0.0.0.0"), is_loopback("localhost.example")
    (False, False)
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def authority(host: str, port: int | None) -> str:
    """What stands between ``//`` and the path of a URL.

    >>> authority("::1", 80), authority("host", None)
    ('[::1]:80', 'host')
    """
    shown = f"[{host}]" if ":" in host else host
    return shown if port is None else f"{shown}:{port}"
