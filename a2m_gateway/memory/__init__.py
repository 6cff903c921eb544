"""What A2M's methods mean, over a store."""

from a2m_gateway.memory.endpoint import Endpoint
from a2m_gateway.memory.limits import Limits
from a2m_gateway.memory.memory import Memory

__all__ = ["Endpoint", "Limits", "Memory"]
