"""Store URLs: ``chroma://host:8000/docs?text_field=body``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from a2m_gateway.errors import ConfigurationError

__all__ = ["StoreURL"]

_TRUE = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


@dataclass(frozen=True, slots=True)
class StoreURL:
    """A store's address.

    Attributes:
        scheme: Names the adapter: ``qdrant``, ``chroma+file``, ``memory``.
        host, port: None where the scheme is a file's or the port is the database's usual one.
        tls: ``qdrants://…`` or ``?tls=true``.
        path: The folder or file of an embedded engine, or what precedes the collection.
        collection: The last path segment; ``""`` addresses the database itself.
        options: The query parameters, but ``tls``.

    >>> url = StoreURL.parse("chroma+file:///var/c/my%20docs?text_field=body")
    >>> url.path, url.collection, dict(url.options)
    ('/var/c', 'my docs', {'text_field': 'body'})
    """

    scheme: str
    host: str | None
    port: int | None
    tls: bool
    path: str
    collection: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def embedded(self) -> bool:
        return self.scheme.endswith("+file")

    @classmethod
    def parse(cls, text: str) -> StoreURL:
        """Take a URL apart.

        Raises:
            ConfigurationError: It is none, or carries credentials, or an option twice.
        """
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError as error:
            raise ConfigurationError(f"not a store URL: {error}", setting="STORE") from None
        if not parts.scheme or "://" not in text:
            raise ConfigurationError(
                "a store is a URL such as chroma://localhost:8000/docs, and this has no scheme",
                setting="STORE",
            )
        if parts.username is not None or parts.password is not None:
            raise ConfigurationError(
                "credentials do not belong in a URL, where logs and process lists show them: "
                "set A2M_STORE_SECRET or `secret_env` in the configuration file",
                setting="STORE",
            )
        options = cls._options(parts.query)
        scheme, tls = cls._scheme(parts.scheme, options)
        if scheme.endswith("+file") and parts.netloc:
            raise ConfigurationError(
                f"{scheme} takes an absolute path, with three slashes: "
                f"{scheme}:///path/to/folder/COLLECTION",
                setting="STORE",
            )
        head, _, collection = parts.path.rpartition("/")
        return cls(scheme, parts.hostname, port, tls, unquote(head), unquote(collection), options)

    @staticmethod
    def _options(query: str) -> dict[str, str]:
        options: dict[str, str] = {}
        for name, value in parse_qsl(query, keep_blank_values=True):
            if name in options:
                raise ConfigurationError("given twice in the URL", setting=name)
            options[name] = value
        return options

    @staticmethod
    def _scheme(scheme: str, options: dict[str, str]) -> tuple[str, bool]:
        given = options.pop("tls", "false").lower()
        if given not in _TRUE:
            raise ConfigurationError("must be true or false", setting="tls")
        if scheme in {"qdrants", "chromas", "milvuss", "rediss"}:
            return scheme[:-1], True
        return scheme, _TRUE[given]

    def __str__(self) -> str:
        place = self.host or ""
        if ":" in place:
            place = f"[{place}]"
        if self.port is not None:
            place += f":{self.port}"
        return f"{self.scheme}://{place}{self.path}/{self.collection}"
