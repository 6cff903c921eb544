"""The behaviour suite that every adapter runs, ours or not."""

from a2m_gateway.testing.sample import Loaded, sample_rows
from a2m_gateway.testing.store_behaviour import StoreBehaviour

__all__ = ["Loaded", "StoreBehaviour", "sample_rows"]
