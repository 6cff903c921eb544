"""Layers: each takes a store and is a store."""

from a2m_gateway.layers.check import CheckLayer
from a2m_gateway.layers.connection import GuardedConnection, connected, guarded
from a2m_gateway.layers.deadline import DeadlineLayer
from a2m_gateway.layers.errors import ErrorsLayer
from a2m_gateway.layers.exact import ExactLayer
from a2m_gateway.layers.newest import CREATED_AT, NEWEST_FIRST
from a2m_gateway.layers.retry import RetryLayer

__all__ = [
    "CREATED_AT",
    "NEWEST_FIRST",
    "CheckLayer",
    "DeadlineLayer",
    "ErrorsLayer",
    "ExactLayer",
    "GuardedConnection",
    "RetryLayer",
    "connected",
    "guarded",
]
