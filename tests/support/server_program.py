"""A process that serves a stub: ``server_program.py stdio | unix PATH | http [--grace S]``.

Its methods: ``echo``; ``sleep`` for ``seconds``; ``big`` answers ``bytes`` bytes; ``stray`` writes
to standard output in every way there is, and answers. It prints ``ready`` on stderr, with the URL.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import os
import subprocess
import sys
from pathlib import Path

from a2m_gateway.protocol import Notification, Rejected, error_response, parse, response
from a2m_gateway.transports import (
    HttpServer,
    HttpSettings,
    Server,
    StdioServer,
    UnixServer,
    claim_stdio,
    run,
    serve,
)


class Responder:
    max_request_bytes = 8 * 1024 * 1024

    async def answer(self, message: bytes) -> bytes | None:
        call = parse(message)
        if isinstance(call, Rejected):
            return error_response(call.error, call.id)
        params = call.params if isinstance(call.params, dict) else {}
        result: object = params
        if call.method == "sleep":
            print("sleeping", file=sys.stderr, flush=True)
            await asyncio.sleep(params["seconds"])
        elif call.method == "big":
            result = "x" * params["bytes"]
        elif call.method == "stray":
            _write_everywhere()
        return None if isinstance(call, Notification) else response(call.id, result)

    async def describe(self) -> bytes:
        return b"{}"

    async def ready(self) -> None:
        pass


def _write_everywhere() -> None:
    print("stray: print")
    sys.stdout.flush()
    os.write(1, b"stray: descriptor\n")
    libc = ctypes.CDLL(None)
    libc.puts(b"stray: libc, flushed")
    libc.fflush(None)
    libc.puts(b"stray: libc, left in its buffer until exit")
    subprocess.run(["sh", "-c", "echo stray: child; cat"], check=True, timeout=20)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("transport", choices=["stdio", "unix", "http"])
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument("--grace", type=float, default=10.0)
    parser.add_argument("--early", action="store_true", help="claim stdio, then print")
    given = parser.parse_args()
    responder = Responder()
    server: Server
    if given.transport == "stdio":
        pipes = claim_stdio() if given.early else None
        if given.early:
            os.write(1, b"stray: before start\n")
        server = StdioServer(responder, pipes, grace=given.grace)
    elif given.transport == "unix":
        server = UnixServer(responder, given.path, grace=given.grace)
    else:
        server = HttpServer(responder, HttpSettings(port=0, shutdown_grace=given.grace))

    def started() -> None:
        print("ready", getattr(server, "url", ""), file=sys.stderr, flush=True)

    run(serve([server], started=started))


if __name__ == "__main__":
    import structlog

    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    main()
