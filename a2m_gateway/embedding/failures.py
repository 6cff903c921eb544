"""What went wrong with an embedding service, in our errors, without its secrets."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import httpx
import msgspec

from a2m_gateway.errors import EmbedderError, EmbedderRefused

__all__ = ["Transient", "refusal", "transient"]

_KEY_REFUSED = frozenset({401, 403})


class Transient(Exception):
    """A failure that may be over the next time; it does not leave this package.

    Attributes:
        wait: Seconds that the service asks to wait; None where it says nothing.
    """

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


def transient(origin: str, error: httpx.HTTPError) -> Transient | EmbedderError:
    """A failure below HTTP: no connection is tried again, an answer that is no HTTP is not."""
    lost = isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError)
    # The library's text may hold a proxy's address with its password: the class says enough.
    kind = type(error).__name__
    if lost:
        return Transient(f"{origin} can't be reached ({kind})")
    return EmbedderError(f"the call to {origin} failed ({kind})")


def refusal(
    origin: str, response: httpx.Response, body: bytes, key: str | None
) -> Transient | EmbedderError:
    """What a status other than 200 means."""
    status = response.status_code
    if response.is_redirect:
        return EmbedderRefused(
            f"{origin} answered {status}, a redirect, which is not followed: set `url` to where "
            "the service is"
        )
    said = f"{origin} answered {status}"
    if status in _KEY_REFUSED:  # and its words often repeat the key
        return EmbedderRefused(f"{said}: it does not accept the key, see `api_key_env`")
    reason = _reason(body, key)
    message = f"{said}: {reason}" if reason else said
    if status == httpx.codes.TOO_MANY_REQUESTS or status >= 500:
        wait = _retry_after(response.headers.get("Retry-After"))
        return Transient(message if wait is None else f"{message} (wait {wait:g} s)", wait)
    return EmbedderRefused(message)


def _reason(body: bytes, key: str | None) -> str:
    """The service's own words, at most 200 characters of them."""
    try:
        said = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    for name in ("error", "message", "detail"):
        if isinstance(said, Mapping) and name in said:
            said = said[name]
    if not isinstance(said, str):
        return ""
    words = " ".join(said.split())
    return (words.replace(key, "***") if key else words)[:200]


def _retry_after(value: str | None) -> float | None:
    """Seconds, from either form of the header (RFC 9110, 10.2.3)."""
    if value is None:
        return None
    try:
        seconds = (
            float(value)
            if value.strip().isdigit()
            else parsedate_to_datetime(value).timestamp() - time.time()
        )
    except ValueError:
        return None
    return max(0.0, seconds)
