"""A service that speaks OpenAI's ``/embeddings`` over real HTTP, and keeps what it was sent."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["EmbeddingService"]

_PATIENCE = 60.0


class EmbeddingService:
    """Answers with the vector ``[1, 0, 0, …]`` for every text.

    Args:
        width: Of its vectors.
        held: Answers nothing before ``release``.
    """

    def __init__(self, *, width: int = 8, held: bool = False) -> None:
        self.texts: list[str] = []
        self.keys: list[str | None] = []
        self.arrived = threading.Event()
        self._width = width
        self._released = threading.Event()
        if not held:
            self._released.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def loopback(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def remote(self) -> str:
        """The same by an address that is not known to stay on this machine."""
        return f"http://0.0.0.0:{self._server.server_port}/v1"

    def release(self) -> None:
        self._released.set()

    def close(self) -> None:
        self.release()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, body: bytes, key: str | None) -> bytes:
        given = json.loads(body)
        self.texts += given["input"]
        self.keys.append(key)
        self.arrived.set()
        assert self._released.wait(_PATIENCE), "never released"
        vector = [1.0, *[0.0] * (self._width - 1)]
        data = [{"index": place, "embedding": vector} for place in range(len(given["input"]))]
        return json.dumps({"data": data}).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if not self.path.endswith("/embeddings"):
                    self._send(200, b"<html>no JSON here</html>")
                    return
                self._send(200, service._answer(body, self.headers["Authorization"]))

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

            def _send(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler
