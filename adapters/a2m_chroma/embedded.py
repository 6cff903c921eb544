"""A persist folder, served by a Chroma of our own in a child process."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import httpx

from a2m_chroma.snapshot import DATABASE
from a2m_gateway.errors import ConfigurationError, MissingDependency
from a2m_gateway.store.server_process import ServerProcess

__all__ = ["EmbeddedEndpoint", "check_folder", "engine_version"]

_RUN = """
import sys
try:
    from chromadb_rust_bindings import cli
except ImportError:
    from chromadb.cli.cli import app
    sys.argv[0] = "chroma"
    app()
else:
    cli(["chroma", *sys.argv[1:]])
"""
"""The package's own command, by this interpreter: PATH may have another one or none.

What ``chromadb.cli`` does, without the second that importing all of chromadb takes.
"""

_LOG_ERRORS_ONLY = {"RUST_LOG": "error"}  # at its default it logs several lines a request


class EmbeddedEndpoint:
    """``chroma run`` on a free loopback port, started at the first call and after a crash.

    Args:
        folder: What it serves, and writes to.
        scratch: Whether the folder is ours, and removed in the end.
    """

    def __init__(self, folder: Path, *, scratch: bool) -> None:
        self._folder = folder
        # No proxy of the environment's stands between this process and its child.
        self._probe = httpx.AsyncClient(trust_env=False, timeout=1.0)
        self._server = ServerProcess(
            "chroma",
            self._command,
            self._answers,
            environment=_LOG_ERRORS_ONLY,
            scratch=folder if scratch else None,
        )

    @property
    def pid(self) -> int | None:
        """The child's process group."""
        return self._server.pid

    async def url(self) -> str:
        return f"http://127.0.0.1:{await self._server.port()}"

    def suspect(self) -> None:
        self._server.suspect()

    async def aclose(self) -> None:
        await self._server.aclose()
        await self._probe.aclose()

    def _command(self, port: int) -> Sequence[str]:
        # -P: a file in the working directory must not pass for the package.
        serve = ["run", "--path", str(self._folder), "--host", "127.0.0.1", "--port", str(port)]
        return [sys.executable, "-P", "-c", _RUN, *serve]

    async def _answers(self, port: int) -> bool:
        try:
            answer = await self._probe.get(f"http://127.0.0.1:{port}/api/v2/heartbeat")
        except httpx.HTTPError:
            return False
        return answer.status_code == 200


def check_folder(folder: Path) -> None:
    """See that ``folder`` is a persist folder, so that Chroma creates none.

    Raises:
        ConfigurationError: It is missing or holds no database.
        MissingDependency: There is no Chroma to serve it.
    """
    if not folder.is_dir():
        raise ConfigurationError(f"there is no folder {folder}", setting="STORE")
    if not (folder / DATABASE).is_file():
        raise ConfigurationError(
            f"{folder} holds no {DATABASE}: it is not the folder of a PersistentClient",
            setting="STORE",
        )
    if find_spec("chromadb") is None:
        raise MissingDependency(
            "chroma+file:// runs Chroma, which is not installed: "
            "pip install 'a2m-gateway[chroma-embedded]'"
        )


def engine_version() -> str:
    """The version of the Chroma that serves embedded folders."""
    try:
        return version("chromadb")
    except PackageNotFoundError:
        return ""
