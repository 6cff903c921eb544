"""From text to vectors, and whether they are a collection's own kind of vectors."""

from a2m_gateway.embedding.build import build
from a2m_gateway.embedding.choice import Choice, choose
from a2m_gateway.embedding.interface import Embedder
from a2m_gateway.embedding.matching import Certainty, Evidence, Fit, StoredPassage, assess
from a2m_gateway.embedding.settings import EmbedderSettings, embedder_settings

__all__ = [
    "Certainty",
    "Choice",
    "Embedder",
    "EmbedderSettings",
    "Evidence",
    "Fit",
    "StoredPassage",
    "assess",
    "build",
    "choose",
    "embedder_settings",
]
