"""Store URLs: ``chroma://host:8000/docs?text_field=body``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from a2m_gateway.address import authority, is_loopback
from a2m_gateway.errors import ConfigurationError

__all__ = ["StoreURL"]

_TRUE = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_UNSEEN = re.compile(r"^\s|\s$|[\x00-\x1f\x7f]")
_NOT_UTF8 = "not a store URL: a percent-encoded part is no UTF-8"


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
    def is_loopback(self) -> bool:
        """Whether the server is on this machine, to which no proxy leads."""
        return is_loopback(self.host or "localhost")

    def origin(self, port: int) -> str:
        """Scheme, host and port of a server that speaks HTTP; this machine where none is named.

        Args:
            port: Where the URL names none.

        >>> StoreURL.parse("chromas://[::1]/docs").origin(8000)
        'https://[::1]:8000'
        """
        where = authority(self.host or "localhost", self.port or port)
        return f"{'https' if self.tls else 'http'}://{where}"

    def flag(self, name: str, default: bool = False) -> bool:
        """An option that is true or false.

        Raises:
            ConfigurationError: It is neither.
        """
        return _flag(self.options.get(name, str(default)), name)

    @classmethod
    def parse(cls, text: str) -> StoreURL:
        """Take a URL apart.

        Raises:
            ConfigurationError: It is none, or carries credentials, or an option twice.
        """
        parts, port = cls._split(text)
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
        return cls(scheme, parts.hostname, port, tls, _plain(head), _plain(collection), options)

    @staticmethod
    def _split(text: str) -> tuple[SplitResult, int | None]:
        # urlsplit drops line ends, tabs and blanks around, and what stands behind a #.
        if _UNSEEN.search(text):
            raise ConfigurationError(
                "not a store URL: it has a blank at an end or a control character", setting="STORE"
            )
        if "#" in text:
            raise ConfigurationError(
                "not a store URL: # begins a fragment, which no store has; in a name write %23",
                setting="STORE",
            )
        try:
            parts = urlsplit(text)
            return parts, parts.port
        except ValueError:
            # The error's own text would show what stands in place of the port: a password, as a
            # rule, with a slash in it.
            raise ConfigurationError(
                "not a store URL: its host or port is malformed", setting="STORE"
            ) from None

    @staticmethod
    def _options(query: str) -> dict[str, str]:
        options: dict[str, str] = {}
        try:
            given = parse_qsl(query, keep_blank_values=True, errors="strict")
        except UnicodeDecodeError:
            raise ConfigurationError(_NOT_UTF8, setting="STORE") from None
        for name, value in given:
            if name in options:
                raise ConfigurationError("given twice in the URL", setting=name)
            options[name] = value
        return options

    @staticmethod
    def _scheme(scheme: str, options: dict[str, str]) -> tuple[str, bool]:
        secure = _says_tls(scheme)
        tls = _flag(options.pop("tls", str(secure)), "tls")
        if secure and not tls:
            raise ConfigurationError(f"{scheme}:// says the opposite", setting="tls")
        return (scheme[:-1] if secure else scheme), tls

    def check_collection(self, marker: str) -> None:
        """Refuse a URL that ends with the folder itself, which reads as a collection in its parent.

        Args:
            marker: The file by which an engine's folder is known.

        Raises:
            ConfigurationError: Says how to name the folder.
        """
        folder = Path(self.path)
        inside = folder / self.collection
        if self.collection and (inside / marker).exists() and not (folder / marker).exists():
            whole = replace(self, path=str(inside), collection="")
            raise ConfigurationError(
                f"{inside} is the folder itself: {whole} names it, {whole}COLLECTION what is in it",
                setting="STORE",
            )

    def check_options(self, *known: str) -> None:
        """Refuse an option that the adapter does not know: ignored, it would mislead.

        Raises:
            ConfigurationError: Names the option and those that there are.
        """
        for name in self.options:
            if name not in known:
                there = f"there are {', '.join(known)}" if known else "there are none"
                raise ConfigurationError(
                    f"{self.scheme}:// has no such option; {there}, besides those of the layout",
                    setting=name,
                )

    def __str__(self) -> str:
        """The URL that opens the same: people copy it from what is printed."""
        place = authority(self.host or "", self.port)
        scheme = f"{self.scheme}s" if self.tls else self.scheme
        shown = f"{scheme}://{place}{quote(self.path)}/{quote(self.collection, safe='')}"
        return f"{shown}?{urlencode(self.options)}" if self.options else shown


def _says_tls(scheme: str) -> bool:
    """Whether it is an adapter's scheme and an ``s``, and no adapter's own."""
    from a2m_gateway.store.registry import schemes  # it imports the interface, and that this

    stem = scheme.removesuffix("s")
    if stem == scheme or stem.endswith("+file"):
        return False
    known = schemes()
    return stem in known and scheme not in known


def _flag(given: str, name: str) -> bool:
    if given.lower() not in _TRUE:
        raise ConfigurationError("must be true or false", setting=name)
    return _TRUE[given.lower()]


def _plain(quoted: str) -> str:
    try:
        return unquote(quoted, errors="strict")
    except UnicodeDecodeError:
        raise ConfigurationError(_NOT_UTF8, setting="STORE") from None
