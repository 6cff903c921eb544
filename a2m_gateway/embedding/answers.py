"""What came out of a model or a service, checked before anyone compares with it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from a2m_gateway.errors import EmbedderError

__all__ = ["check_vectors"]


def check_vectors(
    vectors: Sequence[Sequence[float]], *, count: int, width: int | None, source: str
) -> int | None:
    """The width of ``vectors``, all of which are sound; ``width`` again where there are none.

    Args:
        count: How many texts were given.
        width: What was asked for or came before; None where this is the first answer.
        source: Who answered, for messages.

    Raises:
        EmbedderError: Another number of vectors, unequal widths, or what is no finite number.
    """
    if len(vectors) != count:
        raise EmbedderError(f"{source} answered {count} texts with {len(vectors)} vectors")
    for vector in vectors:
        if not vector:
            raise EmbedderError(f"{source} answered with an empty vector")
        if width is not None and len(vector) != width:
            raise EmbedderError(
                f"{source} answered with {len(vector)} components where {width} were expected"
            )
        if not all(map(math.isfinite, vector)):
            raise EmbedderError(f"{source} answered with a component that is no finite number")
        width = len(vector)
    return width
