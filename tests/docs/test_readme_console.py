"""The README's commands print what the README says they print.

``A2M_WRITE_DOCS=1`` writes what they print into the README instead; read it before it is committed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import handbook
import pytest
from chroma_server import free_port

README = Path(__file__).parents[2] / "README.md"
WRITE = os.environ.get("A2M_WRITE_DOCS") == "1"
FOLDER, ADDRESS = "/srv/rag/chroma", "127.0.0.1:8778"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def folder(needs_chroma: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``langchain_chroma.Chroma(persist_directory=…)`` leaves behind, in a process of its
    own because Chroma holds on to a folder until its process ends."""
    folder = tmp_path_factory.mktemp("handbook") / "chroma"
    subprocess.run([sys.executable, handbook.__file__, str(folder)], check=True)
    return folder


def test_the_commands_print_what_the_readme_says(folder: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("the README's last commands use curl, which is not installed")
    text = README.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) == 4
    port = free_port()
    *alone, serve, asking = blocks
    shown = [_run_block(block, folder, port) for block in alone]
    with _serving(serve, folder, port) as said:
        shown += [said, _run_block(asking, folder, port)]
    if WRITE:
        for block, printed in zip(blocks, shown, strict=True):
            text = text.replace(block, printed, 1)
        README.write_text(text, encoding="utf-8")
    for block, printed in zip(blocks, shown, strict=True):
        assert WRITE or printed == block


def _run_block(block: str, folder: Path, port: int) -> str:
    lines = []
    for command in _commands(block):
        done = subprocess.run(
            ["bash", "-c", _here(command, folder, port)],
            capture_output=True,
            text=True,
            env=_environment(),
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        lines.append(f"$ {command}\n{_there(done.stdout, folder, port).strip()}\n")
    return "\n".join(lines)


@contextmanager
def _serving(block: str, folder: Path, port: int) -> Iterator[str]:
    (command,) = _commands(block)
    ours = f"exec {_here(command, folder, port)} --http 127.0.0.1:{port}"
    with subprocess.Popen(
        ["bash", "-c", ours], stderr=subprocess.PIPE, text=True, env=_environment()
    ) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        yield f"$ {command}\n{_there(said, folder, port)}"
        process.terminate()
        assert process.wait(60) == 0


def _commands(block: str) -> list[str]:
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def _here(command: str, folder: Path, port: int) -> str:
    return command.replace(FOLDER, str(folder)).replace(ADDRESS, f"127.0.0.1:{port}")


def _there(printed: str, folder: Path, port: int) -> str:
    text = printed.replace(str(folder), FOLDER).replace(f"127.0.0.1:{port}", ADDRESS)
    return "\n".join(line.rstrip() for line in text.split("\n"))


def _environment() -> dict[str, str]:
    scripts = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}", "COLUMNS": "100"}
