"""What commands say to people: answers on standard output, all else on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from rich.console import Console

__all__ = ["STDERR", "STDOUT", "print_json", "warn", "working"]

STDOUT = Console(soft_wrap=True, highlight=False, markup=False, emoji=False)
STDERR = Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False)


def print_json(value: object) -> None:
    """Print a JSON value, indented, as UTF-8 whatever the locale."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2)
    STDOUT.file.flush()
    getattr(STDOUT.file, "buffer").write(text + b"\n")  # noqa: B009 - TextIO does not declare it
    STDOUT.file.flush()


def warn(text: str) -> None:
    """Say what the user should know before going on."""
    STDERR.print(f"warning: {text}", style="yellow")


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal that something is under way."""
    with STDERR.status(what):
        yield
