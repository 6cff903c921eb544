"""A server of A2M that says what a test tells it to, right or wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ["DESCRIBED", "Request", "Scripted", "error", "result"]

Request: TypeAlias = dict[str, Any]

DESCRIBED: dict[str, Any] = {
    "protocol": "a2m/0.1",
    "name": "scripted",
    "capabilities": ["core", "keys", "future"],
    "methods": ["memory/describe", "memory/recall", "memory/fetch", "vendor/extra"],
    "limits": {"max_request_bytes": 10_000, "max_future": {"not": "an integer"}},
    "future": {"field": 1},
}


def result(request: Request, value: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": value}).encode()


def error(request: Request, code: object, **members: object) -> bytes:
    given = {"code": code, "message": "for people", **members}
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": given}).encode()


class Scripted:
    """``describe`` works; every other call gets what ``say`` returns, a line for each element.

    Attributes:
        say: From the request to the lines of the answer, the newlines not included.
        seen: Every request, in order.
        heard: Every notification that the client passed on.
    """

    def __init__(self) -> None:
        self.describe: Callable[[Request], bytes] = lambda request: result(request, DESCRIBED)
        self.say: Callable[[Request], list[bytes]] = lambda request: [result(request, {})]
        self.seen: list[Request] = []
        self.heard: list[dict[str, Any]] = []
        self.hang_up = False

    @property
    def methods(self) -> list[str]:
        return [request["method"] for request in self.seen]

    def lines(self, message: bytes) -> list[bytes]:
        request = json.loads(message)
        self.seen.append(request)
        if request["method"] == "memory/describe":
            return [self.describe(request)]
        return self.say(request)

    async def answer(self, message: bytes) -> bytes | None:
        """In process: the first line."""
        lines = self.lines(message)
        return lines[0] if lines else None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """On a stream."""
        while message := await reader.readline():
            for line in self.lines(message):
                writer.write(line + b"\n")
            if self.hang_up:
                break
        writer.close()
