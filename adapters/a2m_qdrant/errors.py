"""What went wrong between us and a Qdrant server, in the gateway's words."""

from __future__ import annotations

import json
from http import HTTPStatus

import httpx
from pydantic import ValidationError
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import (
    ApiException,
    ResponseHandlingException,
    UnexpectedResponse,
)

from a2m_gateway.errors import (
    StoreCorrupt,
    StoreError,
    StoreRefused,
    StoreTimeout,
    StoreUnavailable,
)

__all__ = ["CLIENT_ERRORS", "CollectionGone", "store_error"]

CLIENT_ERRORS = (
    ApiException, QdrantException, ValidationError, ValueError, AssertionError, RecursionError,
    httpx.HTTPError, httpx.InvalidURL,
)  # fmt: skip
"""What the client raises. It lets malformed JSON out as a bare ``ValueError``, and a missing result
as an ``AssertionError``."""

_SHOWN = 300


class CollectionGone(StoreRefused):
    """There is no such collection (any more)."""


def store_error(place: str, error: Exception) -> StoreError:
    """The gateway's error for one of ``CLIENT_ERRORS``.

    Args:
        place: The server's address, for the message.
    """
    if isinstance(error, ResourceExhaustedResponse):
        return StoreUnavailable(
            f"{place} is over its rate limit", retry_after=float(error.retry_after_s)
        )
    if isinstance(error, UnexpectedResponse):
        return _refusal(place, error)
    if isinstance(error, ResponseHandlingException):
        return _broken(place, error.source)
    if isinstance(error, QdrantException):  # a Retry-After that is a date
        return StoreUnavailable(f"{place} is over its rate limit")
    return _broken(place, error)


def _broken(place: str, source: Exception) -> StoreError:
    if isinstance(source, httpx.TimeoutException):
        return StoreTimeout(f"{place} did not answer in time")
    if isinstance(source, httpx.ConnectError):
        return StoreUnavailable(f"nothing answers at {place}")
    if isinstance(source, httpx.DecodingError):
        return StoreCorrupt(f"{place} answered a body that can't be decoded")
    if isinstance(source, httpx.TransportError):
        return StoreUnavailable(f"{place} cut the connection")
    return StoreCorrupt(f"{place} answered what no Qdrant answers ({type(source).__name__})")


def _refusal(place: str, response: UnexpectedResponse) -> StoreError:
    status = response.status_code or 0
    said = f"{place} answered {status}: {_reason(response)}"
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return StoreRefused(f"{said}; the API key comes from A2M_STORE_SECRET or `secret_env`")
    if status == HTTPStatus.NOT_FOUND:
        return CollectionGone(said)
    if status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.GATEWAY_TIMEOUT):
        return StoreTimeout(said)
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return StoreUnavailable(said)
    if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return StoreRefused(said)
    return StoreCorrupt(said)


def _reason(response: UnexpectedResponse) -> str:
    """The server's own words, which speak of the request and hold no secret."""
    try:
        text = json.loads(response.content)["status"]["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        text = response.reason_phrase
    return str(text)[:_SHOWN]
