"""The configuration file: TOML, every name checked (docs/configuration.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.memory.limits import Limits

__all__ = [
    "HttpTable",
    "LayoutTable",
    "RankingTable",
    "ServerTable",
    "Settings",
    "StoreTable",
    "TokenTable",
    "decode_settings",
]


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the file; a name that is none of its fields is an error."""


class LayoutTable(_Table, frozen=True):
    """``[store.layout]``: what ``shapes.LayoutOptions`` tells, as people write it."""

    text_field: str | None = None
    metadata_field: str | None = None
    id_field: str | None = None
    created_at_field: str | None = None
    created_at_default: str | None = None
    vector_name: str | None = None
    tenant: str | None = None
    tenant_field: str | None = None

    def given(self) -> dict[str, str]:
        """The options that are there, by name."""
        everything = msgspec.structs.asdict(self)
        return {name: value for name, value in everything.items() if value is not None}


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
    layout: LayoutTable = LayoutTable()


class ServerTable(_Table, frozen=True):
    """``[server]``: what is said of itself, and how long a call may take as a whole."""

    name: str = "a2m-gateway"
    deadline: float = 30.0


class RankingTable(_Table, frozen=True):
    """``[ranking]``: the share of the words in a text query's score, from 0 to 1.

    Without it, half, but nothing where each query would have to read a large collection.
    """

    words_weight: float | None = None


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


_TABLES: Mapping[str, type[msgspec.Struct]] = {
    "": Settings,
    "store": StoreTable,
    "store.layout": LayoutTable,
    "server": ServerTable,
    "limits": Limits,
    "ranking": RankingTable,
    "http": HttpTable,
    "http.tokens": TokenTable,
}
_PLACE = re.compile(r" - at `\$\.?(.*?)`$")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")


def decode_settings(file: Path) -> Settings:
    """What ``file`` says, its names and types checked.

    Raises:
        ConfigurationError: It can't be read, is no TOML, or holds a name or a type that means
            nothing here, which the message names.
    """
    try:
        return msgspec.toml.decode(file.read_bytes(), type=Settings)
    except (OSError, ValueError) as error:
        raise _refused(file, error) from None
    except RecursionError:
        raise ConfigurationError("nested too deep", setting=str(file)) from None


def _refused(file: Path, error: Exception) -> ConfigurationError:
    if isinstance(error, OSError):
        return ConfigurationError(f"can't be read: {error.strerror}", setting=str(file))
    if not isinstance(error, msgspec.ValidationError):
        return ConfigurationError(f"not valid TOML: {error}", setting=str(file))
    text = str(error)
    found = _PLACE.search(text)
    message, place = (text[: found.start()], found.group(1)) if found else (text, "")
    unknown = _UNKNOWN.fullmatch(message)
    if unknown:
        known: Any = _TABLES[re.sub(r"\[\d+\]", "", place)].__struct_fields__
        message = f"no such setting; there are {', '.join(known)}"
        place = f"{place}.{unknown.group(1)}" if place else unknown.group(1)
    return ConfigurationError(message, setting=f"{file}: {place}" if place else str(file))
