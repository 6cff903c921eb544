"""A Unix socket as a transport, with the framing of stdio (spec 8.2)."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import socket
import stat
from pathlib import Path
from typing import cast

import structlog

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.transports.responder import Responder
from a2m_gateway.transports.server import DEFAULT_GRACE
from a2m_gateway.transports.stream import StreamSession

__all__ = ["UnixServer"]

log = structlog.get_logger(__name__)

READ_BYTES = 65_536


class UnixServer:
    """Serves any number of peers on a socket file that only its owner may use.

    Args:
        path: Where the socket is made. A socket there that nobody listens on is replaced; one
            that somebody does, or any other file, is an error. Removed again at the end.
        grace: Seconds that accepted requests may take after ``stop``.
    """

    def __init__(self, responder: Responder, path: Path, *, grace: float = DEFAULT_GRACE) -> None:
        self._responder = responder
        self._path = path
        self._grace = grace
        self._server: asyncio.Server | None = None
        self._inode: int | None = None
        self._sessions: dict[StreamSession, asyncio.Task[None]] = {}
        self._stopping = asyncio.Event()

    async def start(self) -> None:
        """See ``Server``.

        Raises:
            ConfigurationError: The socket can't be made there.
        """
        listener = await asyncio.to_thread(_bind, self._path)
        self._inode = os.stat(self._path).st_ino
        self._server = await asyncio.start_unix_server(self._serve_peer, sock=listener)
        log.info("unix.listening", path=str(self._path))

    async def wait(self) -> None:
        """See ``Server``."""
        if self._server is None:
            raise RuntimeError("start() comes first")
        try:
            await self._stopping.wait()
            self._server.close()
            for session in self._sessions:
                session.stop()
            if self._sessions:
                await asyncio.wait(self._sessions.values())
        finally:
            self._server.close()
            self._unlink()
            await self._abandon()

    def stop(self) -> None:
        """See ``Server``."""
        self._stopping.set()

    async def _serve_peer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = StreamSession(self._responder, _Peer(reader, writer), grace=self._grace)
        self._sessions[session] = cast("asyncio.Task[None]", asyncio.current_task())
        if self._stopping.is_set():
            session.stop()
        try:
            await session.run()
        finally:
            del self._sessions[session]
            writer.close()

    async def _abandon(self) -> None:
        left = list(self._sessions.values())
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _unlink(self) -> None:
        # Somebody may have put another socket there since.
        with contextlib.suppress(FileNotFoundError):
            if os.stat(self._path).st_ino == self._inode:
                os.unlink(self._path)


class _Peer:
    """A connection as a ``ByteStream``."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        return await self._reader.read(READ_BYTES)

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


def _bind(path: Path) -> socket.socket:
    """A socket listening at ``path``, which no other server is."""
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _refused(path, f"its folder can't be opened: {error.strerror}") from None
    try:
        # Two servers that start at once would both find the old socket stale, and the later one
        # would remove the earlier one's. The lock is on the folder: no lock file is left behind.
        fcntl.flock(folder, fcntl.LOCK_EX)
        _make_room(path)
        return _listen(path)
    finally:
        os.close(folder)


def _make_room(path: Path) -> None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise _refused(path, "there is a file already, and it is no socket")
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)
        found = probe.connect_ex(str(path))
    if found not in (errno.ECONNREFUSED, errno.ENOENT):
        # 0 or EAGAIN (a full backlog): alive. EACCES and others: not ours to remove.
        raise _refused(path, "another server is listening there; stop it or choose another path")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(path))
        os.chmod(path, 0o600)  # before listen: until then nobody can connect
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise _refused(path, error.strerror or str(error)) from None
    listener.setblocking(False)
    return listener


def _refused(path: Path, reason: str) -> ConfigurationError:
    return ConfigurationError(f"no socket can be made at {path}: {reason}", setting="unix")
