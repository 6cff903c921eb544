"""stdin and stdout as a transport (spec 8.2)."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.transports.descriptors import DescriptorStream
from a2m_gateway.transports.responder import Responder
from a2m_gateway.transports.server import DEFAULT_GRACE
from a2m_gateway.transports.stream import StreamSession

__all__ = ["StdioPipes", "StdioServer", "claim_stdio"]


@dataclass(frozen=True, slots=True)
class StdioPipes:
    """The peer's ends as private descriptors, which no child process inherits."""

    source: int
    sink: int


def claim_stdio() -> StdioPipes:
    """Take stdin and stdout away from everything else in this process and its children.

    From now to the end of the process the descriptors 0 and 1 are /dev/null and stderr: no print,
    no C library and no child process can write into the stream or eat of it (spec 8.2: stdout
    carries JSON-RPC messages alone). A program calls it before it opens a store, whose engine may
    print as it starts, or keep the peer's pipe open in a process of its own.

    Never undone: what the C library still holds in its buffers is written to descriptor 1 when
    the process exits, and must not reach the peer even then.

    Raises:
        ConfigurationError: The process has no stdin or no stdout.
    """
    for name, stream in (("stdin", sys.__stdin__), ("stdout", sys.__stdout__)):
        # Where the process was started without one, its number may be another file's by now.
        if stream is None:
            raise ConfigurationError(f"{name} is closed: serve on HTTP or a Unix socket instead")
    pipes = StdioPipes(os.dup(0), os.dup(1))
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(2 if sys.__stderr__ is not None else nowhere, 1)
    os.close(nowhere)
    return pipes


class StdioServer:
    """Serves one peer over stdin and stdout; ends when stdin does, or when the peer is gone.

    Args:
        pipes: What ``claim_stdio`` gave, which the server closes; None claims at ``start``.
        grace: Seconds that accepted requests may take after the end of stdin or ``stop``.
    """

    def __init__(
        self,
        responder: Responder,
        pipes: StdioPipes | None = None,
        *,
        grace: float = DEFAULT_GRACE,
    ) -> None:
        self._responder = responder
        self._grace = grace
        self._pipes = pipes
        self._stream: DescriptorStream | None = None
        self._session: StreamSession | None = None

    async def start(self) -> None:
        """See ``Server``.

        Raises:
            ConfigurationError: The process has no stdin or no stdout.
        """
        self._pipes = self._pipes or claim_stdio()
        self._stream = DescriptorStream(self._pipes.source, self._pipes.sink)
        self._session = StreamSession(self._responder, self._stream, grace=self._grace)

    async def wait(self) -> None:
        """See ``Server``."""
        if self._session is None:
            raise RuntimeError("start() comes first")
        try:
            await self._session.run()
        finally:
            self._close()

    def stop(self) -> None:
        """See ``Server``."""
        if self._session is not None:
            self._session.stop()

    def _close(self) -> None:
        if self._stream is not None and self._pipes is not None:
            self._stream.close()
            os.close(self._pipes.source)
            os.close(self._pipes.sink)  # the peer sees the end of the stream
            self._stream = self._pipes = None
