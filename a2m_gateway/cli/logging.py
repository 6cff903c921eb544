"""Logs: one line an event, on standard error, so that standard output is the protocol's alone."""

from __future__ import annotations

import logging
import os
import sys
from enum import StrEnum

import stamina.instrumentation
import structlog

__all__ = ["LogLevel", "configure"]


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def configure(level: LogLevel) -> None:
    """Send structlog's and the standard library's events to standard error from ``level`` up."""
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.dev.ConsoleRenderer(colors=_colours(), pad_event_to=0),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    # Each retry would be a warning with a call's internals in it; the layer that retries says so.
    stamina.instrumentation.set_on_retry_hooks(())
    # Some libraries set their own logger's level, so the handler has one too.
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(max(threshold, logging.WARNING))
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)


def _colours() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR")
