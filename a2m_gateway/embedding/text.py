"""What any embedder can be given."""

from __future__ import annotations

from a2m_gateway.errors import InvalidParams
from a2m_gateway.store.text import is_text

__all__ = ["refuse_unencodable"]


def refuse_unencodable(text: str, field: str) -> None:
    """Raise InvalidParams, naming ``field``, for text that no tokeniser and no service can take."""
    if not is_text(text):
        raise InvalidParams(
            f"`{field}`: holds half of a surrogate pair, which is no Unicode text", field=field
        )
