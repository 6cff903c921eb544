"""Standard output and error, whose readers may leave and whose encoding may be too small."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, TextIO, cast

__all__ = ["OutputLost", "guard_streams"]


class OutputLost(Exception):
    """What was to be printed could not be written: a full disk, for instance."""


def guard_streams() -> None:
    """Make the standard streams fit for a command.

    A character that the locale's encoding lacks is printed as an escape instead of ending the
    command. A reader of standard output that has seen enough (``| head``) ends it without an
    error; one of standard error that leaves does not end a server.
    """
    sys.stdout = _guarded(sys.stdout, _Answers)
    sys.stderr = _guarded(sys.stderr, _Remarks)


class _Answers(io.TextIOWrapper):
    """Standard output."""

    def write(self, text: str, /) -> int:
        with self._reader():
            return super().write(text)

    def flush(self) -> None:
        with self._reader():
            super().flush()

    @contextmanager
    def _reader(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            _discard(self)
            raise SystemExit(0) from None
        except OSError as error:
            _discard(self)
            raise OutputLost(f"standard output can't be written: {error.strerror}") from None


class _Remarks(io.TextIOWrapper):
    """Standard error; nobody could be told that it is lost."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError:
            _discard(self)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            _discard(self)


def _guarded(stream: TextIO | None, kind: type[io.TextIOWrapper]) -> TextIO:
    if stream is None:
        # The process was started without it.
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, kind) or not isinstance(stream, io.TextIOWrapper):
        return stream
    return kind(
        cast("BinaryIO", stream.buffer),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _discard(stream: io.TextIOWrapper) -> None:
    """Let what is still buffered go nowhere, or the interpreter's exit would fail over it again."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
