"""The child's side of ``store.worker_process``: one engine, one request at a time.

Standard input carries requests, standard output answers, both as frames: four bytes of length, big
endian, then JSON. JSON and not pickle, so that whatever the engine read from disk stays data on its
way to the parent. What the engine prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from io import RawIOBase
from queue import SimpleQueue
from typing import Any, BinaryIO

import msgspec

from a2m_gateway.errors import A2MError, SetupError

__all__ = ["HEADER", "frame", "main"]

HEADER = struct.Struct(">I")

_GRACE = 5.0
"""Seconds that a call may still take after the parent has gone or said goodbye."""


def frame(message: object) -> bytes:
    """A message as it goes through the pipe.

    Raises:
        UnicodeEncodeError: A string holds half of a surrogate pair, which is no JSON.
    """
    body = msgspec.json.encode(message)
    return HEADER.pack(len(body)) + body


def main() -> None:
    """Serve one engine until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends this
    requests, answers = _private_pipes()
    order = _read(requests)
    if order is None:
        return
    inbox = _Inbox(requests)
    with contextlib.suppress(BrokenPipeError):  # the parent has gone, as the inbox will tell
        _send(answers, _started(inbox, order))
        while (request := inbox.next()) is not None:
            _send(answers, _answer(inbox, request))
    close = getattr(inbox.engine, "close", None)
    if close is not None:
        close()


class _Inbox:
    """Reads requests on a thread of its own, so that the end of the parent is noticed in a call."""

    def __init__(self, requests: BinaryIO) -> None:
        self.engine: object = None
        self.cancelled: set[int] = set()
        self._queue: SimpleQueue[Mapping[str, Any] | None] = SimpleQueue()
        self._requests = requests
        threading.Thread(target=self._fill, name="a2m-worker-inbox", daemon=True).start()

    def next(self) -> Mapping[str, Any] | None:
        return self._queue.get()

    def _fill(self) -> None:
        while (message := _read(self._requests)) is not None:
            if "cancel" in message:
                self.cancelled.add(message["cancel"])
            else:
                self._queue.put(message)
        self._queue.put(None)
        threading.Event().wait(_GRACE)
        os._exit(1)  # the engine hangs, and nobody is left to kill this


def _send(answers: RawIOBase, framed: bytes) -> None:
    left = memoryview(framed)
    while left:
        left = left[answers.write(left) or 0 :]


def _private_pipes() -> tuple[BinaryIO, RawIOBase]:
    requests = os.fdopen(os.dup(0), "rb")
    # Without a buffer, which would be flushed again, and fail again, at the end.
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return requests, answers


def _read(requests: BinaryIO) -> Mapping[str, Any] | None:
    header = requests.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    length = HEADER.unpack(header)[0]
    body = requests.read(length)
    if len(body) < length:
        return None
    message: Mapping[str, Any] = msgspec.json.decode(body)
    return message


def _started(inbox: _Inbox, order: Mapping[str, Any]) -> bytes:
    def start() -> bool:
        module, _, name = order["factory"].partition(":")
        factory: Callable[..., object] = getattr(importlib.import_module(module), name)
        inbox.engine = factory(**order["arguments"])
        return True

    return _framed(0, start)


def _answer(inbox: _Inbox, request: Mapping[str, Any]) -> bytes:
    number = request["id"]
    if number in inbox.cancelled:
        inbox.cancelled.discard(number)
        return frame({"id": number, "result": None})

    def call() -> object:
        name: str = request["method"]
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(inbox.engine, name)(**request["arguments"])

    return _framed(number, call)


def _framed(number: int, work: Callable[[], object]) -> bytes:
    try:
        return frame({"id": number, "result": work()})
    except (A2MError, SetupError) as error:
        data = dict(error.data) if isinstance(error, A2MError) else {}
        kind, text = type(error).__name__, str(error)
    except Exception as error:  # noqa: BLE001 - of a library that only the engine knows
        traceback.print_exc(file=sys.stderr)
        data, kind, text = {}, "StoreCorrupt", f"an unexpected {type(error).__name__}"
    return frame({"id": number, "error": {"kind": kind, "message": text, "data": data}})


if __name__ == "__main__":
    main()
