"""Where HTTP is served, as the command line and the file say it."""

from __future__ import annotations

import re

from a2m_gateway.cli.settings import HttpTable
from a2m_gateway.errors import ConfigurationError
from a2m_gateway.transports import HttpSettings, TokenHash

__all__ = ["http_settings", "renamed"]

_LISTEN = re.compile(r"(?:\[(?P<six>[^\[\]/]+)\]|(?P<host>[^\[\]:/\s]+)):(?P<port>[0-9]{1,5})")
_PLACE = {"http.host", "http.port"}


def http_settings(
    table: HttpTable, listen: str | None, *, allow_unauthenticated: bool = False
) -> HttpSettings:
    """The HTTP transport's settings.

    Args:
        table: The file's ``[http]``.
        listen: ``--http``, which goes before the file's ``listen``.

    Raises:
        ConfigurationError: Names the setting.
    """
    setting = "http.listen" if listen is None else "--http"
    given = table.listen if listen is None else listen
    found = _LISTEN.fullmatch(given)
    if found is None:
        raise ConfigurationError(
            f"{given!r} is not HOST:PORT, such as 127.0.0.1:8778, [::1]:8778, or 0.0.0.0:8778 for "
            "every IPv4 address of this machine",
            setting=setting,
        )
    try:
        return HttpSettings(
            host=found["six"] or found["host"],
            port=int(found["port"]),
            tokens=tuple(TokenHash(token.name, token.sha256) for token in table.tokens),
            allowed_origins=table.allowed_origins,
            allowed_hosts=table.allowed_hosts,
            allow_unauthenticated=table.allow_unauthenticated or allow_unauthenticated,
            shutdown_grace=table.shutdown_grace,
        )
    except ConfigurationError as error:
        raise renamed(error, setting) from None


def renamed(error: ConfigurationError, setting: str) -> ConfigurationError:
    """The transport's error about its host or port under the name by which the user set both."""
    if error.setting not in _PLACE:
        return error
    return ConfigurationError(str(error).removeprefix(f"{error.setting}: "), setting=setting)
