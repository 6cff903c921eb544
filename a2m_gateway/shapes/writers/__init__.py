"""The writers whose layouts are known, most specific first.

A writer is a file with a detector (``signature.Detector``) and its place in ``DETECTORS``. What
proves itself (a node that parses, a hash that fits, an id that follows) comes before what has
telling names, and that before what could be anyone's.
"""

from __future__ import annotations

from a2m_gateway.shapes.writers import (
    agno,
    anything_llm,
    chroma,
    generic,
    haystack,
    langchain,
    llama_index,
    mem0,
    open_webui,
    qdrant_client,
    spring_ai,
)
from a2m_gateway.shapes.writers.signature import Detector, Doubt, Match

__all__ = ["DETECTORS", "Detector", "Doubt", "Match"]

DETECTORS: tuple[Detector, ...] = (
    llama_index.detect,
    mem0.detect,
    haystack.detect,
    open_webui.detect,
    agno.detect,
    langchain.detect_python,
    langchain.detect_javascript,
    qdrant_client.detect_mcp_server,
    qdrant_client.detect_add,
    spring_ai.detect,
    anything_llm.detect,
    chroma.detect,
    generic.detect,
)
