"""What the process says when it ends (docs/commands.md lists them)."""

from __future__ import annotations

from enum import IntEnum
from http import HTTPStatus

from a2m_gateway.errors import (
    A2MError,
    ClientError,
    EmbedderRefused,
    Fault,
    HttpRefused,
    MalformedAnswer,
    SetupError,
    StoreRefused,
)

__all__ = ["ExitCode", "exit_code"]


class ExitCode(IntEnum):
    OK = 0
    FAULT = 1
    """Of the gateway, or of what it depends on, in a way that trying again will not mend."""
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


_AGAIN = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}


def exit_code(error: SetupError | A2MError | ClientError) -> ExitCode:
    """The exit code for what ended a command."""
    match error:
        # Met while opening: the key, the permission or the model's name is not right.
        case SetupError() | StoreRefused() | EmbedderRefused():
            return ExitCode.SETUP
        case A2MError(retry=True):
            return ExitCode.UNAVAILABLE
        case A2MError(fault=Fault.CALLER):
            return ExitCode.REFUSED
        case HttpRefused(status=status):
            busy = status in _AGAIN or status >= HTTPStatus.INTERNAL_SERVER_ERROR
            return ExitCode.UNAVAILABLE if busy else ExitCode.REFUSED
        case A2MError() | MalformedAnswer():
            return ExitCode.FAULT
        case ClientError():
            return ExitCode.UNAVAILABLE
