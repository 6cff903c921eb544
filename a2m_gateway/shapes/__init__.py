"""Recognising and reading the layouts of others (design, "Layouts").

``open_shaped`` samples a collection, recognises how its records are laid out, and opens it as a
store of canonical rows. What is not certain is refused, naming the options that settle it.
"""

from a2m_gateway.shapes.bookkeeping import bookkeeping
from a2m_gateway.shapes.opening import open_shaped, take_sample
from a2m_gateway.shapes.options import LayoutOptions
from a2m_gateway.shapes.recognise import recognise
from a2m_gateway.shapes.shape import Candidate, Decoding, NodeCopies, Recognition, Shape, Tenant
from a2m_gateway.shapes.store import Clock, ShapedStore, utc_now

__all__ = [
    "Candidate",
    "Clock",
    "Decoding",
    "LayoutOptions",
    "NodeCopies",
    "Recognition",
    "Shape",
    "ShapedStore",
    "Tenant",
    "bookkeeping",
    "open_shaped",
    "recognise",
    "take_sample",
    "utc_now",
]
