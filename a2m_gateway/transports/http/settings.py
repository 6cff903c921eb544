"""How the HTTP transport is set up."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.transports.http.names import normal_host, normal_origin
from a2m_gateway.transports.server import DEFAULT_GRACE

__all__ = ["HttpSettings", "TokenHash"]

_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class TokenHash:
    """A bearer token that is accepted, known by its hash alone.

    Attributes:
        name: Whose it is; appears in logs.
        sha256: Of the token's UTF-8 bytes, as lower-case hexadecimal.
    """

    name: str
    sha256: str

    @classmethod
    def of(cls, name: str, token: str) -> TokenHash:
        """The hash of a token that is at hand."""
        return cls(name, hashlib.sha256(token.encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Settings of one HTTP server; ``ConfigurationError`` names the one that is wrong.

    Attributes:
        host: Name or address to bind. All of its addresses are bound.
        port: 0 takes a free one.
        tokens: With none, everyone who can connect is served, so that only loopback is bound.
        allowed_origins: Origins of web pages that may call, such as ``https://app.example``. The
            server's own is always allowed, ``null`` never.
        allowed_hosts: Names by which clients may call this server, beside ``host`` and those of
            the loopback; ``name`` goes for every port, ``name:port`` for that one.
        allow_unauthenticated: Serve other machines too, without tokens.
        shutdown_grace: Seconds that accepted requests may take after ``stop``.
        receive_timeout: Seconds in which the head of a request, and then its body, must arrive,
            and in which a peer must take some of a response.
        max_connections: More than this are answered 503.
    """

    host: str = "127.0.0.1"
    port: int = 8778
    tokens: tuple[TokenHash, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    allow_unauthenticated: bool = False
    shutdown_grace: float = DEFAULT_GRACE
    receive_timeout: float = 30.0
    max_connections: int = 1000

    def __post_init__(self) -> None:
        if not self.host:
            raise ConfigurationError(
                "must name a host; 0.0.0.0 is every IPv4 address of this machine",
                setting="http.host",
            )
        if not 0 <= self.port <= 65535:
            raise ConfigurationError(f"{self.port} is not in 0..65535", setting="http.port")
        for name in ("shutdown_grace", "receive_timeout", "max_connections"):
            if getattr(self, name) <= 0:
                raise ConfigurationError("must be more than 0", setting=f"http.{name}")
        self._check_tokens()
        self._check_names()

    def _check_tokens(self) -> None:
        for index, token in enumerate(self.tokens):
            if not _SHA256.fullmatch(token.sha256):
                # The value is not shown: it may be the token itself, put here by mistake.
                raise ConfigurationError(
                    "must be the SHA-256 of the token as 64 lower-case hexadecimal digits"
                    " (printf %s TOKEN | sha256sum)",
                    setting=f"http.tokens[{index}].sha256",
                )
        twice = [name for name, n in Counter(t.name for t in self.tokens).items() if n > 1]
        if twice:
            raise ConfigurationError(
                f"two tokens are named {twice[0]!r}; a log could not tell them apart",
                setting="http.tokens",
            )

    def _check_names(self) -> None:
        for index, origin in enumerate(self.allowed_origins):
            if normal_origin(origin) is None:
                raise ConfigurationError(
                    f"{origin!r} is no origin: name scheme, host and port as in"
                    " https://app.example:8443, each origin by itself",
                    setting=f"http.allowed_origins[{index}]",
                )
        for index, host in enumerate(self.allowed_hosts):
            if normal_host(host) is None:
                raise ConfigurationError(
                    f"{host!r} is no host: write name or name:port",
                    setting=f"http.allowed_hosts[{index}]",
                )
