"""Layers: each takes a store and is a store."""

from a2m_gateway.layers.check import CheckLayer
from a2m_gateway.layers.deadline import DeadlineLayer
from a2m_gateway.layers.errors import ErrorsLayer
from a2m_gateway.layers.exact import ExactLayer
from a2m_gateway.layers.newest import CREATED_AT, NEWEST_FIRST
from a2m_gateway.layers.retry import RetryLayer
from a2m_gateway.store import Store

__all__ = [
    "CREATED_AT",
    "NEWEST_FIRST",
    "CheckLayer",
    "DeadlineLayer",
    "ErrorsLayer",
    "ExactLayer",
    "RetryLayer",
    "guarded",
]


def guarded(store: Store, *, deadline: float) -> CheckLayer:
    """An adapter's store with everything around it that does not depend on the layout.

    Args:
        deadline: Seconds for one call, its retries included.
    """
    return CheckLayer(DeadlineLayer(RetryLayer(ErrorsLayer(store)), deadline))
