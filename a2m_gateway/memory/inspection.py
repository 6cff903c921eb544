"""What ``inspect`` tells of an opened memory, as data."""

from __future__ import annotations

from a2m_gateway.capability import Feature, Support, ValueType
from a2m_gateway.memory.opening import Opened
from a2m_gateway.shapes.fields import format_field
from a2m_gateway.store import JSON, Path, StoreURL

__all__ = ["inspection"]

SAMPLES = 3


def inspection(url: StoreURL, opened: Opened) -> dict[str, object]:
    """Everything that was recognised and decided, with reasons. JSON values only."""
    profile = opened.memory.store.profile
    return {
        "store": str(url),
        "engine": profile.engine,
        "version": profile.version,
        "records": opened.info.count,
        "layout": _layout(opened),
        "vectors": [
            {
                "name": vector.name,
                "searched": vector is opened.vector,
                "kind": vector.kind,
                "dimensions": vector.width,
                "metric": vector.metric,
                "engine_metric": vector.engine_metric,
                "model": vector.model,
            }
            for vector in opened.info.vectors
        ],
        "metrics": sorted(profile.metrics),
        "ranking": _ranking(opened),
        "capabilities": [
            {"capability": one.capability, "declared": one.declared, "reason": one.reason}
            for one in opened.memory.verdicts
        ],
        "read_only": True,
        "timeline": _claim(opened, Feature.CREATION_ORDER),
        "filters": {
            "compared": _claim(opened, Feature.EXACT_FILTER),
            "pushed_down": {kind: profile.pushdown(kind) for kind in ValueType},
        },
        "limits": opened.memory.limits,
        "consistency": profile.consistency,
        "durability": profile.durability,
        "notes": _notes(opened),
        "sample": [{"id": row.id, **row.fields} for row in opened.sample[:SAMPLES]],
    }


def _notes(opened: Opened) -> list[str]:
    """What the database and the layout have to say, each once."""
    said = {*opened.recognition.evidence, opened.recognition.times}
    notes = dict.fromkeys([*opened.info.notes, *opened.memory.store.profile.notes])
    return [note for note in notes if note not in said]


def _layout(opened: Opened) -> dict[str, object]:
    recognition = opened.recognition
    shape = recognition.shape
    return {
        "name": shape.name,
        "writer": shape.writer,
        "confidence": recognition.confidence,
        "text_field": _field(shape.text),
        "metadata_field": _field(shape.metadata),
        "id_field": _field(shape.id),
        "created_at_field": _field(shape.created_at),
        "vector_name": shape.vector_name,
        "times_known": recognition.times_known,
        "times": recognition.times,
        "evidence": [one for one in recognition.evidence if one != recognition.times],
        "candidates": [
            {
                "option": candidate.option,
                "field": _field(candidate.path),
                "what": candidate.what,
                "samples": list(candidate.samples),
            }
            for candidate in recognition.candidates
        ],
    }


def _ranking(opened: Opened) -> dict[str, object]:
    claim = opened.memory.store.profile.claim(Feature.TEXT_SEARCH)
    return {
        "embedder": opened.embedder.model if opened.embedder else None,
        "embedder_remote": opened.embedder.remote if opened.embedder else None,
        "embedder_reason": opened.fit.reason,
        "words_weight": opened.words_weight,
        "words_left_out": opened.words_reason,
        "words": claim.support,
        "words_reason": claim.reason,
    }


def _claim(opened: Opened, feature: Feature) -> dict[str, JSON]:
    claim = opened.memory.store.profile.claim(feature)
    native = claim.support is Support.NATIVE
    return {"native": native, "reason": claim.reason, "cost": claim.loss}


def _field(path: Path | None) -> str | None:
    return None if path is None else format_field(path)
