"""Runs a command for as long as its parent lives: ``python server_guard.py SCRATCH COMMAND…``.

Standard input is a pipe from the parent. When it closes, however the parent died, the command is
killed and the folder SCRATCH (``""`` for none) removed. SIGTERM is for the command, which shares
this process's group; the guard waits for it. Standard library only: it starts isolated.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading

__all__ = ["main"]


def main(scratch: str, command: list[str]) -> int:
    """Run ``command`` and return its status."""
    signal.signal(signal.SIGTERM, lambda _signal, _frame: None)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - the parent's own
    alone = threading.Event()

    def watch() -> None:
        sys.stdin.buffer.read()
        alone.set()
        child.kill()

    threading.Thread(target=watch, daemon=True).start()
    status = child.wait()
    if alone.is_set() and scratch:
        shutil.rmtree(scratch, ignore_errors=True)
    return abs(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
