"""LlamaIndex: a whole node as JSON text in ``_node_content``, whatever the store."""

from __future__ import annotations

from collections.abc import Mapping

from a2m_gateway.shapes.node import NODE, RESERVED, Node, read_node
from a2m_gateway.shapes.sample import DOCUMENT, Sample, SampleCount
from a2m_gateway.shapes.shape import NodeCopies, Shape
from a2m_gateway.shapes.writers.signature import Match
from a2m_gateway.store import JSON, CollectionInfo

__all__ = ["detect"]


def detect(sample: Sample, info: CollectionInfo) -> Match | None:
    pairs = [(row.fields, read_node(row.fields.get(NODE))) for row in sample.rows]
    nodes = [(fields, node) for fields, node in pairs if node is not None]
    if not nodes:
        return None
    copied = all(_is_copied(node, fields) for fields, node in nodes)
    text, in_node = _where_text_is(sample, [node for _, node in nodes])
    shape = Shape(
        name="_node_content",
        writer="LlamaIndex",
        text=text,
        node=(NODE,),
        node_copies=NodeCopies.COPIED if copied else NodeCopies.NODE_ONLY,
        text_in_node=in_node,
    )
    where = "in `_node_content`" if in_node else f"in `{text[0]}`"
    beside = (
        "every metadata key also lies beside the node, so the store can filter by it"
        if copied
        else "metadata lies in the node alone, or beside it in another form: "
        "filters are applied by the gateway"
    )
    return Match(
        shape,
        SampleCount(len(nodes), len(sample)),
        (f"the text is {where}; {beside}",),
    )


def _is_copied(node: Node, fields: Mapping[str, JSON]) -> bool:
    """Chroma has no null, so LlamaIndex writes an empty string for it there."""
    return all(
        name in fields
        and (
            (fields[name] == value and type(fields[name]) is type(value))
            or (value is None and fields[name] == "")
        )
        for name, value in node.metadata.items()
        if name not in RESERVED
    )


def _where_text_is(sample: Sample, nodes: list[Node]) -> tuple[tuple[str], bool]:
    if 2 * sum(bool(node.text) for node in nodes) >= len(nodes):
        return (NODE,), True
    if sample.field(DOCUMENT).is_text:
        return (DOCUMENT,), False
    # Milvus and Redis have a text column of their own; under Qdrant `text` is a metadata key.
    copied = any("text" in node.metadata for node in nodes)
    return (NODE,) if copied else ("text",), copied
