"""HTTP/1.1 and nothing else: a request to upgrade is answered as the request that it is."""

from __future__ import annotations

from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["PlainConnection"]

_FRAMING = (b"content-length", b"transfer-encoding")


class PlainConnection(HttpToolsProtocol):
    """Ignores Upgrade (RFC 9110 7.8), which clients add for HTTP/2 even to a POST.

    The parser takes what follows such a head for another protocol, be it the body. So it is given
    the head again, without the wish to upgrade and without a second report of it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._again = False
        self.parser = _Parser(self)

    def head_again(self) -> bytes:
        """Of the request that was just reported, what tells where it ends."""
        fields = [(name, value) for name, value in self.headers if name in _FRAMING]
        if not self.cycle.keep_alive:
            fields.append((b"connection", b"close"))
        head = [b"POST / HTTP/", self.scope["http_version"].encode(), b"\r\n"]
        for name, value in fields:
            head += [name, b": ", value, b"\r\n"]
        return b"".join([*head, b"\r\n"])

    def on_message_begin(self) -> None:
        if not self._again:
            super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        if not self._again:
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._again:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if not self._again:
            super().on_headers_complete()
        self._again = False

    def on_message_complete(self) -> None:
        self._again = self.parser.should_upgrade()
        if not self._again:
            super().on_message_complete()


class _Parser(httptools.HttpRequestParser):
    """Goes on where httptools would hand over to another protocol."""

    def __init__(self, connection: PlainConnection) -> None:
        self._connection = connection
        self._begin()

    def _begin(self) -> None:
        super().__init__(self._connection)
        # As uvicorn's own: bytes behind a last request do not keep it from its answer.
        self.set_dangerous_leniencies(lenient_data_after_close=True)

    def feed_data(self, data: bytes) -> None:  # type: ignore[override]  # uvicorn has bytes only
        while data:
            try:
                super().feed_data(data)
            except httptools.HttpParserUpgrade as stop:
                self._begin()  # after a last request it would take in nothing more
                data = self._connection.head_again() + data[stop.args[0] :]
            else:
                return
