"""What a store can do, as data, and what that lets a server declare."""

from a2m_gateway.capability.metrics import Metric, score
from a2m_gateway.capability.profile import (
    Claim,
    Feature,
    Ordering,
    Profile,
    Pushdown,
    StoreLimits,
    Support,
    ValueType,
)
from a2m_gateway.capability.table import Verdict, verdicts

__all__ = [
    "Claim",
    "Feature",
    "Metric",
    "Ordering",
    "Profile",
    "Pushdown",
    "StoreLimits",
    "Support",
    "ValueType",
    "Verdict",
    "score",
    "verdicts",
]
