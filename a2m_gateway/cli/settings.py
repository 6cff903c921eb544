"""The configuration file: TOML, every name checked (docs/configuration.md)."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.memory.limits import Limits

__all__ = [
    "HttpTable",
    "RankingTable",
    "ServerTable",
    "Settings",
    "StoreTable",
    "TokenTable",
    "read_settings",
    "secret_from",
]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the file; a name that is none of its fields is an error."""


class StoreTable(_Table, frozen=True):
    """``[store]``: what is served.

    Attributes:
        url: Of the collection.
        secret_env: The environment variable that holds the database's key or token.
        deadline: Seconds that one call to the database may take, its retries included.
        layout: ``[store.layout]``: the options of ``docs/layouts.md``, where detection is unsure.
    """

    url: str | None = None
    secret_env: str = "A2M_STORE_SECRET"  # noqa: S105 - the variable's name
    deadline: float = 10.0
    layout: dict[str, str] = {}


class ServerTable(_Table, frozen=True):
    """``[server]``: what is said of itself, and how long a call may take as a whole."""

    name: str = "a2m-gateway"
    deadline: float = 30.0


class RankingTable(_Table, frozen=True):
    """``[ranking]``: the share of the words in a text query's score, from 0 to 1."""

    words_weight: float = 0.5


class TokenTable(_Table, frozen=True):
    """``[[http.tokens]]``: a caller that may come in; its token is kept as a hash only."""

    name: str
    sha256: str


class HttpTable(_Table, frozen=True):
    """``[http]``: where to listen, and who may come in."""

    listen: str = "127.0.0.1:8778"
    tokens: tuple[TokenTable, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    allow_unauthenticated: bool = False
    shutdown_grace: float = 10.0


class Settings(_Table, frozen=True):
    """The file as a whole.

    Attributes:
        embedder: ``[embedder]``, or its short form as a string; ``embedding.settings`` reads it.
    """

    store: StoreTable = StoreTable()
    embedder: str | dict[str, object] | None = None
    server: ServerTable = ServerTable()
    limits: Limits = Limits()
    ranking: RankingTable = RankingTable()
    http: HttpTable = HttpTable()


_PLACE = re.compile(r" - at `\$\.?(.*?)`$")


def read_settings(file: Path | None) -> Settings:
    """The settings in ``file``; without one, the defaults.

    Raises:
        ConfigurationError: It can't be read, is no TOML, or holds a name or value that means
            nothing here, which the message names.
    """
    if file is None:
        return Settings()
    try:
        settings = msgspec.toml.decode(file.read_bytes(), type=Settings)
    except OSError as error:
        raise ConfigurationError(f"can't be read: {error.strerror}", setting=str(file)) from None
    except msgspec.ValidationError as error:
        text = str(error)
        place = _PLACE.search(text)
        setting = f"{file}: {place.group(1)}" if place else str(file)
        raise ConfigurationError(
            text[: place.start()] if place else text, setting=setting
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"not valid TOML: {error}", setting=str(file)) from None
    _check(settings)
    return settings


def secret_from(variable: str) -> str | None:
    """A secret, which only ever comes from the environment; empty is none."""
    return os.environ.get(variable) or None


def _check(settings: Settings) -> None:
    positive = {
        "store.deadline": settings.store.deadline,
        "server.deadline": settings.server.deadline,
        "limits.max_recall_limit": settings.limits.max_recall_limit,
        "limits.max_timeline_limit": settings.limits.max_timeline_limit,
        "limits.max_request_bytes": settings.limits.max_request_bytes,
    }
    for name, value in positive.items():
        if not 0 < value < 1e12:
            raise ConfigurationError("must be above 0 and finite", setting=name)
    if not 0 <= settings.ranking.words_weight <= 1:
        raise ConfigurationError("must lie between 0 and 1", setting="ranking.words_weight")
