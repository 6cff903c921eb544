"""Open WebUI: ``text`` and ``metadata`` (Chroma: document and flat), several tenants in one place.

Lists and objects in its metadata are the text that Python prints for them. Its memories carry
nothing but the seconds they were written at.
"""

from __future__ import annotations

from collections.abc import Mapping

from a2m_gateway.shapes.fields import EVERYTHING
from a2m_gateway.shapes.python_repr import from_python_repr
from a2m_gateway.shapes.sample import DOCUMENT, Sample
from a2m_gateway.shapes.shape import Decoding, Shape
from a2m_gateway.shapes.times import TimeKind, read_time
from a2m_gateway.shapes.writers.signature import Match, is_nested
from a2m_gateway.store import JSON, CollectionInfo, Row

__all__ = ["detect"]

_MARKS = ("file_id", "created_by", "hash", "name", "start_index")
_MEMORY = {"created_at", "updated_at"}


def detect(sample: Sample, info: CollectionInfo) -> Match | None:
    documents = sample.count(lambda row: _is_document(_metadata(row)))
    # Chroma's own records may carry one time and nothing else too: there the name must agree.
    named = "user-memory" in info.name or "memories" in info.name
    memories = sample.count(
        lambda row: (named or "text" in row.fields) and _is_memory(_metadata(row))
    )
    count = max(documents, memories, key=lambda found: found.agreeing)
    if not count.agreeing:
        return None
    chroma = "text" not in sample.top
    metadata = EVERYTHING if chroma else ("metadata",)
    shape = Shape(
        name="document, flat" if chroma else "text + metadata",
        writer="Open WebUI",
        text=(DOCUMENT,) if chroma else ("text",),
        metadata=metadata,
        created_at=None if count is documents else (*metadata, "created_at"),
        decoding=Decoding.PYTHON_REPR,
    )
    evidence = (
        "metadata names the embedding model, or the file and who added it"
        if count is documents
        else "metadata is `created_at` in seconds, as memories have it"
    )
    tenant = ("tenant_id",) if "tenant_id" in sample.top else None
    return Match(shape, count, (evidence,), tenant, _model(sample))


def _metadata(row: Row) -> Mapping[str, JSON]:
    if is_nested(row, "text", "metadata", beside=("tenant_id",)):
        inner = row.fields.get("metadata")
        return inner if isinstance(inner, Mapping) else {}
    if isinstance(row.fields.get(DOCUMENT), str):
        return {name: value for name, value in row.fields.items() if name != DOCUMENT}
    return {}


def _is_document(metadata: Mapping[str, JSON]) -> bool:
    if _model_of(metadata) is not None:
        return True
    return sum(metadata.get(name) is not None for name in _MARKS) >= 4


def _is_memory(metadata: Mapping[str, JSON]) -> bool:
    if "created_at" not in metadata or not metadata.keys() <= _MEMORY:
        return False
    moments = [read_time(value) for value in metadata.values()]
    return all(one is not None and one.numeric and one.kind is TimeKind.SECONDS for one in moments)


def _model_of(metadata: Mapping[str, JSON]) -> str | None:
    config = metadata.get("embedding_config")
    read = from_python_repr(config) if isinstance(config, str) else config
    model = read.get("model") if isinstance(read, Mapping) else None
    return model if isinstance(model, str) and model else None


def _model(sample: Sample) -> str | None:
    """The one model that all records name; of several none can be the collection's."""
    models = {_model_of(_metadata(row)) for row in sample.rows} - {None}
    return models.pop() if len(models) == 1 else None
