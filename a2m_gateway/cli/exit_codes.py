"""What the process says when it ends (docs/commands.md lists them)."""

from __future__ import annotations

from enum import IntEnum

from a2m_gateway.errors import A2MError, Fault

__all__ = ["ExitCode", "for_error"]


class ExitCode(IntEnum):
    OK = 0
    FAULT = 1
    """A fault of the gateway itself; the log has a traceback."""
    USAGE = 2
    """The command line could not be understood."""
    SETUP = 3
    """A setting, collection, layout or dependency is not right; the message says what to do."""
    REFUSED = 4
    """The server understood the call and refused it."""
    UNAVAILABLE = 5
    """A store, a server or an embedder did not answer; trying again may help."""
    INTERRUPTED = 130
    """Ctrl-C."""


def for_error(error: A2MError) -> ExitCode:
    """The exit code for a call that failed."""
    if error.retry:
        return ExitCode.UNAVAILABLE
    return ExitCode.REFUSED if error.fault is Fault.CALLER else ExitCode.FAULT
