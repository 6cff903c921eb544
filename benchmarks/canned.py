"""The HTTP transport with an answer that is always the same: what the transport alone costs."""

from __future__ import annotations

import sys
from pathlib import Path

from a2m_gateway.transports import HttpServer, HttpSettings, run, serve


class Canned:
    """A responder without a memory."""

    max_request_bytes = 1 << 22

    def __init__(self, answer: bytes) -> None:
        self._answer = answer

    async def answer(self, message: bytes) -> bytes | None:
        return self._answer

    async def describe(self) -> bytes:
        return b"{}"

    async def ready(self) -> None:
        pass


if __name__ == "__main__":
    port, file = sys.argv[1:]
    responder = Canned(Path(file).read_bytes())
    run(serve([HttpServer(responder, HttpSettings(port=int(port)))]))
