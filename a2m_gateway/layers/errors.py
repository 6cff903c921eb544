"""What no adapter may let through, caught all the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from a2m_gateway.errors import A2MError, StoreCorrupt, StoreTimeout
from a2m_gateway.layers.layer import AroundLayer

__all__ = ["ErrorsLayer"]

T = TypeVar("T")
log = structlog.get_logger(__name__)


class ErrorsLayer(AroundLayer):
    """Turns an exception that is none of ours into a ``StoreCorrupt``, and logs where it rose.

    Its text is not passed on: it may hold an address, a query or a secret.
    """

    async def around(self, call: Callable[[], Awaitable[T]]) -> T:
        try:
            return await call()
        except A2MError:
            raise
        except TimeoutError as error:
            raise StoreTimeout(f"{self.inner.profile.engine} did not answer in time") from error
        except Exception as error:
            engine = self.inner.profile.engine
            log.exception("store.unexpected_error", engine=engine)
            raise StoreCorrupt(
                f"{engine}: an unexpected {type(error).__name__}; the server's log has the details"
            ) from error
