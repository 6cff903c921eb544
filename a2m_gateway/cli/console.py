"""What commands say to people: answers on standard output, all else on standard error."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import structlog
from rich.console import Console
from rich.segment import Segment, Segments

__all__ = ["STDERR", "STDOUT", "print_json", "print_text", "visible", "warn", "working"]

log = structlog.get_logger(__name__)

_ANY_WIDTH = 10_000
"""Columns of what is no terminal: a table's rows stay lines, which ``grep`` can find."""


def _console(*, stderr: bool = False) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    terminal = stream is not None and stream.isatty()
    width = None if terminal or "COLUMNS" in os.environ else _ANY_WIDTH
    return Console(
        stderr=stderr, width=width, soft_wrap=True, highlight=False, markup=False, emoji=False
    )


STDOUT = _console()
STDERR = _console(stderr=True)


def print_json(value: object) -> None:
    """Print a JSON value, indented; in ASCII where the locale is not UTF-8."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    if STDOUT.encoding != "utf-8":
        text = json.dumps(json.loads(text), indent=2)
    STDOUT.file.write(text + "\n")
    STDOUT.file.flush()


def print_text(text: str, *, style: str | None = None) -> None:
    """Print what a store holds: every line as it is, without its power over the terminal."""
    # As a segment: rich would turn the tabs of a string into blanks.
    look = STDOUT.get_style(style) if style else None
    STDOUT.print(Segments([Segment(f"{visible(text)}\n", look)]), end="")


def visible(text: str) -> str:
    r"""``text`` with control characters as escapes, but for line ends and tabs.

    A record is somebody else's text: an escape sequence in it could recolour, rewrite or rename
    the terminal that it is shown on.

    >>> visible("a\tb\x1b[31m")
    'a\tb\\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(_seen(character) for character in text)


def _seen(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) != "Cc":
        return character
    return f"\\x{ord(character):02x}"


def warn(text: str) -> None:
    """Say what the user should know before going on."""
    STDERR.print(f"warning: {visible(text)}", style="yellow")


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal that something is under way; elsewhere it is a line of the log."""
    log.info("working", on=what)
    if not STDERR.is_terminal:
        yield
        return
    with STDERR.status(visible(what)):
        yield
